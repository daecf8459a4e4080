"""The JSON Schema (draft 2020-12) of the trace events that are written for Perfetto: what of Chrome's Trace Event Format is used.

Complete events (ph X) alone have times: `ts` and `dur` are microseconds of virtual time, with nanoseconds behind the point. Metadata events
(ph M) come first and name the tracks. On one track (pid, tid) events lie within each other or one after the other, and whoever lies within
another comes after it.
"""

from __future__ import annotations

from typing import Any

from scheduler_core.framework.plugin import Point

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
NUMBER = 1
"""Grows when a reader of the old schema would misread the new one."""

_ID: Schema = {"type": "integer", "minimum": 1}
_TIME: Schema = {"type": "number", "minimum": 0}
_TEXT: Schema = {"type": "string", "minLength": 1}


def chrome_schema() -> Schema:
    """Of a whole file."""
    return {
        "$schema": DIALECT,
        "$id": f"urn:scheduler-playground-chrome:{NUMBER}",
        "title": f"Trace events of scheduling attempts, schema {NUMBER}",
        **_object(
            {
                "traceEvents": {"type": "array", "items": {"oneOf": [*_metadata(), _complete()]}},
                "displayTimeUnit": {"const": "ns"},
            }
        ),
    }


def _metadata() -> list[Schema]:
    """The names of processes (schedulers; their own track is 0) and of tracks (pods)."""
    return [_named("process_name", {"const": 0}), _named("thread_name", _ID)]


def _named(what: str, track: Schema) -> Schema:
    name = _object({"name": _TEXT})
    return _object({"name": {"const": what}, "ph": {"const": "M"}, "pid": _ID, "tid": track, "args": name})


def _complete() -> Schema:
    """A span: an attempt, a binding, an extension point or a plugin; `args` has what its record says."""
    facts: Schema = {
        "type": "object",
        "required": ["pod"],
        "properties": {"pod": _TEXT, "point": {"enum": [point.value for point in Point]}, "failed": _TEXT},
    }
    return _object(
        {
            "name": _TEXT,
            "cat": {"const": "scheduling"},
            "ph": {"const": "X"},
            "ts": _TIME,
            "dur": _TIME,
            "pid": _ID,
            "tid": _ID,
            "args": facts,
        }
    )


def _object(properties: dict[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
