"""Traces inside a worker: a session's history as lines of JSON, and the check of such lines by computing them again."""

import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

import msgspec
import orjson

from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol import comparing
from playground.sessions.protocol.base import Data
from playground.sessions.protocol.errors import CommandRefused, LimitReached, refusal
from playground.sessions.protocol.opening import LogRow
from playground.sessions.worker.memory import ALONE, Budget
from playground.sessions.worker.time_sharing import Steps, answers_as_worker
from playground.sessions.worker.world import Refused
from scheduler_core.formats.export import TraceError, check_lines, export_lines, read_log, version_of
from scheduler_core.world.commands import Command

CHUNK = 256 << 10
PATIENCE = 0.25
MOST_NAMED = 12  # unknown fields that are listed
COMMANDS = {command.__name__: command for command in get_args(Command)}
TOO_MUCH = gettext_noop("The trace needs more memory than the limit and was stopped. The session is unchanged.")
OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS


class Export:
    """A trace being written, a chunk at a time."""

    def __init__(self, request: comparing.OpenTrace) -> None:
        self._memory = Budget(ALONE, TOO_MUCH)
        first, last = request.detail
        lines = export_lines(
            request.seed, commands_of(request.rows), request.head, range(first, last + 1), request.created
        )
        self._lines: Iterator[Data] = with_lesson(lines, request.lesson)

    def next(self) -> comparing.FilePart:
        made, size, end = [], 0, time.perf_counter() + PATIENCE
        with self._memory:
            for line in self._lines:
                made.append(orjson.dumps(line, option=OPTIONS))
                size += len(made[-1])
                if size >= CHUNK or time.perf_counter() > end:
                    return comparing.FilePart(0, b"".join(made), False)
        return comparing.FilePart(0, b"".join(made), True)


def with_lesson(lines: Iterator[Data], lesson: comparing.TracedLesson) -> Iterator[Data]:
    """Yield the lines, with the lesson, if any, in the header."""
    header = next(lines)
    yield {**header, "lesson": msgspec.to_builtins(lesson)} if lesson.story else header
    yield from lines


def lesson_in(header: Mapping[str, Any]) -> comparing.TracedLesson:
    """Return the lesson that a header names; an empty one if it is invalid or missing."""
    try:
        return msgspec.convert(header.get("lesson", {}), comparing.TracedLesson)
    except msgspec.ValidationError:
        return comparing.TracedLesson()


def commands_of(rows: Iterable[LogRow]) -> dict[int, Any]:
    """Return the commands of a log's rows as JSON, by position."""
    return {row.at: orjson.loads(zlib.decompress(row.payload))["command"] for row in rows if row.kind == "command"}


@answers_as_worker(comparing.CheckTrace)
def check(engines: object, session: int, request: comparing.CheckTrace) -> Steps[comparing.TraceChecked]:
    """Compute a trace again."""
    yield
    lines = _read(request.data)
    try:
        seed, log, head = read_log(lines)
        # A trace must not have more objects than a session may have.
        most = request.max_objects
        objects = sum(len(command["objects"]) for command in log.values() if isinstance(command.get("objects"), list))
        if objects > most:
            raise LimitReached(
                message(
                    "The trace contains %(has)s objects. The limit is %(most)s.", has=f"{objects:,}", most=f"{most:,}"
                )
            )
        report = check_lines(lines)
    except TraceError as error:
        raise CommandRefused(message("The trace cannot be read: %(why)s.", why=str(error))) from None
    except Refused as refused:
        raise refusal(refused.errors) from None
    return comparing.TraceChecked(
        seed=seed,
        head=head,
        commands=[comparing.TracedCommand(at, pack_command(log[at])) for at in sorted(log)],
        attempts=report.attempts,
        position=report.position,
        difference=report.difference,
        maker=comparing.TraceMaker(*(str(lines[0].get(name) or "")[:40] for name in ("engine", "kube", "created"))),
        records=sum(line.get("type") == "record" for line in lines),
        passed_over=_list_unknown_fields(log.values()),
        lesson=lesson_in(lines[0]),
        kube=version_of(log),
    )


def _list_unknown_fields(commands: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the fields, as Command.field, of another version's commands that this version's commands lack."""
    found: dict[str, None] = {}
    for command in commands:
        known = {field.encode_name for field in msgspec.structs.fields(COMMANDS[command["kind"]])}
        found.update((f"{command['kind']}.{name}"[:80], None) for name in command if name not in known | {"kind"})
    return sorted(found)[:MOST_NAMED]


def pack_command(command: Any) -> bytes:
    """Return a trace's command in the form of a session's log."""
    return zlib.compress(orjson.dumps({"command": command, "source": "trace"}), 1)


def _read(data: bytes) -> list[Mapping[str, Any]]:
    lines: list[Mapping[str, Any]] = []
    for number, text in enumerate(data.split(b"\n"), 1):
        if not text.strip():
            continue
        try:
            line = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise CommandRefused(
                message("Line %(line)s of the trace is not JSON: %(why)s.", line=number, why=str(error))
            ) from None
        if not isinstance(line, dict):
            raise CommandRefused(message("Line %(line)s of the trace is not a JSON object.", line=number))
        lines.append(line)
    return lines
