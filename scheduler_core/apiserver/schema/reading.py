"""Decoding of requests: objects of known kinds, with known fields of the right types.

kube: apiserver/pkg/endpoints/handlers/{create,patch,rest}.go @ v1.34.1
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.errors import (
    Errors,
    FieldError,
    build_required_error,
    format_value,
    wrong_type,
)
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.kinds import Kind, describe, kind_of
from scheduler_core.apiserver.schema.strict import UNKNOWN, metadata_errors, strict_decoding_error, strict_errors
from scheduler_core.apiserver.schema.table import Field, fields, is_served, parse_expression, type_of
from scheduler_core.apiserver.status import Answer, Refused
from scheduler_core.base.releases import OLDEST, Release

# Nulls in lists and maps: Go decodes each to its type's zero value, such as "" for a text.
# kube: encoding/json, apimachinery/pkg/api/resource/quantity.go (UnmarshalJSON) @ v1.34.1

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
_NEWER_VALUE = re.compile(r"tolerations\[\d+\]\.operator$")
_NULL = wrong_type("", None, "a value")


def are_nulls(errors: Sequence[FieldError]) -> bool:
    """Return whether any error is about a null in a list or a map."""
    return any((each.received, each.expected) == (_NULL.received, _NULL.expected) for each in errors)


def with_zeros(manifest: Manifest) -> Manifest:
    """Return an object with zero values for nulls in lists and maps; unchanged if the table lacks its kind."""
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


def structure(manifest: Any) -> list[FieldError]:
    """Return the errors that make an object unreadable. Empty: the kind is known and the metadata's fields have the right types."""
    errors = Errors()
    if not isinstance(manifest, Mapping):
        return [wrong_type("", manifest, "an object with apiVersion and kind")]
    for field in ("apiVersion", "kind"):
        given = manifest.get(field)
        if given is not None and not isinstance(given, str):
            errors.append(wrong_type(field, given, "a string"))
        errors.required(field, when=not given)
    if errors:
        return errors
    if kind_of(manifest) is None:
        return [FieldError("", "", f'no matches for kind "{manifest["kind"]}" in version "{manifest["apiVersion"]}"')]
    if manifest.get("metadata") is None:
        return [build_required_error("metadata.name", "name or generateName is required")]
    return metadata_errors(manifest["metadata"])


def read(
    manifest: Any, lenient: bool = False, old: Manifest | None = None, release: Release = OLDEST
) -> tuple[Kind, Manifest]:
    """Return the kind of an object, and the object. Raise Refused (400) if it cannot be decoded.

    Unknown fields are allowed if the caller is `lenient` (about objects of newer clusters), or if the `old` object has them.
    """
    errors = structure(manifest)
    if are_nulls(errors):
        manifest = with_zeros(manifest)
        errors = structure(manifest)
    if errors:
        raise _build_refusal(errors, manifest, "; ".join(map(str, errors)))
    kind = kind_of(manifest)
    assert kind is not None
    if not is_served(kind, str(manifest["apiVersion"]), release):
        text = f'no matches for kind "{manifest["kind"]}" in version "{manifest["apiVersion"]}"'
        raise _build_refusal([FieldError("apiVersion", "", text)], manifest, text)
    errors = _check_fields(manifest, kind, lenient, old, release)
    if are_nulls(errors):
        manifest = with_zeros(manifest)
        errors = _check_fields(manifest, kind, lenient, old, release)
    if errors:
        raise _build_refusal(errors, manifest, _undecodable(manifest, errors))
    return kind, manifest


def _check_fields(
    manifest: Manifest, kind: Kind, lenient: bool, old: Manifest | None, release: Release
) -> list[FieldError]:
    errors = strict_errors(manifest, kind, release)
    if mistyped := [error for error in errors if not error.received.startswith(UNKNOWN)]:
        return mistyped  # without a decoded object, unknown fields are not reported
    unknown = {error.path for error in errors if error.received.startswith(UNKNOWN)}
    if unknown and not lenient:
        unknown = {error.path for error in strict_errors(old, kind, release)} & unknown if old else set()
    return [error for error in errors if error.path not in unknown]


def read_patched(manifest: Any, patch: Any, lenient: bool, old: Manifest, release: Release = OLDEST) -> None:
    """Check the result of a patch. Raise Refused (422) if it cannot be decoded. See `read` for unknown fields."""
    errors = structure(manifest)
    kind = None if errors else kind_of(manifest)
    errors = errors or (_check_fields(manifest, kind, lenient, old, release) if kind else [])
    if errors:
        text = strict_decoding_error(errors) or "; ".join(map(str, errors))
        said = f' "" is invalid: patch: Invalid value: {format_value(patch)}: {text}'
        named = [error.of(describe(manifest)) for error in errors]
        raise Refused(named, Answer("Invalid", said, tuple(map(str, errors))))


def is_newer_value(error: FieldError) -> bool:
    """Return whether a refused value is valid in newer releases: an operator of a toleration that compares numbers.

    Like all operators unknown to v1.34, it tolerates nothing.
    """
    return error.kind == "Unsupported value" and _NEWER_VALUE.search(error.path) is not None


def _build_refusal(errors: Sequence[FieldError], manifest: Any, message: str) -> Refused:
    named = [error.of(describe(manifest)) for error in errors]
    return Refused(named, Answer("BadRequest", message, tuple(map(str, errors))))


def _undecodable(manifest: Manifest, errors: Sequence[FieldError]) -> str:
    kind, version = manifest["kind"], str(manifest["apiVersion"]).rpartition("/")[2]
    text = strict_decoding_error(errors) or "; ".join(map(str, errors))
    return f'{kind} in version "{version}" cannot be handled as a {kind}: {text}'
