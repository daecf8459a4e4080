"""Objects as Go's encoding/json writes them: in the order of a type's fields, with what a tag says of empty values.

go_fields.json was read once from the Go types of k8s.io/api and k8s.io/apimachinery, v0.34.1, as far as a Pod or a Node has them. `always`
are fields that are written even if they are empty: those without omitempty and those that are structs, with what stands for an empty one.
`pointers` are texts, numbers and booleans behind a pointer, which omitempty leaves away only if they are null. Every other field is left
away if it is empty: "", 0, false, null, [] or a map {}.

kube: api/core/v1/types.go, apimachinery/pkg/apis/meta/v1/types.go @ v0.34.1
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from scheduler_core.apiserver.schema.table import Field, fields, parse_expression

Json = dict[str, Any]
_OF_OBJECTS = ("apiVersion", "kind")  # informers drop them
_ROOTS = ("Pod", "Node")


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    table: Mapping[str, Mapping[str, Any]] = json.loads(
        Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
    )
    return table


def write_go_object(value: Mapping[str, Any], type_: str) -> Json:
    """Return an object of a type as Go writes it; fields that the type does not have are left away."""
    always, pointers = _table()["always"].get(type_, {}), _table()["pointers"].get(type_, ())
    out: Json = {}
    for name, field in fields(type_).items():
        if type_ in _ROOTS and name in _OF_OBJECTS:
            continue
        inner = _inner(value.get(name), field)
        if inner is None and name in always:
            zero = always[name]
            out[name] = write_go_object({}, field.inner) if zero == {} else zero
        elif name in always or (inner is not None and (field.shape == "object" or name in pointers or inner)):
            out[name] = inner
    return out


def _inner(value: Any, field: Field) -> Any:
    if isinstance(value, Mapping) and field.shape == "object":
        return write_go_object(value, field.inner)
    if isinstance(value, list | tuple) and field.shape == "list":
        return [_inner(each, parse_expression(field.inner)) for each in value]
    if isinstance(value, Mapping) and field.shape == "map":
        return {name: _inner(each, parse_expression(field.inner)) for name, each in value.items()}
    return value
