"""Previews of imports: the text, what it would do and the command that does it, kept until it is applied. Runs in database threads.

This is the only place where a preview is: another process, or a restarted one, may be asked to show or to apply it.
"""

import secrets
import zlib
from datetime import timedelta

import msgspec
from django.db import transaction
from django.utils import timezone

from playground.models import ImportPreview
from playground.presenters.words import gettext_noop, message
from playground.sessions.database.asking import repeatable
from playground.sessions.protocol.errors import CommandRefused, SessionError
from playground.sessions.protocol.moving import ImportPlan, PackedPlan

# Of one author in one session, and of all: the oldest go.
OF_AN_AUTHOR = 4
OF_A_SESSION = 40
DAYS = 1

_plans = msgspec.msgpack.Decoder(ImportPlan)


def keep(session_id: int, author: str, filename: str, plan: ImportPlan) -> str:
    """Keep a preview; its token. Former names are not kept, and a file's name may be one."""
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
    """Keep a preview that came packed."""
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
    """The same, compressed; b"" where nothing was accepted."""
    return bytes(_find(session_id, token, "command").command)


def require_command(data: bytes) -> bytes:
    """Raises CommandRefused where nothing was accepted."""
    if not data:
        raise CommandRefused(message(gettext_noop("This import would change nothing.")))
    return data


def text(session_id: int, token: str) -> bytes:
    """The text itself, to be looked at somewhere else."""
    return zlib.decompress(bytes(_find(session_id, token, "text").text))


@repeatable
def _find(session_id: int, token: str, column: str) -> ImportPreview:
    wanted = token.replace("\0", " ")  # not every database takes that character
    preview = ImportPreview.objects.filter(session_id=session_id, token=wanted).only(column).first()
    if preview is None:
        raise SessionError(message(gettext_noop("This preview has expired. Paste or upload the text again.")))
    return preview


def drop(session_id: int, token: str) -> None:
    """It was applied."""
    ImportPreview.objects.filter(session_id=session_id, token=token).delete()


def drop_old() -> int:
    """Delete previews older than DAYS days; return the number of deleted rows."""
    old = ImportPreview.objects.filter(created__lt=timezone.now() - timedelta(days=DAYS))
    return old.delete()[0]
