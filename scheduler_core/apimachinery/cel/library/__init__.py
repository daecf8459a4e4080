"""What functions do: by overload, or by name where one implementation serves all overloads of a function.

An implementation takes the arguments, the receiver first, and answers a value or a Failure.
"""

from collections.abc import Callable, Sequence

from scheduler_core.apimachinery.cel import operators
from scheduler_core.apimachinery.cel.library.conversions import CONVERSIONS
from scheduler_core.apimachinery.cel.library.kubernetes import FORMATS, QUANTITIES, VERSIONS
from scheduler_core.apimachinery.cel.library.lists import LISTS
from scheduler_core.apimachinery.cel.library.networks import NETWORKS
from scheduler_core.apimachinery.cel.library.strings import PATTERNS, STRINGS
from scheduler_core.apimachinery.cel.library.times import TIMES
from scheduler_core.apimachinery.cel.library.urls import URLS
from scheduler_core.apimachinery.cel.operators import SECOND
from scheduler_core.apimachinery.cel.texts import go_value
from scheduler_core.apimachinery.cel.values import NONE, NOTHING, Duration, Failure, Optional, Timestamp

# optional values. kube: vendor/github.com/google/cel-go/cel/library.go @ v1.34.1 (cel-go v0.26.0)

_YEAR_ONE = -62_135_596_800 * SECOND


def _is_zero(value: object) -> bool:
    if value is None:
        return True
    if isinstance(value, bool | int | float | str | bytes | list | tuple | dict):
        return not value
    if isinstance(value, Duration):
        return value.nanoseconds == 0
    return isinstance(value, Timestamp) and value.nanoseconds == _YEAR_ONE


def _value(optional: Optional) -> object:
    return Failure("optional.none() dereference") if optional.value is NOTHING else optional.value


def _unwrap(values: Sequence[object]) -> object:
    found = []
    for value in values:
        if not isinstance(value, Optional):
            return Failure(f"value {go_value(value)} is not optional")
        if value.value is not NOTHING:
            found.append(value.value)
    return found


OPTIONALS: dict[str, Callable[..., object]] = {
    "optional_none": lambda: NONE,
    "optional_of": Optional,
    "optional_ofNonZeroValue": lambda value: NONE if _is_zero(value) else Optional(value),
    "optional_value": _value,
    "optional_hasValue": lambda optional: optional.value is not NOTHING,
    "optional_unwrap": _unwrap,
    "optional_unwrapOpt": _unwrap,
    "list_first": lambda values: Optional(values[0]) if values else NONE,
    "list_last": lambda values: Optional(values[-1]) if values else NONE,
}

BINDINGS: dict[str, Callable[..., object]] = {
    "!_": operators.logical_not,
    "-_": operators.negate,
    "@in": operators.contains,
    "_!=_": lambda left, right: operators.equal(left, right) is not True,
    "_%_": operators.modulo,
    "_*_": operators.multiply,
    "_+_": operators.add,
    "_-_": operators.subtract,
    "_/_": operators.divide,
    "_<=_": operators.less_equals,
    "_<_": operators.less,
    "_>=_": operators.greater_equals,
    "_>_": operators.greater,
    "size": operators.size,
    **CONVERSIONS,
    **FORMATS,
    **LISTS,
    **NETWORKS,
    **OPTIONALS,
    **PATTERNS,
    **QUANTITIES,
    **STRINGS,
    **TIMES,
    **URLS,
    **VERSIONS,
}
