"""The log in the database. Every change is a compare-and-set on (log_seq, head): of two writers one wins, the other gets Conflict.

All functions are synchronous; web/loop.py runs them in threads of their own.
"""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

import orjson
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from playground.models import LogEntry, Session
from playground.presenters.words import gettext_noop, message
from playground.sessions.database import branches, checkpoints, links, markers
from playground.sessions.database.asking import repeatable
from playground.sessions.protocol.base import Data
from playground.sessions.protocol.comparing import RerunResult, TraceChecked, TracedCommand
from playground.sessions.protocol.errors import Conflict, LimitReached, SessionGone, TooOften
from playground.sessions.protocol.opening import LogRow, RowKind
from scheduler_core import ENGINE_VERSION
from scheduler_core.formats.export import EDITION, LAST_WITH_OLDER

UNDRIVEN: Data = {"driver": "", "driver_until": None, "drive": None}
# Raw SQL for each step: the ORM takes four times as long to build a statement as the database to execute it.
MOVE_END = """UPDATE playground_session SET log_seq = %s, head = %s, log_bytes = log_bytes + %s, used = %s
    WHERE id = %s AND log_seq = %s AND head = %s AND deleted IS NULL"""
MOVE_HEAD = """UPDATE playground_session SET head = %s, used = %s
    WHERE id = %s AND log_seq = %s AND head = %s AND deleted IS NULL"""
GIVE_BACK = """UPDATE playground_session SET driver = '', driver_until = NULL, drive = NULL
    WHERE id = %s AND driver = %s"""
REACH = """UPDATE playground_logentry SET "to" = %s WHERE session_id = %s AND seq = %s"""
INSERT = """INSERT INTO playground_logentry (session_id, seq, kind, at, "to", payload, size, created)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"""
FIRST = gettext_noop("Another change was applied to this session first. Try again.")


@dataclass(frozen=True)
class SessionStatus:
    """A session's head, the process that holds the lease to drive it, and whether the lease is valid."""

    head: int
    driver: str
    driven: bool

    @property
    def orphaned(self) -> bool:
        """True if the driving process neither renewed nor released its lease: it is gone."""
        return bool(self.driver) and not self.driven


def pack(payload: Any) -> bytes:
    """Return a payload in its stored form: JSON, compressed with zlib."""
    return zlib.compress(orjson.dumps(payload), 1)


def size_of(payload: bytes) -> int:
    """Return the length of a stored payload's JSON in bytes."""
    return len(zlib.decompress(payload))


def unpack(payload: bytes | memoryview) -> Any:
    """Return the payload of its stored form."""
    return orjson.loads(zlib.decompress(payload))


# No lease ends later than this, even with clock skew: one that does was acquired before the clock was set back.
FARTHEST = timedelta(minutes=1)


@repeatable
def find(key: str) -> Session:
    """Return the session that a key opens: its own key or a valid view link. Raise SessionGone, or LinkEnded for an ended link."""
    sessions = Session.objects.select_related("origin")
    session = sessions.filter(Q(edit_key=key) | Q(view_key=key), deleted=None).first()
    if session is None and (link := links.find(key)) is not None:
        session = link.session
    if session is None:
        raise SessionGone(message("No session has this link. It may have been deleted, or the link is incomplete."))
    if session.edition < EDITION:
        raise SessionGone(
            message(
                "This session was created before version 0.5, and this version cannot replay it. The session is "
                "kept. You can open it with Scheduler Playground %(version)s.",
                version=LAST_WITH_OLDER,
            )
        )
    return session


def create(name: str, story: str, creator: str, seed: int = 0) -> Session:
    """Create an empty session and return it. Raise LimitReached or TooOften if its creator exceeds a limit."""
    creator = _hidden(creator)
    _require_room(creator)
    return Session.objects.create(name=name, story=story, creator=creator, seed=seed, engine_version=ENGINE_VERSION)


def _hidden(creator: str) -> str:
    """Return a client's address as a keyed hash: its sessions can be counted, but the client cannot be identified."""
    return salted_hmac("playground.creator", creator).hexdigest() if creator else ""


def _require_room(creator: str) -> None:
    """Raise TooOften if a client creates sessions too fast, LimitReached if it has too many live ones.

    Idle sessions do not count, so that others behind the same address are not affected.
    """
    if not creator:
        return
    now, made = timezone.now(), Session.objects.filter(creator=creator)
    most = settings.MAX_SESSIONS_PER_MINUTE
    if made.filter(created__gt=now - timedelta(minutes=1)).count() >= most:
        raise TooOften(
            message(
                "You created %(most)s sessions within a minute, which is the limit. Try again in a minute.",
                most=f"{most:,}",
            )
        )
    most, live = settings.MAX_SESSIONS_PER_CLIENT, timedelta(seconds=settings.ENGINE_IDLE_SECONDS)
    if made.filter(deleted=None, used__gt=now - live).count() >= most:
        raise LimitReached(
            message(
                "You are using %(most)s sessions at the same time, which is the limit. Try again in a few minutes, "
                "or delete sessions that you no longer need.",
                most=f"{most:,}",
            )
        )


