"""Leaves of the table of types: what a value has to be that is no object, list or map. A leaf without a check may be anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_core.api.validation import shapes
from scheduler_core.objects.errors import FieldError, wrong_type

Leaf = Callable[[Any, str, list[FieldError]], None]


def _number(value: Any, path: str, errors: list[FieldError]) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        errors.append(wrong_type(path, value, "a number"))


LEAVES: dict[str, Leaf] = {
    "string": shapes.string,
    "bytes": shapes.string,
    "bool": shapes.boolean,
    "int32": shapes.int32,
    "int64": shapes.int64,
    "number": _number,
    "quantity": shapes.quantity,
    "time": shapes.time,
    "intorstring": shapes.int_or_string,
}
