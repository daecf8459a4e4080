"""The JSON Schema (draft 2020-12) of a trace's lines, made from the classes of records."""

from typing import Any

import msgspec

from scheduler_core.base.trace.kinds import CLASSES, Facts, PluginRan
from scheduler_core.formats.export.traces import BROKEN_OFF, EDITION, FORMAT, SCHEMA

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NUMBER: Schema = {"type": "integer", "minimum": 0}
_TEXT: Schema = {"type": "string"}
_COMMAND: Schema = {"type": "object", "properties": {"kind": _TEXT}, "required": ["kind"]}
_DIGEST: Schema = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
_LESSON: Schema = {
    "type": "object",
    "properties": dict.fromkeys(("story", "origin", "variant"), _TEXT),
    "required": ["story"],
    "additionalProperties": False,
}
"""The session's lesson, which is not part of the world."""
_LATER: Schema = {
    "edition": {"const": EDITION},
    "lesson": _LESSON,
    "scheduler_releases": {"type": "object", "additionalProperties": _TEXT},
}
"""Fields of the header that not every trace has."""


def json_schema() -> Schema:
    """Return the schema of one line. Its `$id` carries the schema's number, which a trace's header names."""
    _, parts = msgspec.json.schema_components(CLASSES, ref_template="#/$defs/{name}")
    names, steps = ({"type": "array", "items": items} for items in (_TEXT, _reference(PluginRan)))
    return {
        "$schema": DIALECT,
        "$id": f"urn:{FORMAT}:{SCHEMA}",
        "title": f"A line of a trace, schema {SCHEMA}",
        "oneOf": [
            _header(),
            _line("command", position=_NUMBER, command=_COMMAND),
            *(_record(facts) for facts in CLASSES if facts.DECISION),
            _line("digest", position=_NUMBER, attempt=_NUMBER, digest=_DIGEST),
            _line("detail", position=_NUMBER, attempt=_NUMBER, pod=_TEXT, nodes=names, steps=steps),
            _line(BROKEN_OFF, message=_TEXT),
        ],
        "$defs": {name: _shorten_description(part) for name, part in parts.items()},
    }


def _shorten_description(part: Schema) -> Schema:
    text = part.get("description", "").split("\n")[0]
    return {**part, "description": text} if text else part


def _line(kind: str, /, **fields: Schema) -> Schema:
    properties = {"type": {"const": kind}, **fields}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _header() -> Schema:
    needed = _line(
        "header",
        format={"const": FORMAT},
        schema={"const": SCHEMA},
        engine={"type": ["string", "integer"]},
        kube=_TEXT,
        **dict.fromkeys(("seed", "head", "commands"), _NUMBER),
        created=_TEXT,
    )
    return {**needed, "properties": needed["properties"] | _LATER}


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


def _reference(facts: type[Facts]) -> Schema:
    return {"$ref": f"#/$defs/{facts.__name__}"}
