"""Breakpoints and bookmarks of a session in the database. Synchronous; web/loop.py runs them in threads of their own."""

import secrets
import zlib
from datetime import timedelta
from typing import TypedDict

import msgspec
from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _
from msgspec import convert, to_builtins

from playground.models import Bookmark, Breakpoint, ImportPreview, Session
from playground.presenters.words import message
from playground.sessions.database.asking import repeatable
from playground.sessions.protocol.breakpoints import Breakpoint as Point
from playground.sessions.protocol.errors import CommandRefused, LimitReached, SessionError
from playground.sessions.protocol.moving import ImportPlan, PackedPlan

NAME_LENGTH = 80


@repeatable
def points(session_id: int) -> list[tuple[Point, int]]:
    """Return the session's breakpoints and watches in the order of their creation, each with its number of hits."""
    rows = Breakpoint.objects.filter(session_id=session_id)
    return [(convert({**row.point, "id": row.pk, "enabled": row.enabled}, Point), row.hits) for row in rows]


@repeatable
def stopping(session_id: int, only: int | None = None) -> list[Point]:
    """Return the breakpoints that end a run or a search: those enabled, or the one with number `only`. Raise SessionError if none."""
    breakpoints = [point for point, _hits in points(session_id)]
    if only is not None:
        breakpoints = [point for point in breakpoints if point.id == only]
        if not breakpoints:
            raise SessionError(_("This breakpoint no longer exists."))
        if breakpoints[0].watch and not breakpoints[0].changes:
            raise SessionError(_("This watch only marks steps. To stop where its value changes, turn on stopping."))
        return breakpoints
    breakpoints = [point for point in breakpoints if point.stops]
    if not breakpoints:
        raise SessionError(_("No breakpoint is set, or all are off. Set one under Breakpoints."))
    return breakpoints


@transaction.atomic
def add(session_id: int, point: Point) -> int:
    """Add a breakpoint and return its number. Raise LimitReached if the session has the maximum."""
    most = settings.MAX_BREAKPOINTS
    if Breakpoint.objects.filter(session_id=session_id).count() >= most:
        raise LimitReached(_("This session already has %(most)d breakpoints, which is the limit.") % {"most": most})
    kept = {name: value for name, value in to_builtins(point).items() if name not in ("id", "enabled")}
    return int(Breakpoint.objects.create(session_id=session_id, point=kept, enabled=point.enabled).pk)


def change(session_id: int, number: int, enabled: bool | None) -> None:
    """Enable or disable a breakpoint; if `enabled` is None, delete it. Raise SessionError if it does not exist."""
    rows = Breakpoint.objects.filter(session_id=session_id, pk=number)
    done = rows.delete()[0] if enabled is None else rows.update(enabled=enabled)
    if not done:
        raise SessionError(_("This breakpoint no longer exists."))


def hit(session_id: int, number: int) -> None:
    """Count a hit of a breakpoint that ended a run or a search."""
    Breakpoint.objects.filter(session_id=session_id, pk=number).update(hits=F("hits") + 1)


class KeptBookmark(TypedDict):
    """A bookmark, as pages show it."""

    id: int
    name: str
    position: int


@repeatable
def bookmarks(session_id: int) -> list[KeptBookmark]:
    """Return the bookmarks in the order of their positions."""
    return list(Bookmark.objects.filter(session_id=session_id).values("id", "name", "position"))


@transaction.atomic
def bookmark(session_id: int, position: int, name: str) -> int:
    """Add a bookmark and return its number; without a name it is named after its step. Raise LimitReached."""
    most = settings.MAX_BOOKMARKS
    if Bookmark.objects.filter(session_id=session_id).count() >= most:
        raise LimitReached(_("This session already has %(most)d bookmarks, which is the limit.") % {"most": most})
    named = _clean_name(name) or _("step %(position)d") % {"position": position}
    return int(Bookmark.objects.create(session_id=session_id, position=position, name=named).pk)


def rename(session_id: int, number: int, name: str | None) -> None:
    """Rename a bookmark; if `name` is None, delete it. Raise SessionError for an empty name, or if it does not exist."""
    rows = Bookmark.objects.filter(session_id=session_id, pk=number)
    if name is not None and not _clean_name(name):
        raise SessionError(_("The name of a bookmark must have 1 to %(most)d characters.") % {"most": NAME_LENGTH})
    done = rows.delete()[0] if name is None else rows.update(name=_clean_name(name))
    if not done:
        raise SessionError(_("This bookmark no longer exists."))


