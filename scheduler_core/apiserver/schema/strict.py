"""Strict decoding: fields that a type does not have, and values that are not of their type, as `kubectl apply` has them told.

DEVIATION: unknown fields of a status are passed over, so that what a newer cluster wrote can be imported.

kube: apimachinery/pkg/runtime/error.go (strictDecodingError), apiserver/pkg/endpoints/handlers/{rest,patch}.go @ v1.34.1
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from scheduler_core.apimachinery.objects.errors import (
    FieldError,
    child,
    format_key_path,
    not_a_key,
    too_many,
    wrong_type,
)
from scheduler_core.apiserver.kinds import Kind
from scheduler_core.apiserver.schema.table import (
    LEAVES,
    Field,
    Leaf,
    fields,
    has_lost_fields,
    parse_expression,
    type_of,
)
from scheduler_core.base.releases import OLDEST, Release

# Sound objects are told quickly: all of their fields are known and of their type. What is wrong with others the strict walk says.

# A value, and whether fields that its types do not have are passed over.
Check = Callable[[Any, bool], bool]


def is_sound(manifest: Mapping[str, Any], root: str) -> bool:
    """Return True if the strict walk would find no errors; False also if only that walk can tell."""
    known = _checks(root)
    for name, value in manifest.items():
        check = known.get(name)
        if check is None or (value is not None and not check(value, name == "status")):
            return False
    return True


@cache
def _checks(type_: str) -> dict[str, Check]:
    return {name: _check(field) for name, field in fields(type_).items()}


@cache
def _check(field: Field) -> Check:
    if field.shape == "object":
        return _object(field.inner)
    if field.shape == "leaf":
        name = field.inner
        if name == "string":
            return _string
        if name == "bool":
            return lambda value, lenient: type(value) is bool
        leaf = LEAVES.get(name)
        return _anything if leaf is None else _build_leaf_check(leaf)
    item = parse_expression(field.inner)
    return _list(_check(item), _get_limit(item)) if field.shape == "list" else _map(_check(item))


def _object(type_: str) -> Check:
    def check(value: Any, lenient: bool) -> bool:
        if type(value) is not dict:
            return False
        known = _checks(type_)
        for name, entry in value.items():
            inner = known.get(name)
            if inner is None:
                if not lenient:
                    return False
            elif inner is _string:
                if type(entry) is not str and entry is not None:
                    return False
            elif entry is not None and not inner(entry, lenient):
                return False
        return True

    return check


def _get_limit(item: Field) -> int:
    """The most entries of a list. A node affinity may name every node; validation has limits of its own for devices."""
    return 20_000 if item.shape == "leaf" or item.inner.startswith("resource/") else 2000


def _list(inner: Check, most: int) -> Check:
    def check(value: Any, lenient: bool) -> bool:
        return (
            type(value) is list
            and len(value) <= most
            and all(entry is not None and inner(entry, lenient) for entry in value)
        )

    return check


def _map(inner: Check) -> Check:
    def check(value: Any, lenient: bool) -> bool:
        return type(value) is dict and all(
            type(name) is str and entry is not None and inner(entry, lenient) for name, entry in value.items()
        )

    return check


def _string(value: Any, lenient: bool) -> bool:
    return type(value) is str


def _anything(value: Any, lenient: bool) -> bool:
    return True


def _build_leaf_check(leaf: Leaf) -> Check:
    def check(value: Any, lenient: bool) -> bool:
        errors: list[FieldError] = []
        leaf(value, "", errors)
        return not errors

    return check


Errors = list[FieldError]
UNKNOWN = "unknown field"
_CLOSE = 0.75


def strict_errors(manifest: Mapping[str, Any], kind: Kind, release: Release = OLDEST) -> list[FieldError]:
    """Return the strict decoding errors of an object with apiVersion and kind in a release. Kinds outside the table pass."""
    root = type_of(kind, str(manifest.get("apiVersion")))
    errors: Errors = []
    if root and (has_lost_fields(root, release) or not is_sound(manifest, root)):
        _Walk(root, errors, release).entries(manifest, root, "")
    return errors


def metadata_errors(meta: Any) -> list[FieldError]:
    """Return what keeps the metadata of an object of any kind, a custom resource too, from being read.

    Fields that metadata does not have are told with those of the whole object.
    """
    errors: Errors = []
    if not isinstance(meta, Mapping) or not is_sound(meta, "ObjectMeta"):
        _Walk("ObjectMeta", errors, OLDEST, lenient=True).entries(meta, "ObjectMeta", "metadata")
    return errors


def strict_decoding_error(errors: Sequence[FieldError]) -> str:
    """kube's words for unknown fields; "" where there are none."""
    unknown = [f'{UNKNOWN} "{error.path}"' for error in errors if error.received.startswith(UNKNOWN)]
    return f"strict decoding error: {', '.join(unknown)}" if unknown else ""


