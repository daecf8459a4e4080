"""Checkpoints in the database, and the outcomes of attempts. Both are optional: without them, a session is replayed.

All functions are synchronous; web/loop.py runs them in threads of their own.
"""

import msgspec
from django.db import IntegrityError, transaction
from msgspec import Struct

from playground.models import Checkpoint, CheckpointPart, Outcomes, Session
from playground.sessions.database.asking import repeatable
from playground.sessions.protocol import opening
from playground.sessions.protocol.errors import Conflict
from scheduler_core import ENGINE_VERSION
from scheduler_core.world.checkpoint import fingerprint

# A row of outcomes is rewritten with new outcomes until it has this many.
OUTCOMES_IN_A_ROW = 2_000


class SavedState(Struct, frozen=True):
    """The data that a worker gets to open a session: checkpoints, outcomes of attempts (opening.pack), and the number of these."""

    archive: opening.Archive = opening.Archive()
    outcomes: list[bytes] = []
    outcomes_saved: int = 0


class CopiedCheckpoints(Struct, frozen=True):
    """The checkpoints that a fork has from its origin: their positions, with the first parts of an archive."""

    volume: str
    parts: int
    positions: list[int]
    outcomes_saved: int


@repeatable
def read(session_id: int) -> SavedState:
    """Return the checkpoints of this engine version, and the outcomes of attempts, to compare with those of a replay."""
    rows = list(Checkpoint.objects.filter(session_id=session_id, fingerprint=fingerprint()))
    archive = opening.Archive()
    if rows:
        volume = rows[0].volume
        parts = CheckpointPart.objects.filter(session_id=session_id, volume=volume).order_by("number")
        archive = opening.Archive(volume, [bytes(part.data) for part in parts], [_travelling(row) for row in rows])
    kept = Outcomes.objects.filter(session_id=session_id).order_by("first")
    return SavedState(archive, [bytes(row.data) for row in kept], outcomes_saved(session_id))


def _travelling(row: Checkpoint) -> opening.Checkpoint:
    return opening.Checkpoint(row.position, row.work, row.parts, row.digest, row.fingerprint, bytes(row.data))


def outcomes_saved(session_id: int) -> int:
    """Return the number of attempts with saved outcomes."""
    last = Outcomes.objects.filter(session_id=session_id).order_by("-first").first()
    return 0 if last is None else last.first + last.count


@transaction.atomic
def write(session_id: int, saved: opening.SavedData) -> None:
    """Store the data that a worker saved. Raise Conflict if another process has written other data meanwhile."""
    if not Session.objects.select_for_update().filter(pk=session_id, deleted=None).exists():
        return
    try:
        with transaction.atomic():
            if saved.outcomes is not None:
                _write_outcomes(session_id, saved.outcomes)
            if saved.checkpoints is not None:
                new = saved.checkpoints
                for rows in (Checkpoint, CheckpointPart):
                    rows.objects.filter(session_id=session_id).exclude(volume=new.volume).delete()
                if new.part is not None:
                    CheckpointPart.objects.create(
                        session_id=session_id, volume=new.volume, number=new.part.number, data=new.part.data
                    )
                Checkpoint.objects.filter(session_id=session_id, position__in=new.dropped).delete()
                Checkpoint.objects.bulk_create(
                    Checkpoint(session_id=session_id, volume=new.volume, **msgspec.structs.asdict(checkpoint))
                    for checkpoint in new.checkpoints
                )
    except IntegrityError as error:
        raise Conflict("Another process has written checkpoints of this session.") from error


def _write_outcomes(session_id: int, new: opening.NewOutcomes) -> None:
    if new.first == 0:
        Outcomes.objects.filter(session_id=session_id).delete()
    elif outcomes_saved(session_id) != new.first:
        raise Conflict("Another process has written what attempts came to.")
    last = Outcomes.objects.filter(session_id=session_id).order_by("-first").first()
    if last is None or last.count + new.count > OUTCOMES_IN_A_ROW:
        Outcomes.objects.create(session_id=session_id, first=new.first, count=new.count, data=new.data)
        return
    together = opening.unpack(bytes(last.data)) + opening.unpack(new.data)
    Outcomes.objects.filter(pk=last.pk).update(count=last.count + new.count, data=opening.pack(together))


def drop(session_id: int) -> None:
    """Delete the checkpoints and outcomes of a session that will not be opened again."""
    for rows in (Checkpoint, CheckpointPart, Outcomes):
        rows.objects.filter(session_id=session_id).delete()


@transaction.atomic
def copy(origin_id: int, session_id: int, at: int) -> CopiedCheckpoints:
    """Copy the outcomes and checkpoints of an origin up to a position to its fork."""
    rows = list(Checkpoint.objects.filter(session_id=origin_id, position__lte=at, fingerprint=fingerprint()))
    count = _copy_outcomes(origin_id, session_id, at)
    if not rows:
        return CopiedCheckpoints("", 0, [], count)
    volume, parts = rows[-1].volume, max(row.parts for row in rows)
    needed = CheckpointPart.objects.filter(session_id=origin_id, volume=volume, number__lt=parts)
    CheckpointPart.objects.bulk_create(
        CheckpointPart(session_id=session_id, volume=volume, number=part.number, data=part.data)
        for part in needed.order_by("number")
    )
    Checkpoint.objects.bulk_create(
        Checkpoint(session_id=session_id, volume=volume, **msgspec.structs.asdict(_travelling(row))) for row in rows
    )
    return CopiedCheckpoints(volume, parts, [row.position for row in rows], count)


def _copy_outcomes(origin_id: int, session_id: int, at: int) -> int:
    copied = 0
    for row in Outcomes.objects.filter(session_id=origin_id).order_by("first"):
        kept = [outcome for outcome in opening.unpack(bytes(row.data)) if outcome.position <= at]
        if kept:
            data = opening.pack(kept)
            Outcomes.objects.create(session_id=session_id, first=row.first, count=len(kept), data=data)
            copied += len(kept)
    return copied


@repeatable
def record_replay(session_id: int, differs: opening.Difference | None) -> None:
    """Record that this engine version replayed the session, and the first difference, if any."""
    session = Session.objects.filter(pk=session_id).first()
    if session is None:
        return
    if differs is not None:
        fields = {name: value for name, value in msgspec.to_builtins(differs).items() if value != ""}
        session.differs = {**fields, "from": session.engine_version, "to": ENGINE_VERSION}
    session.engine_version = ENGINE_VERSION
    session.save(update_fields=["differs", "engine_version"])


@repeatable
def read_difference(session_id: int) -> None:
    """Clear the difference of a replay, because a user has read it."""
    Session.objects.filter(pk=session_id).update(differs=None)
