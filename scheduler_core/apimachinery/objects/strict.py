"""Strict schemas: the fields of an object and their types. Unknown fields are errors, as when kube decodes configurations.

(The table of fields in scheduler_core/apiserver/schema reads API objects.)
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from scheduler_core.apimachinery.objects.errors import FieldError, child, format_value, wrong_type

# Field paths as steps: names of fields, indexes of lists.

Step = str | int
_STEP = re.compile(r"\[([^\]]*)\]|([^.\[]+)|\.")


def parse_path(path: str) -> tuple[Step, ...]:
    """Return the steps of a path: `spec.containers[0].requests[cpu]` is ("spec", "containers", 0, "requests", "cpu")."""
    steps: list[Step] = []
    for bracket, name in _STEP.findall(path):
        if bracket:
            steps.append(int(bracket) if bracket.isdecimal() else bracket)
        elif name:
            steps.append(name)
    return tuple(steps)


INT32 = (-(2**31), 2**31 - 1)
INT64 = (-(2**63), 2**63 - 1)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A leaf: str, bool, int (within bounds), float, or Any (unchecked)."""

    kind: str
    low: int = 0
    high: int = 0


@dataclass(frozen=True, slots=True)
class ListOf:
    item: Any  # a Shape


Shape: TypeAlias = Scalar | ListOf | dict[str, Any]  # a dict is an object: field -> Shape

STRING = Scalar("string")
BOOL = Scalar("boolean")
NUMBER = Scalar("number")
ANY = Scalar("any")
INTEGER32 = Scalar("integer", *INT32)
INTEGER64 = Scalar("integer", *INT64)


def check_shape(value: Any, shape: Shape, path: str) -> list[FieldError]:
    """Return a value's deviations from its shape: wrong types, numbers out of range, unknown fields. null counts as absent."""
    if value is None or shape == ANY:
        return []
    if isinstance(shape, Scalar):
        return _check_scalar(value, shape, path)
    if isinstance(shape, ListOf):
        if not isinstance(value, list):
            return [wrong_type(path, value, "a list")]
        return [error for i, item in enumerate(value) for error in _check_item(item, shape, f"{path}[{i}]")]
    if not isinstance(value, Mapping):
        return [wrong_type(path, value, "an object")]
    return [error for name, item in value.items() for error in _check_field(name, item, shape, path)]


def _check_item(item: Any, shape: ListOf, path: str) -> list[FieldError]:
    if item is None:
        return [wrong_type(path, item, "an entry of the list")]
    return check_shape(item, shape.item, path)


def _check_field(name: Any, item: Any, shape: dict[str, Any], path: str) -> list[FieldError]:
    if name not in shape:
        return [
            FieldError(child(path, str(name)), f'unknown field "{name}"', f"expected one of {', '.join(sorted(shape))}")
        ]
    return check_shape(item, shape[name], child(path, name))


def _check_scalar(value: Any, shape: Scalar, path: str) -> list[FieldError]:
    article = "an" if shape.kind == "integer" else "a"
    if not _is_a(value, shape.kind):
        return [wrong_type(path, value, f"{article} {shape.kind}")]
    if shape.kind == "integer" and not shape.low <= value <= shape.high:
        return [FieldError(path, format_value(value), f"expected an integer from {shape.low} to {shape.high}")]
    return []


def _is_a(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "string":
        return isinstance(value, str)
    if kind == "integer":
        return isinstance(value, int)
    return kind == "number" and isinstance(value, int | float)
