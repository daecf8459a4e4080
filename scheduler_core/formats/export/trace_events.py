"""Spans as Chrome's trace events, for Perfetto; and the JSON Schema (draft 2020-12) of what of that format is used.

Each span is a pair of events, its begin (ph B) and its end (ph E); `ts` is in microseconds of virtual time, with nanoseconds behind the
point. Pairs say what lies within what also where nothing takes time: of complete events (ph X) that all begin and end at one moment
Perfetto takes each for the child of the one before. Metadata events (ph M) come first and name the tracks; the events of a track (pid, tid)
stand together, in order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from scheduler_core.formats.export.spans import Span
from scheduler_core.scheduler.framework.plugin import Point

Event = dict[str, Any]
Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
NUMBER = 2
"""Grows when a reader of the old schema would misread the new one."""

_ID: Schema = {"type": "integer", "minimum": 1}
_TIME: Schema = {"type": "number", "minimum": 0}
_TEXT: Schema = {"type": "string", "minLength": 1}


def chrome_events(spans: Iterable[Span]) -> dict[str, Any]:
    """Chrome's trace events, as Perfetto reads them: a process for each scheduler, a track for each pod. Times are microseconds."""
    processes: dict[str, int] = {}
    tracks: dict[tuple[str, str], int] = {}
    roots: dict[int, list[Span]] = defaultdict(list)
    below: dict[int, list[Span]] = defaultdict(list)
    for span in spans:
        processes.setdefault(span.scheduler, len(processes) + 1)
        track = tracks.setdefault((span.scheduler, span.facts["pod"]), len(tracks) + 1)
        (below[span.parent] if span.parent else roots[track]).append(span)
    named = [_name_of("process_name", pid, 0, name) for name, pid in processes.items()]
    events: list[Event] = []
    for (scheduler, pod), tid in tracks.items():
        place = {"pid": processes[scheduler], "tid": tid}
        named.append(_name_of("thread_name", place["pid"], tid, pod))
        for root in roots[tid]:
            events += _pairs(root, below, place)
    return {"traceEvents": [*named, *events], "displayTimeUnit": "ns"}


def _pairs(span: Span, below: dict[int, list[Span]], place: dict[str, int]) -> Iterator[Event]:
    """A span's begin, all that lies within it, and its end."""
    yield {
        "name": span.name,
        "cat": "scheduling",
        "ph": "B",
        "ts": span.start / 1000,
        **place,
        "args": span.facts | ({"failed": span.failed} if span.failed else {}),
    }
    for child in below.get(span.seq, ()):
        yield from _pairs(child, below, place)
    yield {"ph": "E", "ts": span.end / 1000, **place}


def _name_of(what: str, pid: int, tid: int, name: str) -> Event:
    return {"name": what, "ph": "M", "pid": pid, "tid": tid, "args": {"name": name}}


def chrome_schema() -> Schema:
    """Return the schema of a whole file."""
    return {
        "$schema": DIALECT,
        "$id": f"urn:scheduler-playground-chrome:{NUMBER}",
        "title": f"Trace events of scheduling attempts, schema {NUMBER}",
        **_object(
            {
                "traceEvents": {"type": "array", "items": {"oneOf": [*_metadata(), _begin(), _end()]}},
                "displayTimeUnit": {"const": "ns"},
            }
        ),
    }


def _metadata() -> list[Schema]:
    """The names of processes (schedulers; their own track is 0) and of tracks (pods)."""
    return [_build_name_schema("process_name", {"const": 0}), _build_name_schema("thread_name", _ID)]


def _build_name_schema(what: str, track: Schema) -> Schema:
    name = _object({"name": _TEXT})
    return _object({"name": {"const": what}, "ph": {"const": "M"}, "pid": _ID, "tid": track, "args": name})


def _end() -> Schema:
    """Return the schema of the end of the most recent open span on this track."""
    return _object({"ph": {"const": "E"}, "ts": _TIME, "pid": _ID, "tid": _ID})


def _begin() -> Schema:
    """Return the schema of a span's begin (attempt, binding, extension point or plugin); `args` has its record's facts."""
    facts: Schema = {
        "type": "object",
        "required": ["pod"],
        "properties": {"pod": _TEXT, "point": {"enum": [point.value for point in Point]}, "failed": _TEXT},
    }
    return _object(
        {
            "name": _TEXT,
            "cat": {"const": "scheduling"},
            "ph": {"const": "B"},
            "ts": _TIME,
            "pid": _ID,
            "tid": _ID,
            "args": facts,
        }
    )


def _object(properties: dict[str, Schema]) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
