"""The commands in a session's log: for display and for comparison. Runs in database threads."""

import hashlib
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson

from playground.models import LogEntry, LogKind
from playground.presenters.commands import SOURCES, describe_omission, sentence
from playground.presenters.words import Message
from playground.sessions.database import log
from playground.sessions.database.asking import repeatable
from scheduler_core.world.commands import NO_EDITS, Command, command_from_json

_NO_EDITS = tuple(each.__name__ for each in NO_EDITS)
JOINED = "fixes"  # the source of a command that is undone together with the one before it


@dataclass(frozen=True)
class ListedCommand:
    """A command's position, its number from 1, its sentence, its source, its time, and the number of engine steps after it."""

    at: int
    number: int
    sentence: Message
    source: str
    created: datetime
    steps: int


@dataclass(frozen=True)
class LoggedCommand:
    """A command's position, its sentence, its source, and its fingerprint."""

    at: int
    sentence: Message
    source: str
    print: bytes


@dataclass(frozen=True)
class SkippedCommand:
    """A command's position, its sentence, and a short description of its absence from a history."""

    at: int
    sentence: Message
    short: Message


@repeatable
def positions(session_id: int, head: int) -> list[int]:
    """Return the positions of the commands in a session's log below a head, in order."""
    entries = LogEntry.objects.filter(session_id=session_id, kind=LogKind.COMMAND, at__lt=head)
    return list(entries.order_by("seq").values_list("at", flat=True))


@repeatable
def last(session_id: int, head: int) -> tuple[str, Command] | None:
    """Return the source of the last command below a head, and the command; None if there is none."""
    entries = LogEntry.objects.filter(session_id=session_id, kind=LogKind.COMMAND, at__lt=head)
    entry = entries.order_by("seq").last()
    if entry is None:
        return None
    data = log.unpack(bytes(entry.payload))
    return str(data.get("source", "")), command_from_json(data["command"])


@repeatable
def count_joined(session_id: int, head: int, redo: bool) -> int:
    """Return how many commands the next undo, or `redo`, affects: one, or all commands of a fix."""
    entries = LogEntry.objects.filter(session_id=session_id, kind=LogKind.COMMAND, at__lt=head).order_by("-seq")
    count = skipped = 0
    for entry in entries.iterator():
        data = log.unpack(bytes(entry.payload))
        kind = data["command"]["kind"]
        if kind in _NO_EDITS:
            continue
        if kind == "Redo" or (kind == "Undo" and not redo):  # the commands that it affected come earlier in the log
            skipped += 1 if redo or kind == "Undo" else -1
        elif redo and kind != "Undo":
            break
        elif skipped:
            skipped -= 1
        else:
            count += 1
            if data.get("source") != JOINED:
                break
    return max(count, 1)


@repeatable
def naming(session_id: int, text: str, head: int) -> list[int]:
    """Return the indices of the commands that contain a text, in upper or lower case."""
    wanted = text.lower().encode()
    entries = LogEntry.objects.filter(session_id=session_id, kind=LogKind.COMMAND, at__lt=head)
    payloads = entries.order_by("seq").values_list("payload", flat=True)
    return [i for i, payload in enumerate(payloads.iterator()) if wanted in zlib.decompress(bytes(payload)).lower()]


@repeatable
def rows(session_id: int, positions: Sequence[int], wanted: Sequence[int], head: int) -> list[ListedCommand]:
    """Return the commands at `positions` that have the indices `wanted`."""
    entries = {entry.at: entry for entry in _entries(session_id, [positions[index] for index in wanted])}
    listed = []
    for index in wanted:
        at, after = positions[index], positions[index + 1] if index + 1 < len(positions) else head
        data = log.unpack(bytes(entries[at].payload))
        source = SOURCES.get(str(data.get("source", "")), "")
        says = sentence(data["command"])
        listed.append(ListedCommand(at, index + 1, says, source, entries[at].created, after - at - 1))
    return listed


@repeatable
def list_skipped_commands(session_id: int, at: Iterable[int]) -> list[SkippedCommand]:
    """Return the commands at some positions, described as missing in a history."""
    listed = []
    for entry in _entries(session_id, list(at)):
        command = log.unpack(bytes(entry.payload))["command"]
        listed.append(SkippedCommand(entry.at, sentence(command), describe_omission(command)))
    return listed


@repeatable
def commands(session_id: int, head: int) -> list[LoggedCommand]:
    """Return all commands below a head, for comparison with another log."""
    logged = []
    for row in log.read(session_id)[1]:
        if row.kind == "command" and row.at < head:
            data = log.unpack(row.payload)
            text = orjson.dumps(data["command"], option=orjson.OPT_SORT_KEYS)
            print_ = hashlib.blake2b(text, digest_size=16).digest()
            logged.append(LoggedCommand(row.at, sentence(data["command"]), str(data.get("source", "")), print_))
    return logged


def _entries(session_id: int, at: list[int]) -> list[LogEntry]:
    entries: list[LogEntry] = []
    for i in range(0, len(at), 500):  # databases limit the number of parameters
        entries += LogEntry.objects.filter(session_id=session_id, kind=LogKind.COMMAND, at__in=at[i : i + 500])
    return sorted(entries, key=lambda entry: entry.at)
