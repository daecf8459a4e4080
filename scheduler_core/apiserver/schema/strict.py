"""Strict decoding: unknown fields and values of a wrong type, as `kubectl apply` reports them.

DEVIATION: unknown fields of a status are ignored, so that objects of newer clusters can be imported.

kube: apimachinery/pkg/runtime/error.go (strictDecodingError), apiserver/pkg/endpoints/handlers/{rest,patch}.go @ v1.34.1
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from scheduler_core.apimachinery.objects.errors import FieldError, child, not_a_key, too_many, wrong_type
from scheduler_core.apiserver.kinds import Kind
from scheduler_core.apiserver.schema.table import LEAVES, Field, fields, parse_expression, type_of
from scheduler_core.base.releases import OLDEST, Release

Errors = list[FieldError]
UNKNOWN = "unknown field"
_CLOSE = 0.75

# Each type of the table is compiled to a function once, because an import checks each field of each object.


class _FoundErrors(NamedTuple):
    """The errors found in an object of a root type."""

    root: str
    errors: Errors


Check = Callable[[Any, str, bool, _FoundErrors], None]
"""(value, path, whether to ignore unknown fields, found)"""


@cache
def _checks(type_: str, release: Release) -> dict[str, Check]:
    return {name: _check(field, release) for name, field in fields(type_, release).items()}


@cache
def _check(field: Field, release: Release) -> Check:
    if field.shape == "object":
        return _object(field.inner, release)
    if field.shape == "leaf":
        return _leaf(field.inner)
    item = parse_expression(field.inner)
    return _list(item, release) if field.shape == "list" else _map(item, release)


@cache
def _leaf(name: str) -> Check:
    leaf = LEAVES.get(name)
    if leaf is None:
        return lambda value, path, lenient, found: None
    return lambda value, path, lenient, found: leaf(value, path, found.errors)


def _object(type_: str, release: Release) -> Check:
    text = _leaf("string")

    def check(value: Any, path: str, lenient: bool, found: _FoundErrors) -> None:
        if type(value) is not dict and not isinstance(value, Mapping):
            found.errors.append(wrong_type(path, value, "an object"))
            return
        known = _checks(type_, release)
        for name, entry in value.items():
            inner = known.get(name)
            if inner is None:
                _say_unknown(name, type_, path, lenient, found)
            elif entry is not None and not (inner is text and type(entry) is str):
                status = not path and name == "status"
                inner(entry, f"{path}.{name}" if path else name, lenient or status, found)

    return check


def _get_limit(item: Field) -> int:
    """Return the maximum length of a list. A node affinity may name all nodes; validation limits lists of devices."""
    return 20_000 if item.shape == "leaf" or item.inner.startswith("resource/") else 2000


def _list(item: Field, release: Release) -> Check:
    most, inner = _get_limit(item), _entry(item, release)

    def check(value: Any, path: str, lenient: bool, found: _FoundErrors) -> None:
        if not isinstance(value, list | tuple):
            found.errors.append(wrong_type(path, value, "a list"))
        elif len(value) > most:
            found.errors.append(too_many(path, len(value), most))
        else:
            for i, entry in enumerate(value):
                inner(entry, f"{path}[{i}]", lenient, found)

    return check


def _map(item: Field, release: Release) -> Check:
    inner = _entry(item, release)

    def check(value: Any, path: str, lenient: bool, found: _FoundErrors) -> None:
        if type(value) is not dict and not isinstance(value, Mapping):
            found.errors.append(wrong_type(path, value, "an object"))
            return
        for name, entry in value.items():
            if isinstance(name, str):
                inner(entry, f"{path}[{name}]", lenient, found)
            else:
                found.errors.append(not_a_key(path, name))

    return check


def _entry(item: Field, release: Release) -> Check:
    """Return the check of an entry of a list or a map, which may not be null."""
    inner, anything = _check(item, release), item.inner == "any"

    def check(value: Any, path: str, lenient: bool, found: _FoundErrors) -> None:
        if value is None and not anything:
            found.errors.append(wrong_type(path, value, "a value"))
        else:
            inner(value, path, lenient, found)

    return check


def _say_unknown(name: Any, type_: str, path: str, lenient: bool, found: _FoundErrors) -> None:
    if not isinstance(name, str):
        found.errors.append(not_a_key(path, name))
    elif not lenient:
        meant = _suggest_field(name, type_, found.root)
        hint = f'(did you mean "{meant}"?)' if meant else ""
        found.errors.append(FieldError(child(path, name), f'{UNKNOWN} "{name}"', hint))


def strict_errors(manifest: Mapping[str, Any], kind: Kind, release: Release = OLDEST) -> list[FieldError]:
    """Return the strict decoding errors of an object with apiVersion and kind in a release. Kinds outside the table pass."""
    root = type_of(kind, str(manifest.get("apiVersion")))
    return list_errors(manifest, root, release=release) if root else []


def list_errors(value: Any, type_: str, path: str = "", lenient: bool = False, release: Release = OLDEST) -> Errors:
    """Return the errors in a value of a type at a path. `lenient`: ignore unknown fields."""
    errors: Errors = []
    _object(type_, release)(value, path, lenient, _FoundErrors(type_, errors))
    return errors


def metadata_errors(meta: Any) -> Errors:
    """Return the errors that make the metadata unreadable, of any kind including custom resources.

    Unknown fields are not included; they are reported with those of the whole object.
    """
    return list_errors(meta, "ObjectMeta", "metadata", lenient=True)


def strict_decoding_error(errors: Sequence[FieldError]) -> str:
    """Return kube's message about unknown fields, or ""."""
    unknown = [f'{UNKNOWN} "{error.path}"' for error in errors if error.received.startswith(UNKNOWN)]
    return f"strict decoding error: {', '.join(unknown)}" if unknown else ""


@cache
def _suggest_field(name: str, type_: str, root: str) -> str:
    """Return the probable field: a sibling of a similar name, else the first field of this name elsewhere in the object."""
    beside = list(fields(type_))
    for known in beside:
        if known.lower() == name.lower():
            return known
    close = difflib.get_close_matches(name, beside, 1, _CLOSE)
    return close[0] if close else _elsewhere(name, root)


def _elsewhere(name: str, root: str) -> str:
    """Return the path of the least deep field of this name, or "". The status is not searched."""
    seen = {root: None}
    level = [(root, "")]
    while level:
        deeper = []
        for type_, path in level:
            for known, field in fields(type_).items():
                where = child(path, known)
                if known.lower() == name.lower():
                    return where
                inner = field.object_type
                if inner and inner not in seen and where != "status":
                    seen[inner] = None
                    deeper.append((inner, f"{where}[*]" if field.shape == "list" else where))
        level = deeper
    return ""
