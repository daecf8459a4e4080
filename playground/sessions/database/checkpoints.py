"""Checkpoints in the database, and what attempts came to. Nothing here is needed: whatever is missing or does not fit is replayed.

All functions are synchronous; `db` in runtime.py runs them in threads of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction

from playground.models import Checkpoint, CheckpointPart, Outcomes, Session
from playground.sessions.protocol import outcomes
from playground.sessions.protocol.errors import Conflict
from scheduler_core import ENGINE_VERSION
from scheduler_core.codec import fingerprint

# A row of outcomes is written anew with what comes, until it has this many.
OUTCOMES_IN_A_ROW = 2_000

_MARK = ("position", "work", "parts", "digest", "fingerprint")


@dataclass
class Shelf:
    """What a worker is handed when it opens a session."""

    volume: str = ""
    parts: list[bytes] = field(default_factory=list)
    marks: list[dict[str, Any]] = field(default_factory=list)
    worlds: list[bytes] = field(default_factory=list)
    told: int = 0
    outcomes: list[bytes] = field(default_factory=list)

    def header(self) -> dict[str, Any]:
        return {"volume": self.volume, "parts": len(self.parts), "marks": self.marks}

    def attachments(self) -> list[bytes]:
        return [*self.parts, *self.worlds, *self.outcomes]


def read(session_id: int) -> Shelf:
    """The checkpoints of this very engine; what attempts came to where there are none, so that a replay can be compared."""
    shelf = Shelf(told=told(session_id))
    found = list(Checkpoint.objects.filter(session_id=session_id, fingerprint=fingerprint()))
    if found:
        shelf.volume = found[0].volume
        parts = CheckpointPart.objects.filter(session_id=session_id, volume=shelf.volume)
        shelf.parts = [bytes(part.data) for part in parts.order_by("number")]
    for one in found:
        shelf.marks.append({name: getattr(one, name) for name in _MARK})
        shelf.worlds.append(bytes(one.data))
    rows = Outcomes.objects.filter(session_id=session_id).order_by("first")
    shelf.outcomes = [bytes(row.data) for row in rows]
    return shelf


def told(session_id: int) -> int:
    last = Outcomes.objects.filter(session_id=session_id).order_by("-first").first()
    return 0 if last is None else last.first + last.count


@transaction.atomic
def write(session_id: int, header: dict[str, Any], attachments: list[bytes]) -> None:
    """Keep what a worker handed out (keeping.save). Raises Conflict where another process has written something else meanwhile."""
    given = iter(attachments)
    if not Session.objects.select_for_update().filter(pk=session_id, deleted=None).exists():
        return
    try:
        with transaction.atomic():
            _write_outcomes(session_id, header, given)
            if "volume" in header:
                _write_checkpoints(session_id, header, given)
    except IntegrityError as error:
        raise Conflict("Another process has written checkpoints of this session.") from error


def _write_outcomes(session_id: int, header: dict[str, Any], given: Any) -> None:
    first, count = header["told"], header["outcomes"]
    if not count:
        return
    data = next(given)
    if first == 0:
        Outcomes.objects.filter(session_id=session_id).delete()
    elif told(session_id) != first:
        raise Conflict("Another process has written what attempts came to.")
    last = Outcomes.objects.filter(session_id=session_id).order_by("-first").first()
    if last is None or last.count + count > OUTCOMES_IN_A_ROW:
        Outcomes.objects.create(session_id=session_id, first=first, count=count, data=data)
        return
    together = outcomes.unpack(bytes(last.data)) + outcomes.unpack(data)
    Outcomes.objects.filter(pk=last.pk).update(count=last.count + count, data=outcomes.pack(together))


def _write_checkpoints(session_id: int, header: dict[str, Any], given: Any) -> None:
    volume = header["volume"]
    for rows in (Checkpoint, CheckpointPart):
        rows.objects.filter(session_id=session_id).exclude(volume=volume).delete()
    if header["part"] is not None:
        CheckpointPart.objects.create(
            session_id=session_id, volume=volume, number=header["part"], data=next(given)
        )
    Checkpoint.objects.filter(session_id=session_id, position__in=header["dropped"]).delete()
    same = {"session_id": session_id, "volume": volume, "fingerprint": header["fingerprint"]}
    Checkpoint.objects.bulk_create(Checkpoint(**same, **mark, data=next(given)) for mark in header["marks"])


def drop(session_id: int) -> None:
    """Nobody will open this session again."""
    for rows in (Checkpoint, CheckpointPart, Outcomes):
        rows.objects.filter(session_id=session_id).delete()


@transaction.atomic
def copy(origin_id: int, session_id: int, at: int) -> dict[str, Any]:
    """For a fork, what its origin has up to a position; returns what a worker has to know of it."""
    found = list(Checkpoint.objects.filter(session_id=origin_id, position__lte=at, fingerprint=fingerprint()))
    count = _copy_outcomes(origin_id, session_id, at)
    if not found:
        return {"volume": "", "parts": 0, "marks": [], "told": count}
    volume, parts = found[-1].volume, max(one.parts for one in found)
    needed = CheckpointPart.objects.filter(session_id=origin_id, volume=volume, number__lt=parts)
    CheckpointPart.objects.bulk_create(
        CheckpointPart(session_id=session_id, volume=volume, number=part.number, data=part.data)
        for part in needed.order_by("number")
    )
    same = {"session_id": session_id, "volume": volume, "fingerprint": fingerprint()}
    Checkpoint.objects.bulk_create(
        Checkpoint(**same, **{name: getattr(one, name) for name in _MARK[:-1]}, data=one.data)
        for one in found
    )
    return {"volume": volume, "parts": parts, "marks": [one.position for one in found], "told": count}


def _copy_outcomes(origin_id: int, session_id: int, at: int) -> int:
    copied = 0
    for row in Outcomes.objects.filter(session_id=origin_id).order_by("first"):
        kept = [one for one in outcomes.unpack(bytes(row.data)) if one.position <= at]
        if kept:
            data = outcomes.pack(kept)
            Outcomes.objects.create(session_id=session_id, first=row.first, count=len(kept), data=data)
            copied += len(kept)
    return copied


def replayed(session_id: int, differs: dict[str, Any] | None) -> None:
    """The session was replayed by this engine, and first came to something else there."""
    session = Session.objects.filter(pk=session_id).first()
    if session is None:
        return
    if differs is not None:
        session.differs = {**differs, "from": session.engine_version, "to": ENGINE_VERSION}
    session.engine_version = ENGINE_VERSION
    session.save(update_fields=["differs", "engine_version"])


def read_difference(session_id: int) -> None:
    """Somebody has read where the replay differs."""
    Session.objects.filter(pk=session_id).update(differs=None)
