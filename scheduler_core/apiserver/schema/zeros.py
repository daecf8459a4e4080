"""Nulls in lists and maps: Go decodes each to its type's zero value, such as "" for a text.

kube: encoding/json, apimachinery/pkg/api/resource/quantity.go (UnmarshalJSON) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, wrong_type
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.kinds import kind_of
from scheduler_core.apiserver.schema.table import Field, fields, parse_expression, type_of

_OF_LEAVES = {
    "string": "",
    "bytes": "",
    "bool": False,
    "int32": 0,
    "int64": 0,
    "number": 0,
    "quantity": "0",
    "intorstring": 0,
}
_NULL = wrong_type("", None, "a value")


def are_nulls(errors: Sequence[FieldError]) -> bool:
    """Return whether any error is about a null in a list or a map."""
    return any((each.received, each.expected) == (_NULL.received, _NULL.expected) for each in errors)


def with_zeros(manifest: Manifest) -> Manifest:
    """An object with zero values where its lists and maps hold nulls; of a kind that the table does not have, as it is."""
    kind = kind_of(manifest)
    root = type_of(kind, str(manifest.get("apiVersion"))) if kind is not None else ""
    return _entries(manifest, root) if root else manifest


def _entries(value: Any, type_: str) -> Any:
    if not isinstance(value, Mapping):
        return value
    known = fields(type_)
    return {
        name: _value(inner, known[name]) if name in known and inner is not None else inner
        for name, inner in value.items()
    }


def _value(value: Any, field: Field) -> Any:
    if field.shape == "object":
        return _entries(value, field.inner)
    if field.shape == "list" and isinstance(value, list | tuple):
        return [_entry(each, parse_expression(field.inner)) for each in value]
    if field.shape == "map" and isinstance(value, Mapping):
        return {name: _entry(each, parse_expression(field.inner)) for name, each in value.items()}
    return value


def _entry(value: Any, field: Field) -> Any:
    if value is not None:
        return _value(value, field)
    if field.shape == "leaf":
        return _OF_LEAVES.get(field.inner)
    return [] if field.shape == "list" else {}
