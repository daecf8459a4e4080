"""Shapes: the types of values, and of the metadata of every object. Fields that no shape names may hold anything.

A shape is a function (value, path, errors) that appends what is wrong. null counts as absent, as in kube. With an empty path it says no
places, which is much quicker: that is how objects are looked at of which nothing is wrong. The types of all other fields are in the
table of fields (schema).

kube: api/core/v1/types.go and others @ v1.34.1
"""

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.apimachinery.objects.errors import (
    FieldError,
    child,
    format_key_path,
    format_value,
    not_a_key,
    too_many,
    wrong_type,
)
from scheduler_core.apimachinery.objects.quantity import EXPECTED, BadQuantity, nanos
from scheduler_core.apimachinery.objects.times import parse_time

Shape = Callable[[Any, str, list[FieldError]], None]
_MAPPING = (dict, Mapping)  # a dict is told at once


def string(value: Any, path: str, errors: list[FieldError]) -> None:
    if value is not None and not isinstance(value, str):
        errors.append(wrong_type(path, value, "a string"))


def boolean(value: Any, path: str, errors: list[FieldError]) -> None:
    if value is not None and not isinstance(value, bool):
        errors.append(wrong_type(path, value, "true or false"))


def _integer(bits: int) -> Shape:
    bound = 1 << (bits - 1)

    def check(value: Any, path: str, errors: list[FieldError]) -> None:
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, int):
            errors.append(wrong_type(path, value, "a whole number"))
        elif not -bound <= value < bound:
            errors.append(FieldError(path, format_value(value), f"does not fit into {bits} bits"))

    return check


int32, int64 = _integer(32), _integer(64)


def int_or_string(value: Any, path: str, errors: list[FieldError]) -> None:
    if not isinstance(value, str):
        int32(value, path, errors)


def time(value: Any, path: str, errors: list[FieldError]) -> None:
    if value is None:
        return
    try:
        parse_time(value)
    except (TypeError, ValueError, OverflowError):
        errors.append(FieldError(path, format_value(value), "is not a time. Write it as 2026-01-31T12:00:00Z"))


def quantity(value: Any, path: str, errors: list[FieldError]) -> None:
    try:
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            nanos(value)
            return
    except BadQuantity:
        pass
    errors.append(FieldError(path, format_value(value), EXPECTED))


def mapping(item: Shape) -> Shape:
    """An object with any keys, every value of one shape. A null value is an error."""

    def check(value: Any, path: str, errors: list[FieldError]) -> None:
        if value is None:
            return
        if not isinstance(value, _MAPPING):
            errors.append(wrong_type(path, value, "an object"))
            return
        for name, entry in value.items():
            where = format_key_path(path, str(name)) if path else ""
            if not isinstance(name, str):
                errors.append(not_a_key(path, name))
            elif entry is None:
                errors.append(wrong_type(where, entry, "a value"))
            else:
                item(entry, where, errors)

    return check


def list_of(item: Shape, most: int = 2000) -> Shape:
    """A list of at most so many entries, every one of one shape. A null entry is an error."""

    def check(value: Any, path: str, errors: list[FieldError]) -> None:
        if value is None:
            return
        if not isinstance(value, list | tuple):
            errors.append(wrong_type(path, value, "a list"))
            return
        if len(value) > most:
            errors.append(too_many(path, len(value), most))
            return
        for i, entry in enumerate(value):
            where = f"{path}[{i}]" if path else ""
            if entry is None:
                errors.append(wrong_type(where, entry, "a value"))
            else:
                item(entry, where, errors)

    return check


def record(strings: str = "", /, **others: Shape) -> Shape:
    """An object with named fields: `strings` are names with blanks between them, `others` have other shapes. All else may be anything."""
    fields = {**dict.fromkeys(strings.split(), string), **others}

    def check(value: Any, path: str, errors: list[FieldError]) -> None:
        if value is None:
            return
        if not isinstance(value, _MAPPING):
            errors.append(wrong_type(path, value, "an object"))
            return
        for name, entry in value.items():
            shape = fields.get(name)
            if shape is not None:
                shape(entry, child(path, name) if path else "", errors)
            elif not isinstance(name, str):
                errors.append(not_a_key(path, name))

    return check


def validate_shape(shape: Shape, value: Any, path: str, errors: list[FieldError]) -> None:
    """Appends what is wrong with the value at a path."""
    found: list[FieldError] = []
    shape(value, "", found)
    if found:
        shape(value, path, errors)


STRINGS = list_of(string)
STRING_MAP = mapping(string)

METADATA = record(
    "name generateName namespace uid resourceVersion",
    labels=STRING_MAP,
    annotations=STRING_MAP,
    creationTimestamp=time,
    deletionTimestamp=time,
    deletionGracePeriodSeconds=int64,
    generation=int64,
    finalizers=STRINGS,
    ownerReferences=list_of(record("apiVersion kind name uid", controller=boolean)),
)