@repeatable
def delete(session_id: int) -> None:
    """Close a session for good: its links no longer open it. `cleanup_sessions` removes the rows."""
    Session.objects.filter(pk=session_id).update(deleted=timezone.now(), **UNDRIVEN)
    checkpoints.drop(session_id)


@repeatable
def read(session_id: int, after: int = 0) -> tuple[Session, list[LogRow]]:
    """Return the session and its entries from number `after` on, including that one: it may have grown.

    Writes during the call are left out, so no transaction is needed, which would wait for a writer of SQLite. Raise SessionGone.
    """
    session = Session.objects.filter(pk=session_id, deleted=None).first()
    if session is None:
        raise SessionGone(message("This session was deleted."))
    last, head = session.log_seq, session.head
    entries = LogEntry.objects.filter(session_id=session_id, seq__range=(after, last)).order_by("seq")
    rows = [
        # The last entry may have grown since the session was read: it is cut at the head that was read.
        LogRow(entry.seq, cast(RowKind, entry.kind), entry.at, min(entry.to, head), bytes(entry.payload), entry.size)
        for entry in entries
    ]
    return session, rows


def append(session_id: int, *rows: LogRow, last_of: str = "") -> None:
    """Write the next entries and move the head; `last_of` is the holder that releases its lease with the last entry of its drive.

    Raise Conflict if another entry was written first.
    """
    _append([_entry(session_id, row, row.to) for row in rows], last_of)


@repeatable
def _append(entries: Sequence[LogEntry], last_of: str = "") -> None:
    """Write the next entries and move the head, once only, even if the connection broke meanwhile and the call is repeated."""
    first, last, size = entries[0], entries[-1], sum(entry.size for entry in entries)
    session, now = first.session_id, timezone.now()
    try:
        with transaction.atomic():
            # The compare-and-set comes first: a writer that loses it has not written an entry.
            changed = _execute_update(MOVE_END, last.seq, last.to, size, _moment(now), session, first.seq - 1, first.at)
            if not changed and not _is_written(first):
                raise Conflict(message(FIRST))
            if changed:
                for entry in entries:
                    entry.created = now
                rows = ([session, e.seq, e.kind, e.at, e.to, e.payload, e.size, _moment(now)] for e in entries)
                with connection.cursor() as cursor:
                    cursor.executemany(INSERT, list[Any](rows))
            if last_of:
                _execute_update(GIVE_BACK, session, last_of)
    except IntegrityError as error:
        raise Conflict(message(FIRST)) from error


def _is_written(entry: LogEntry) -> bool:
    """Return whether an earlier try without a reported end wrote this very entry; `created` is unique to a try."""
    made = entry.created
    return (
        made is not None
        and LogEntry.objects.filter(
            session_id=entry.session_id, seq=entry.seq, created=made, payload=entry.payload
        ).exists()
    )


@repeatable
@transaction.atomic
def advance(session_id: int, seq: int, head: int, to: int, last_of: str = "") -> None:
    """Extend the last entry, a play or a run, to position `to`; `last_of` is the holder that releases its lease with it. Raise Conflict."""
    changed = _execute_update(MOVE_HEAD, to, _moment(timezone.now()), session_id, seq, head)
    if not changed and not Session.objects.filter(pk=session_id, log_seq=seq, head=to, deleted=None).exists():
        raise Conflict(message(FIRST))
    _execute_update(REACH, to, session_id, seq)
    if last_of:
        _execute_update(GIVE_BACK, session_id, last_of)


