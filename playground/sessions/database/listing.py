"""A session's commands as people read its log: what was asked for, where, by which form. Runs in database threads."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from playground.models import LogEntry, LogKind
from playground.presenters.commands import SOURCES, left_out, sentence
from playground.sessions.database import log

Data = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """A command: where it was applied, its number from 1, what it says, the form it came by, how far the engine went after it."""

    at: int
    number: int
    told: Data
    source: str
    created: datetime
    steps: int


def positions(session_id: int, head: int) -> list[int]:
    """Where the commands of a session's log below a head were applied, in order."""
    entries = LogEntry.objects.filter(session_id=session_id, kind=LogKind.COMMAND, at__lt=head)
    return list(entries.order_by("seq").values_list("at", flat=True))


def naming(session_id: int, text: str, head: int) -> list[int]:
    """Indices of the commands that have a text somewhere in what they say, in whatever case."""
    wanted = text.lower().encode()
    entries = LogEntry.objects.filter(session_id=session_id, kind=LogKind.COMMAND, at__lt=head)
    payloads = entries.order_by("seq").values_list("payload", flat=True)
    return [i for i, one in enumerate(payloads.iterator()) if wanted in zlib.decompress(bytes(one)).lower()]


def rows(session_id: int, positions: Sequence[int], wanted: Sequence[int], head: int) -> list[Asked]:
    """Some of the commands at `positions`, by their indices."""
    found = {one.at: one for one in _entries(session_id, [positions[index] for index in wanted])}
    told = []
    for index in wanted:
        at, after = positions[index], positions[index + 1] if index + 1 < len(positions) else head
        data = log.unpack(found[at].payload)
        source = SOURCES.get(str(data.get("source", "")), "")
        told.append(
            Asked(at, index + 1, sentence(data["command"]), source, found[at].created, after - at - 1)
        )
    return told


def skipped(session_id: int, at: Iterable[int]) -> list[Data]:
    """{at, told, short} of the commands at some positions: what each says, and what a history lacks without it."""
    found = []
    for one in _entries(session_id, list(at)):
        command = log.unpack(one.payload)["command"]
        found.append({"at": one.at, "told": sentence(command), "short": left_out(command)})
    return found


def _entries(session_id: int, at: list[int]) -> list[LogEntry]:
    entries: list[LogEntry] = []
    for i in range(0, len(at), 500):  # databases take only so many parameters
        entries += LogEntry.objects.filter(
            session_id=session_id, kind=LogKind.COMMAND, at__in=at[i : i + 500]
        )
    return sorted(entries, key=lambda one: one.at)
