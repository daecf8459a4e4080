"""What functions do: by overload, or by name where one implementation serves all overloads of a function.

An implementation takes the arguments, the receiver first, and answers a value or a Failure.
"""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.apimachinery.cel import comparison, operators
from scheduler_core.apimachinery.cel.library.conversions import CONVERSIONS
from scheduler_core.apimachinery.cel.library.kubernetes import FORMATS, QUANTITIES, VERSIONS
from scheduler_core.apimachinery.cel.library.lists import LISTS
from scheduler_core.apimachinery.cel.library.networks import NETWORKS
from scheduler_core.apimachinery.cel.library.optionals import OPTIONALS
from scheduler_core.apimachinery.cel.library.strings import PATTERNS, STRINGS
from scheduler_core.apimachinery.cel.library.times import TIMES
from scheduler_core.apimachinery.cel.library.urls import URLS

BINDINGS: dict[str, Callable[..., object]] = {
    "!_": operators.logical_not,
    "-_": operators.negate,
    "@in": operators.contains,
    "_!=_": lambda left, right: comparison.equal(left, right) is not True,
    "_%_": operators.modulo,
    "_*_": operators.multiply,
    "_+_": operators.add,
    "_-_": operators.subtract,
    "_/_": operators.divide,
    "_<=_": comparison.less_equals,
    "_<_": comparison.less,
    "_>=_": comparison.greater_equals,
    "_>_": comparison.greater,
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
