"""Leaves of the table of types: what a value has to be that is no object, list or map. A leaf without a check may be anything."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, wrong_type
from scheduler_core.apiserver.validation import shapes

Leaf = Callable[[Any, str, list[FieldError]], None]


def _number(value: Any, path: str, errors: list[FieldError]) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        errors.append(wrong_type(path, value, "a number"))


def _base64(value: Any, path: str, errors: list[FieldError]) -> None:
    if not isinstance(value, str):
        shapes.string(value, path, errors)
        return
    text = value.replace("\n", "").replace("\r", "")
    bad = _not_base64.search(value)
    if bad or len(text) % 4:
        place = bad.start() if bad else len(value) // 4 * 4
        errors.append(FieldError(path, "", f"illegal base64 data at input byte {place}"))


_not_base64 = re.compile(r"[^A-Za-z0-9+/=\r\n]|=(?!=?[\r\n]*\Z)")


LEAVES: dict[str, Leaf] = {
    "string": shapes.string,
    "bytes": _base64,
    "bool": shapes.boolean,
    "int32": shapes.int32,
    "int64": shapes.int64,
    "number": _number,
    "quantity": shapes.quantity,
    "time": shapes.time,
    "intorstring": shapes.int_or_string,
}
