"""The JSON Schema (draft 2020-12) of a trace's lines, made from the classes of records."""

from typing import Any

import msgspec

from scheduler_core.base.trace.kinds import CLASSES, Facts, PluginRan
from scheduler_core.formats.export.traces import BROKEN_OFF, EDITION, FORMAT, SCHEMA

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NUMBER: Schema = {"type": "integer", "minimum": 0}
_TEXT: Schema = {"type": "string"}


def json_schema() -> Schema:
    """Return the schema of one line. Its `$id` carries the schema's number, which a trace's header names."""
    _, parts = msgspec.json.schema_components(CLASSES, ref_template="#/$defs/{name}")
    decisions = [facts for facts in CLASSES if facts.DECISION]
    return {
        "$schema": DIALECT,
        "$id": f"urn:{FORMAT}:{SCHEMA}",
        "title": f"A line of a trace, schema {SCHEMA}",
        "oneOf": [_header(), _command(), *map(_record, decisions), _digest(), _detail(), _broken_off()],
        "$defs": {name: _shorten_description(part) for name, part in parts.items()},
    }


def _shorten_description(part: Schema) -> Schema:
    text = part.get("description", "").split("\n")[0]
    return {**part, "description": text} if text else part


def _line(kind: str, optional: Schema | None = None, /, **fields: Schema) -> Schema:
    properties = {"type": {"const": kind}, **fields}
    required = list(properties)
    return {
        "type": "object",
        "properties": properties | (optional or {}),
        "required": required,
        "additionalProperties": False,
    }


def _header() -> Schema:
    return _line(
        "header",
        {
            "edition": {"const": EDITION},
            "lesson": _lesson(),
            "scheduler_releases": {"type": "object", "additionalProperties": _TEXT},
        },
        format={"const": FORMAT},
        schema={"const": SCHEMA},
        engine={"type": ["string", "integer"]},
        kube=_TEXT,
        seed=_NUMBER,
        head=_NUMBER,
        commands=_NUMBER,
        created=_TEXT,
    )


def _lesson() -> Schema:
    """Return the schema of the session's lesson; it is not part of the world."""
    return {
        "type": "object",
        "properties": dict.fromkeys(("story", "origin", "variant"), _TEXT),
        "required": ["story"],
        "additionalProperties": False,
    }


def _command() -> Schema:
    command = {"type": "object", "properties": {"kind": _TEXT}, "required": ["kind"]}
    return _line("command", position=_NUMBER, command=command)


def _record(facts: type[Facts]) -> Schema:
    return _line(
        "record",
        position=_NUMBER,
        seq={"type": "integer", "minimum": 1},
        t=_NUMBER,
        kind={"const": facts.KIND},
        scheduler=_TEXT,
        parent=_NUMBER,
        data=_reference(facts),
    )


def _digest() -> Schema:
    return _line("digest", position=_NUMBER, attempt=_NUMBER, digest={"type": "string", "pattern": "^[0-9a-f]{32}$"})


def _detail() -> Schema:
    return _line(
        "detail",
        position=_NUMBER,
        attempt=_NUMBER,
        pod=_TEXT,
        nodes={"type": "array", "items": _TEXT},
        steps={"type": "array", "items": _reference(PluginRan)},
    )


def _broken_off() -> Schema:
    return _line(BROKEN_OFF, message=_TEXT)


def _reference(facts: type[Facts]) -> Schema:
    return {"$ref": f"#/$defs/{facts.__name__}"}