class _Walk:
    """A walk through one object of a root type."""

    def __init__(self, root: str, errors: Errors, release: Release, lenient: bool = False) -> None:
        self._release: Release = release
        self._root = root
        self._errors = errors
        self._lenient = lenient

    def entries(self, value: Any, type_: str, path: str) -> None:
        if not isinstance(value, Mapping):
            self._errors.append(wrong_type(path, value, "an object"))
            return
        known = fields(type_, self._release)
        for name, inner in value.items():
            field = known.get(name)
            if not isinstance(name, str):
                self._errors.append(not_a_key(path, name))
            elif field is None:
                self._unknown(name, type_, path)
            elif inner is not None:
                lenient, self._lenient = self._lenient, self._lenient or (not path and name == "status")
                self.value(inner, field, child(path, name))
                self._lenient = lenient

    def value(self, value: Any, field: Field, path: str) -> None:
        if field.shape == "object":
            self.entries(value, field.inner, path)
        elif field.shape == "leaf":
            check = LEAVES.get(field.inner)
            if check is not None:
                check(value, path, self._errors)
        elif field.shape == "list":
            self._list(value, parse_expression(field.inner), path)
        elif not isinstance(value, Mapping):
            self._errors.append(wrong_type(path, value, "an object"))
        else:
            inner = parse_expression(field.inner)
            for name, entry in value.items():
                if not isinstance(name, str):
                    self._errors.append(not_a_key(path, name))
                else:
                    self._entry(entry, inner, format_key_path(path, name))

    def _list(self, value: Any, inner: Field, path: str) -> None:
        if not isinstance(value, list | tuple):
            self._errors.append(wrong_type(path, value, "a list"))
            return
        if len(value) > (most := _get_limit(inner)):
            self._errors.append(too_many(path, len(value), most))
            return
        for i, entry in enumerate(value):
            self._entry(entry, inner, f"{path}[{i}]")

    def _entry(self, entry: Any, inner: Field, path: str) -> None:
        if entry is None and inner.inner != "any":
            self._errors.append(wrong_type(path, entry, "a value"))
        else:
            self.value(entry, inner, path)

    def _unknown(self, name: str, type_: str, path: str) -> None:
        if self._lenient:
            return
        meant = _suggest_field(name, type_, self._root)
        hint = f'(did you mean "{meant}"?)' if meant else ""
        self._errors.append(FieldError(child(path, name), f'{UNKNOWN} "{name}"', hint))


@cache
def _suggest_field(name: str, type_: str, root: str) -> str:
    """The field that was meant: one beside it of nearly that name, else the first one of that name elsewhere in the object."""
    beside = list(fields(type_))
    for known in beside:
        if known.lower() == name.lower():
            return known
    close = difflib.get_close_matches(name, beside, 1, _CLOSE)
    return close[0] if close else _elsewhere(name, root)


def _elsewhere(name: str, root: str) -> str:
    """The path of the field of this name that is least deep; the status is not looked through."""
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
