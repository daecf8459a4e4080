"""Sound objects are told quickly: all of their fields are known and of their type. What is wrong with others the strict walk says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError
from scheduler_core.apiserver.schema.table import LEAVES, Field, Leaf, fields, parse_expression

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
        return _leaf(field.inner)
    inner = _check(parse_expression(field.inner))
    return _list(inner) if field.shape == "list" else _map(inner)


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


def _list(inner: Check) -> Check:
    def check(value: Any, lenient: bool) -> bool:
        return type(value) is list and all(entry is not None and inner(entry, lenient) for entry in value)

    return check


def _map(inner: Check) -> Check:
    def check(value: Any, lenient: bool) -> bool:
        return type(value) is dict and all(entry is not None and inner(entry, lenient) for entry in value.values())

    return check


def _leaf(name: str) -> Check:
    if name == "string":
        return _string
    if name == "bool":
        return lambda value, lenient: type(value) is bool
    leaf = LEAVES.get(name)
    return _anything if leaf is None else _build_leaf_check(leaf)


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
