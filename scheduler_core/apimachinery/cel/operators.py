"""Arithmetic of values, and what is asked of collections.

Whatever fails answers a Failure. Integers are 64 bits wide.

kube: vendor/github.com/google/cel-go/common/types/{int,uint,double,string,bytes,list,map,timestamp,duration,overflow,
compare}.go @ v1.34.1 (cel-go v0.26.0)
"""

import math
from collections.abc import Callable

from scheduler_core.apimachinery.cel.limits import MOST_CHARACTERS, check_length, copy_steps, take_steps
from scheduler_core.apimachinery.cel.types import Type
from scheduler_core.apimachinery.cel.values import (
    KUBE_KINDS,
    LIST_KINDS,
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    NO_OVERLOAD,
    NOTHING,
    Duration,
    Failure,
    MutableList,
    Optional,
    QuantityValue,
    SemverValue,
    Timestamp,
    Uint,
    find,
    value_of_key,
)

# Whether values are equal, and which is less. Numbers of different types compare by value.
# kube: vendor/github.com/google/cel-go/common/types/{compare,int,uint,double,list,map,optional}.go,
# apiserver/pkg/cel/{quantity,semver,ip,cidr,url,format}.go @ v1.34.1 (cel-go v0.26.0)

_NOT_A_NUMBER = Failure("NaN values cannot be ordered")
_NUMBERS = (int, Uint, float)


# --- equality


def equal(left: object, right: object) -> bool | Failure:
    """Return whether two values are equal. Values of kube's own types are comparable only with their own type."""
    kind = left.__class__
    if left is None or right is None:
        return left is right
    if kind is str or kind is bool or kind is bytes:
        return kind is right.__class__ and left == right
    if kind in _NUMBERS:
        return right.__class__ in _NUMBERS and compare_numbers(left, right) == 0
    if isinstance(left, LIST_KINDS):
        return isinstance(right, LIST_KINDS) and _equal_lists(left, right)
    if isinstance(left, dict):
        return isinstance(right, dict) and _equal_maps(left, right)
    if kind is Optional:
        return right.__class__ is Optional and _equal_optionals(left, right)
    if kind is Type:
        return right.__class__ is Type and left.name == right.name  # type: ignore[attr-defined]
    if kind in KUBE_KINDS:
        return _equal_kube(left, right)
    return kind is right.__class__ and left == right


def _equal_lists(left: list[object] | tuple[object, ...], right: list[object] | tuple[object, ...]) -> bool:
    if len(left) != len(right):
        return False
    for one, other in zip(left, right, strict=True):
        take_steps()
        if equal(one, other) is False:
            return False
    return True


def _equal_maps(left: dict[object, object], right: dict[object, object]) -> bool:
    if len(left) != len(right):
        return False
    for key, value in left.items():
        take_steps()
        other = find(right, value_of_key(key))
        if other is NOTHING or equal(value, other) is False:
            return False
    return True


def _equal_optionals(left: object, right: object) -> bool | Failure:
    assert isinstance(left, Optional) and isinstance(right, Optional)
    if left.value is NOTHING or right.value is NOTHING:
        return left.value is right.value
    return equal(left.value, right.value)


def _equal_kube(left: object, right: object) -> bool | Failure:
    if left.__class__ is not right.__class__ or (isinstance(right, QuantityValue) and right.computed):
        return NO_OVERLOAD
    if isinstance(left, SemverValue) and isinstance(right, SemverValue):
        return compare_versions(left, right) == 0
    return left == right


def compare_numbers(left: object, right: object) -> int:
    """-1, 0 or 1; 1 where one is not a number."""
    assert isinstance(left, int | float) and isinstance(right, int | float)
    if isinstance(left, float) != isinstance(right, float):
        if isinstance(left, float):
            return _compare_double(left, right)
        return -_compare_double(right, left) if right == right else 1
    if left == right:
        return 0
    return -1 if left < right else 1


def _compare_double(left: float, right: int | float) -> int:
    """Compare a double with an integer. The integer is rounded to a double unless the double is out of its range."""
    low, high = (0, MAX_UINT) if right.__class__ is Uint else (MIN_INT, MAX_INT)
    if left < low:
        return -1
    if left > float(high):
        return 1
    rounded = float(right)
    if left == rounded:
        return 0
    return -1 if left < rounded else 1


def compare_versions(left: SemverValue, right: SemverValue) -> int:
    """Compare two versions by number and pre-release, ignoring the build; return -1, 0, or 1."""
    first, second = (left.major, left.minor, left.patch), (right.major, right.minor, right.patch)
    if first != second:
        return -1 if first < second else 1
    if not left.pre or not right.pre:
        return bool(right.pre) - bool(left.pre)
    ours = [(isinstance(part, str), part) for part in left.pre]
    theirs = [(isinstance(part, str), part) for part in right.pre]
    return 0 if ours == theirs else -1 if ours < theirs else 1


# --- order


def compare(left: object, right: object, function: str) -> int | Failure:
    """-1, 0 or 1."""
    kind = left.__class__
    if kind in _NUMBERS:
        if left != left:
            return _NOT_A_NUMBER
        if right.__class__ not in _NUMBERS:
            return NO_OVERLOAD
        return _NOT_A_NUMBER if right != right else compare_numbers(left, right)
    if kind is Duration or kind is Timestamp:
        if right.__class__ is not kind:
            return NO_OVERLOAD
        left, right = left.nanoseconds, right.nanoseconds  # type: ignore[attr-defined]
    elif kind not in (bool, str, bytes):
        return Failure(f"no such overload: {function}")
    elif right.__class__ is not kind:
        return NO_OVERLOAD
    return 0 if left == right else -1 if left < right else 1  # type: ignore[operator]


def _build_comparison(function: str, answers: tuple[int, ...]) -> Callable[[object, object], object]:
    def ordered(left: object, right: object) -> object:
        order = compare(left, right, function)
        return order if order.__class__ is Failure else order in answers

    return ordered


less = _build_comparison("_<_", (-1,))
less_equals = _build_comparison("_<=_", (-1, 0))
greater = _build_comparison("_>_", (1,))
greater_equals = _build_comparison("_>=_", (0, 1))

Result = object
SECOND = 1_000_000_000
_EARLIEST, _LATEST = -62_135_596_800 * SECOND, 253_402_300_800 * SECOND - 1
_INT_OVERFLOW = Failure("integer overflow")
_UINT_OVERFLOW = Failure("unsigned integer overflow")
_TIMESTAMP_OVERFLOW = Failure("timestamp overflow")


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
        if right != 0:
            return left / right
        if left == 0 or left != left:
            return math.nan
        return math.copysign(math.inf, left) * math.copysign(1.0, right)
    if right == 0:
        return Failure("division by zero")
    quotient = _divide_truncating(int(left), int(right))
    return Uint(quotient) if kind is Uint else _int(quotient)


def _divide_truncating(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


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
    """Evaluate `element in container`."""
    if isinstance(container, dict):
        if element.__class__ is str:
            return element in container
        take_steps(copy_steps(len(container)))
        return find(dict(container), element) is not NOTHING
    if isinstance(container, LIST_KINDS):
        take_steps(len(container))
        return any(equal(element, other) is True for other in container)
    return NO_OVERLOAD