def _execute_update(statement: str, *values: Any) -> int:
    """Execute a statement and return the number of changed rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)


def _moment(when: datetime) -> Any:
    """Return a time in the form that the database expects."""
    return connection.ops.adapt_datetimefield_value(when)


@transaction.atomic
def copy(session_id: int, at: int, name: str, creator: str, branch: bool = False, traced: bool = True) -> Session:
    """Create a session with the same past up to a position; `branch` adds it to its origin's family (branches.py).

    Unless `traced`, the copy has no link to its origin. Raise LimitReached or TooOften.
    """
    origin, rows = read(session_id)
    creator = _hidden(creator) or origin.creator
    _require_room(creator)
    kept = list(_until(rows, at))
    session = Session.objects.create(
        name=name or branches.next_name(origin),
        seed=origin.seed,
        story=origin.story,
        engine_version=origin.engine_version,
        creator=creator,
        origin=origin if traced else None,
        origin_position=at if traced else None,
        branch=branch,
        task=origin.task and at >= (origin.origin_position or 0),
        head=at,
        log_seq=len(kept),
        log_bytes=sum(row.size for row in kept),
    )
    LogEntry.objects.bulk_create(_entry(session.pk, row, min(row.to, at)) for row in kept)
    markers.copy(session_id, session, at)
    return session


@transaction.atomic
def restore(name: str, creator: str, found: TraceChecked, story: str = "") -> Session:
    """Create a session with the history of an imported trace; between two commands the engine ran."""
    rows: list[LogRow] = []
    head = found.head
    # The last item only marks the head, so that the run after the last command is written like a run between two commands.
    for command in [*found.commands, TracedCommand(head, b"")]:
        done, at = rows[-1].to if rows else 0, command.at
        if at > done:
            rows.append(LogRow(len(rows) + 1, "run", done, at, pack({"source": "trace"})))
        if at < head:
            size = size_of(command.payload)
            rows.append(LogRow(len(rows) + 1, "command", at, at + 1, command.payload, size))
    session = create(name, story, creator, found.seed)
    Session.objects.filter(pk=session.pk).update(head=head, log_seq=len(rows), log_bytes=sum(row.size for row in rows))
    LogEntry.objects.bulk_create(_entry(session.pk, row, row.to) for row in rows)
    return session


@transaction.atomic
def rerun(origin: int, result: RerunResult, name: str, creator: str, seed: int | None = None) -> Session:
    """Create a branch with the history that a re-run made; with another `seed` the re-run starts at the first step."""
    session = copy(origin, result.first, name, creator, True)
    if seed is not None:
        session.seed = seed
    _, rows = read(origin)
    commands = {row.at: row for row in rows if row.kind == "command" and row.at >= result.first}
    written: list[LogRow] = []
    done = result.first

    def add(kind: RowKind, to: int, payload: bytes, size: int = 0) -> None:
        nonlocal done
        written.append(LogRow(session.log_seq + len(written) + 1, kind, done, to, payload, size))
        done = to

    for old, new in result.kept:
        if new > done:
            add("run", new, pack({"source": "rerun"}))
        add("command", new + 1, commands[old].payload, commands[old].size)
    if result.head > done:
        add("run", result.head, pack({"source": "rerun"}))
    LogEntry.objects.bulk_create(_entry(session.pk, row, row.to) for row in written)
    Session.objects.filter(pk=session.pk).update(
        seed=session.seed,
        head=done,
        log_seq=session.log_seq + len(written),
        log_bytes=session.log_bytes + sum(row.size for row in written),
    )
    session.refresh_from_db()
    return session


def _entry(session_id: int, row: LogRow, to: int) -> LogEntry:
    return LogEntry(
        session_id=session_id, seq=row.seq, kind=row.kind, at=row.at, to=to, payload=row.payload, size=row.size
    )


def _until(rows: Iterable[LogRow], at: int) -> Iterable[LogRow]:
    for row in rows:
        if row.at < at:
            yield row


@repeatable
def lease(session_id: int, holder: str, seconds: float, drive: Data | None = None) -> bool:
    """Acquire the lease to drive a session, and record the drive. Return False while another process holds it."""
    now = timezone.now()
    over = Q(driver_until__lt=now) | Q(driver_until=None) | Q(driver_until__gt=now + FARTHEST)
    free = Q(driver="") | Q(driver=holder) | over
    return bool(
        Session.objects.filter(free, pk=session_id, deleted=None).update(
            driver=holder, driver_until=now + timedelta(seconds=seconds), drive=drive
        )
    )


@repeatable
def renew(session_id: int, holder: str, seconds: float) -> bool:
    """Renew the lease. Return False if another process took it."""
    until = timezone.now() + timedelta(seconds=seconds)
    # An expired lease is renewed, too: a late holder continues unless another process has acquired the lease.
    ours = Session.objects.filter(pk=session_id, driver=holder, deleted=None)
    return bool(ours.update(driver_until=until))


@repeatable
def release(session_id: int, holder: str = "") -> None:
    """Release the lease; without a holder, revoke it from any process."""
    whose = {"driver": holder} if holder else {}
    Session.objects.filter(pk=session_id, **whose).update(**UNDRIVEN)


@repeatable
def standings(session_ids: list[int]) -> dict[int, SessionStatus]:
    """Return the status of each session that exists."""
    now = timezone.now()
    rows = Session.objects.filter(pk__in=session_ids, deleted=None)
    return {
        pk: SessionStatus(head, driver, bool(driver) and until is not None and now < until <= now + FARTHEST)
        for pk, head, driver, until in rows.values_list("pk", "head", "driver", "driver_until")
    }


@repeatable
def drive(session_id: int) -> Data | None:
    """Return the drive that the holder of the session's lease recorded; None if there is no holder."""
    found: Data | None = Session.objects.filter(pk=session_id).values_list("drive", flat=True).first()
    return found


@repeatable
def touch(session_id: int) -> None:
    """Record that the session is in use."""
    Session.objects.filter(pk=session_id).update(used=timezone.now())
