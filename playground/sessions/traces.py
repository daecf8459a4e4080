"""Traces inside a worker: a session's history as lines of JSON, and the check of such lines by computing them again."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from playground.sessions.engine import refusal
from playground.sessions.errors import CommandRefused, LimitReached
from playground.sessions.world import Refused
from scheduler_core.export.traces import TraceError, check_lines, export_lines, read_log

CHUNK = 256 << 10
PATIENCE = 0.25
OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS

Line = dict[str, Any]


class Export:
    """A trace being written, a chunk at a time."""

    def __init__(self, header: Line, payloads: list[bytes]) -> None:
        commands = {
            at: orjson.loads(zlib.decompress(payload))["command"]
            for (kind, at, _), payload in zip(header["rows"], payloads, strict=True)
            if kind == "command"
        }
        first, last = header["detail"]
        self._lines: Iterator[Line] = export_lines(
            header["seed"], commands, header["head"], range(first, last + 1), header["created"]
        )

    def next(self) -> tuple[bytes, bool]:
        """The next lines, and whether they are the last."""
        made, size, end = [], 0, time.perf_counter() + PATIENCE
        for line in self._lines:
            made.append(orjson.dumps(line, option=OPTIONS))
            size += len(made[-1])
            if size >= CHUNK or time.perf_counter() > end:
                return b"".join(made), False
        return b"".join(made), True


def check(data: bytes, most_objects: int) -> tuple[Line, list[bytes]]:
    """Compute a trace again. What was found, with the log behind it: the commands' positions, and each as a log's payload."""
    lines = _read(data)
    try:
        seed, log, head = read_log(lines)
        _require_room(log, most_objects)
        report = check_lines(lines)
    except TraceError as error:
        raise CommandRefused(f"The trace cannot be read: {error}.") from None
    except Refused as refused:
        raise refusal(refused.errors) from None
    found = {
        "seed": seed,
        "head": head,
        "positions": sorted(log),
        "attempts": report.attempts,
        "position": report.position,
        "difference": _difference(report),
    }
    return found, [_payload(log[at]) for at in sorted(log)]


def _payload(command: Any) -> bytes:
    return zlib.compress(orjson.dumps({"command": command, "source": "trace"}), 1)


def _difference(report: Any) -> Line | None:
    if report.difference is None:
        return None
    return {
        "line": report.difference.line,
        "position": report.difference.position,
        "received": report.difference.received,
        "expected": report.difference.expected,
    }


def _read(data: bytes) -> list[Mapping[str, Any]]:
    lines: list[Mapping[str, Any]] = []
    for number, text in enumerate(data.split(b"\n"), 1):
        if not text.strip():
            continue
        try:
            line = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise CommandRefused(f"Line {number} of the trace is not JSON: {error}.") from None
        if not isinstance(line, dict):
            raise CommandRefused(f"Line {number} of the trace is not a JSON object.")
        lines.append(line)
    return lines


def _require_room(log: Mapping[int, Any], most: int) -> None:
    """A trace cannot bring more objects than a session may have."""
    objects = sum(
        len(command["objects"]) for command in log.values() if isinstance(command.get("objects"), list)
    )
    if objects > most:
        raise LimitReached(f"The trace brings {objects:,} objects; at most {most:,} are allowed here.")