def _clean_name(name: str) -> str:
    """Return a name in one line, without NUL characters, which not every database accepts."""
    return " ".join(name.split())[:NAME_LENGTH]


def copy(origin: int, target: Session, at: int) -> None:
    """Copy to a fork all breakpoints, and the bookmarks of the past that it shares."""
    rows = Breakpoint.objects.filter(session_id=origin)
    Breakpoint.objects.bulk_create(Breakpoint(session=target, point=row.point, enabled=row.enabled) for row in rows)
    marks = Bookmark.objects.filter(session_id=origin, position__lte=at)
    Bookmark.objects.bulk_create(Bookmark(session=target, name=row.name, position=row.position) for row in marks)


# The maximum of previews of one author in a session, and of all authors: the oldest are deleted.
OF_AN_AUTHOR = 4
OF_A_SESSION = 40
DAYS = 1

_plans = msgspec.msgpack.Decoder(ImportPlan)


def keep(session_id: int, author: str, filename: str, plan: ImportPlan) -> str:
    """Store a preview and return its token. Former names are not stored, and neither is a file name that may contain one."""
    shown = msgspec.structs.replace(plan, command=b"", kept=b"", names=[])
    packed = PackedPlan(
        zlib.compress(msgspec.msgpack.encode(shown), 1),
        zlib.compress(plan.command, 1),
        zlib.compress(plan.kept, 1),
        len(plan.command),
        plan.accepted,
    )
    return keep_packed(session_id, author, "" if plan.renamed else filename, packed)


@transaction.atomic
def keep_packed(session_id: int, author: str, filename: str, packed: PackedPlan, token: str | None = None) -> str:
    """Store a preview that is already compressed, and return its token."""
    token = token or secrets.token_urlsafe(12)
    ImportPreview.objects.create(
        session_id=session_id,
        token=token,
        author=author,
        filename=filename[:200],
        text=packed.text,
        plan=packed.plan,
        command=packed.command,
    )
    kept = ImportPreview.objects.filter(session_id=session_id).order_by("-pk")
    for rows, most in ((kept.filter(author=author), OF_AN_AUTHOR), (kept, OF_A_SESSION)):
        ImportPreview.objects.filter(pk__in=list(rows.values_list("pk", flat=True)[most:])).delete()
    return token


def plan(session_id: int, token: str) -> ImportPlan:
    """Return the plan of the import, for display."""
    return _plans.decode(zlib.decompress(bytes(_find(session_id, token, "plan").plan)))


def command(session_id: int, token: str) -> bytes:
    """Return the command that applies all accepted objects."""
    data = get_packed_command(session_id, token)
    return require_command(zlib.decompress(data) if data else b"")


def get_packed_command(session_id: int, token: str) -> bytes:
    """Return the command that applies all accepted objects, compressed; b"" if no object was accepted."""
    return bytes(_find(session_id, token, "command").command)


def require_command(data: bytes) -> bytes:
    """Return the command. Raise CommandRefused if no object was accepted."""
    if not data:
        raise CommandRefused(message("This import would change nothing."))
    return data


def text(session_id: int, token: str) -> bytes:
    """Return the text of the import, to preview it at another position."""
    return zlib.decompress(bytes(_find(session_id, token, "text").text))


@repeatable
def _find(session_id: int, token: str, column: str) -> ImportPreview:
    wanted = token.replace("\0", " ")  # not every database accepts NUL
    preview = ImportPreview.objects.filter(session_id=session_id, token=wanted).only(column).first()
    if preview is None:
        raise SessionError(message("This preview has expired. Paste or upload the text again."))
    return preview


def drop(session_id: int, token: str) -> None:
    """Delete a preview that was applied."""
    ImportPreview.objects.filter(session_id=session_id, token=token).delete()


def drop_old() -> int:
    """Delete previews older than DAYS days; return the number of deleted rows."""
    return ImportPreview.objects.filter(created__lt=timezone.now() - timedelta(days=DAYS)).delete()[0]
