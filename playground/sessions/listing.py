"""A session's commands as people read its log: what was asked for, where, by which form. Runs in database threads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from playground.models import LogEntry, LogKind
from playground.presenters.commands import SOURCES, left_out, sentence
from playground.sessions import log

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


def rows(session_id: int, all_of_them: list[int], first: int, most: int, head: int) -> list[Asked]:
    """Some of the commands at `positions`, from the index `first` on."""
    wanted = all_of_them[first : first + most]
    following = [*all_of_them[first + 1 : first + most + 1], head]
    found = {one.at: one for one in _entries(session_id, wanted)}
    told = []
    for index, (at, after) in enumerate(zip(wanted, following, strict=False)):
        if (one := found.get(at)) is not None:
            data = log.unpack(one.payload)
            source = SOURCES.get(str(data.get("source", "")), "")
            told.append(
                Asked(at, first + index + 1, sentence(data["command"]), source, one.created, after - at - 1)
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
