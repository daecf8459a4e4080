"""Arithmetic of values, and what is asked of collections.

Whatever fails answers a Failure. Integers are 64 bits wide.

kube: vendor/github.com/google/cel-go/common/types/{int,uint,double,string,bytes,list,map,timestamp,duration,overflow,
compare}.go @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

import math

from scheduler_core.apimachinery.cel.comparison import equal
from scheduler_core.apimachinery.cel.limits import MOST_CHARACTERS, check_length, copy_steps, take_steps
from scheduler_core.apimachinery.cel.values import (
    LIST_KINDS,
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    NO_OVERLOAD,
    NOTHING,
    Duration,
    Failure,
    MutableList,
    Timestamp,
    Uint,
    find,
)

Result = object
SECOND = 1_000_000_000
_EARLIEST, _LATEST = -62_135_596_800 * SECOND, 253_402_300_800 * SECOND - 1
_INT_OVERFLOW = Failure("integer overflow")
_UINT_OVERFLOW = Failure("unsigned integer overflow")
_TIMESTAMP_OVERFLOW = Failure("timestamp overflow")
_NUMBERS = (int, Uint, float)


# --- arithmetic


def _int(value: int) -> Result:
    return value if MIN_INT <= value <= MAX_INT else _INT_OVERFLOW


def _uint(value: int) -> Result:
    return Uint(value) if 0 <= value <= MAX_UINT else _UINT_OVERFLOW


def _span(nanoseconds: int) -> Result:
    return Duration(nanoseconds) if MIN_INT <= nanoseconds <= MAX_INT else _INT_OVERFLOW


def _moment(nanoseconds: int, like: Timestamp) -> Result:
    if not _EARLIEST <= nanoseconds <= _LATEST:
        return _TIMESTAMP_OVERFLOW
    return Timestamp(nanoseconds, like.offset)


def add(left: object, right: object) -> Result:
    kind = left.__class__
    if kind is MutableList:
        return _extend_list(left, right)
    if kind is int:
        return _int(left + right) if right.__class__ is int else NO_OVERLOAD  # type: ignore[operator]
    if kind is str or kind is bytes:
        return _concatenate_texts(left, right) if right.__class__ is kind else NO_OVERLOAD
    if isinstance(left, LIST_KINDS):
        return _concatenate_lists(left, right)
    if kind is float:
        return left + right if right.__class__ is float else NO_OVERLOAD  # type: ignore[operator]
    if kind is Uint:
        return _uint(int(left) + int(right)) if right.__class__ is Uint else NO_OVERLOAD  # type: ignore[call-overload]
    if isinstance(left, Duration):
        if isinstance(right, Timestamp):
            return _moment(right.nanoseconds + left.nanoseconds, right)
        return _span(left.nanoseconds + right.nanoseconds) if isinstance(right, Duration) else NO_OVERLOAD
    if isinstance(left, Timestamp):
        if not isinstance(right, Duration):
            return NO_OVERLOAD
        return _moment(left.nanoseconds + right.nanoseconds, left)
    return Failure("no such overload: _+_")


def _concatenate_texts(left: object, right: object) -> Result:
    length = len(left) + len(right)  # type: ignore[arg-type]
    check_length(length, MOST_CHARACTERS)
    take_steps(copy_steps(length))
    return left + right  # type: ignore[operator]


def _extend_list(left: object, right: object) -> Result:
    assert isinstance(left, MutableList)
    if not isinstance(right, LIST_KINDS):
        return NO_OVERLOAD
    check_length(len(left) + len(right))
    take_steps(copy_steps(len(right)))
    left.extend(right)
    return left


def _concatenate_lists(left: list[object] | tuple[object, ...], right: object) -> Result:
    if not isinstance(right, LIST_KINDS):
        return NO_OVERLOAD
    check_length(len(left) + len(right))
    take_steps(copy_steps(len(left) + len(right)))
    return [*left, *right]


def subtract(left: object, right: object) -> Result:
    kind = left.__class__
    if kind is int:
        return _int(left - right) if right.__class__ is int else NO_OVERLOAD  # type: ignore[operator]
    if kind is float:
        return left - right if right.__class__ is float else NO_OVERLOAD  # type: ignore[operator]
    if kind is Uint:
        return _uint(int(left) - int(right)) if right.__class__ is Uint else NO_OVERLOAD  # type: ignore[call-overload]
    if isinstance(left, Duration):
        return _span(left.nanoseconds - right.nanoseconds) if isinstance(right, Duration) else NO_OVERLOAD
    if isinstance(left, Timestamp):
        if isinstance(right, Duration):
            return _moment(left.nanoseconds - right.nanoseconds, left)
        return _span(left.nanoseconds - right.nanoseconds) if isinstance(right, Timestamp) else NO_OVERLOAD
    return lacking(left, "_-_")


def lacking(left: object, function: str) -> Failure:
    """Return the failure for a type that lacks an operator; types with members of their own omit the operator's name."""
    return NO_OVERLOAD if left.__class__ in (str, Duration, Timestamp) else Failure(f"no such overload: {function}")


def multiply(left: object, right: object) -> Result:
    kind = left.__class__
    if kind is int:
        return _int(left * right) if right.__class__ is int else NO_OVERLOAD  # type: ignore[operator]
    if kind is float:
        return left * right if right.__class__ is float else NO_OVERLOAD  # type: ignore[operator]
    if kind is Uint:
        return _uint(int(left) * int(right)) if right.__class__ is Uint else NO_OVERLOAD  # type: ignore[call-overload]
    return lacking(left, "_*_")


def divide(left: object, right: object) -> Result:
    kind = left.__class__
    if kind not in _NUMBERS:
        return lacking(left, "_/_")
    if right.__class__ is not kind:
        return NO_OVERLOAD
    assert isinstance(left, int | float) and isinstance(right, int | float)
    if kind is float:
        return _divide_doubles(left, right)
    if right == 0:
        return Failure("division by zero")
    quotient = _divide_truncating(int(left), int(right))
    return Uint(quotient) if kind is Uint else _int(quotient)


def _divide_truncating(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _divide_doubles(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def modulo(left: object, right: object) -> Result:
    kind = left.__class__
    if kind is not int and kind is not Uint:
        return lacking(left, "_%_")
    if right.__class__ is not kind:
        return NO_OVERLOAD
    assert isinstance(left, int) and isinstance(right, int)
    if right == 0:
        return Failure("modulus by zero")
    if left == MIN_INT and right == -1:
        return _INT_OVERFLOW
    rest = int(left) - int(right) * _divide_truncating(int(left), int(right))
    return Uint(rest) if kind is Uint else rest


def negate(value: object) -> Result:
    kind = value.__class__
    if kind is bool:
        return NO_OVERLOAD
    if kind is int:
        return _int(-value)  # type: ignore[operator]
    if kind is float:
        return -value  # type: ignore[operator]
    if isinstance(value, Duration):
        return _span(-value.nanoseconds)
    return lacking(value, "-_")


def logical_not(value: object) -> Result:
    return not value if value.__class__ is bool else NO_OVERLOAD


# --- collections


def size(value: object) -> Result:
    if isinstance(value, str | bytes | list | tuple | dict):
        return len(value)
    return lacking(value, "size")


def contains(element: object, container: object) -> Result:
    """`element in container`."""
    if isinstance(container, dict):
        if element.__class__ is str:
            return element in container
        take_steps(copy_steps(len(container)))
        return find(dict(container), element) is not NOTHING
    if isinstance(container, LIST_KINDS):
        take_steps(len(container))
        return any(equal(element, other) is True for other in container)
    return NO_OVERLOAD
