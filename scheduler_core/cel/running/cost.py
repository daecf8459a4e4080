"""What a call costs at run time, once its arguments and its result are known.

kube: vendor/github.com/google/cel-go/interpreter/runtimecost.go @ v1.34.1 (cel-go v0.26.0);
apiserver/pkg/cel/library/cost.go @ v1.34.1
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from scheduler_core.cel.values import (
    NOTHING,
    CidrValue,
    FormatValue,
    IpValue,
    Optional,
    QuantityValue,
    SemverValue,
    UrlValue,
    value_of_key,
)

TEXT = 0.1  # of a character that is looked at
PATTERN = 0.25  # of a character of a regular expression
LIST, MAP, STRUCT = 10, 30, 40  # to make one
LONGEST_FORMAT = {"byte": 128}
_PATTERN_OF_FORMAT = 128

CallCost = Callable[[Sequence[object], object], int]
"""From the arguments, the receiver first, and the result."""

_KUBE = (QuantityValue, IpValue, CidrValue, FormatValue, UrlValue, SemverValue)
# fmt: off
_ONE = frozenset(
    (
        "masked", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast",
        "isLinkLocalUnicast", "isGlobalUnicast", "format.named", "sign", "asInteger", "isInteger",
        "asApproximateFloat", "isGreaterThan", "isLessThan", "compareTo", "add", "sub", "major", "minor",
        "patch", "getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery",
    )
)
# fmt: on


def size_of(value: object) -> int:
    """Characters, bytes or elements; 1 of all else."""
    if isinstance(value, str | bytes | list | tuple | dict):
        return len(value)
    if isinstance(value, IpValue | CidrValue):
        return value.address.max_prefixlen // 8
    return 1


def _size(value: object) -> int:
    """As cel-go's own functions count: of what an optional holds."""
    while isinstance(value, Optional) and value.value is not NOTHING:
        value = value.value
    return size_of(value)


def _ceil(count: float) -> int:
    return math.ceil(count)


def traversal(value: object) -> int:
    """What it costs to look at all of a value."""
    if isinstance(value, str):
        return int(len(value.encode()) * TEXT)
    if isinstance(value, bytes):
        return int(len(value) * TEXT)
    if isinstance(value, list | tuple):
        return sum(map(traversal, value))
    if isinstance(value, dict):
        return sum(traversal(value_of_key(key)) + traversal(held) for key, held in value.items())
    return 1


def _text(args: Sequence[object], result: object) -> int:
    return _ceil(size_of(args[0]) * TEXT)


def _text_twice(args: Sequence[object], result: object) -> int:
    return _ceil(size_of(args[0]) * 2 * TEXT)


def _result_twice(args: Sequence[object], result: object) -> int:
    return _ceil(size_of(result) * 2 * TEXT)


def _search(args: Sequence[object], result: object) -> int:
    return _ceil((1.0 + size_of(args[0])) * TEXT) * _ceil(size_of(args[1]) * PATTERN)


def _traversed(args: Sequence[object], result: object) -> int:
    return traversal(args[0])


def _contains_ip(parsed: bool) -> CallCost:
    def cost(args: Sequence[object], result: object) -> int:
        own, other = size_of(args[0]), size_of(args[1])
        return _ceil((own + own) * TEXT) + (_ceil(other * TEXT) if parsed else 0)

    return cost


def _contains_cidr(parsed: bool) -> CallCost:
    def cost(args: Sequence[object], result: object) -> int:
        own, other = size_of(args[0]), size_of(args[1])
        compared = _ceil((own + own) * TEXT) + _ceil(own * TEXT) + 1
        return compared + (_ceil(other * TEXT) if parsed else 0)

    return cost


def _validate(args: Sequence[object], result: object) -> int:
    if not isinstance(args[0], FormatValue):
        return 1
    longest = LONGEST_FORMAT.get(args[0].name, _PATTERN_OF_FORMAT)
    return _ceil((1.0 + size_of(args[1])) * TEXT) * _ceil(longest * PATTERN)


def _equals(args: Sequence[object], result: object) -> int:
    if args[0].__class__ in _KUBE:
        return 1
    return _compared(args, result)


def _compared(args: Sequence[object], result: object) -> int:
    return _ceil(min(_size(args[0]), _size(args[1])) * TEXT)


def _own_text(args: Sequence[object], result: object) -> int:
    return _ceil(_size(args[0]) * TEXT)


def _both(args: Sequence[object], result: object) -> int:
    return _ceil((_size(args[0]) + _size(args[1])) * TEXT)


def _matched(args: Sequence[object], result: object) -> int:
    return _ceil((1.0 + _size(args[0])) * TEXT) * _ceil(_size(args[1]) * PATTERN)


def _contained(args: Sequence[object], result: object) -> int:
    return _ceil(_size(args[0]) * TEXT) * _ceil(_size(args[1]) * TEXT)


def _in_list(args: Sequence[object], result: object) -> int:
    return _size(args[1])


_BY_FUNCTION: dict[str, CallCost] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _traversed),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _text),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _text_twice),
    "join": _result_twice,
    **dict.fromkeys(("find", "findAll"), _search),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _text),
    "validate": _validate,
    "_==_": _equals,
}
_BY_OVERLOAD: dict[str, CallCost] = {
    **dict.fromkeys(
        ("starts_with_string", "ends_with_string", "string_to_bytes", "bytes_to_string", "strings_quote"),
        _own_text,
    ),
    "string_format": _own_text,
    "in_list": _in_list,
    **dict.fromkeys(
        [
            f"{order}_{kind}"
            for order in ("less", "greater", "less_equals", "greater_equals")
            for kind in ("string", "bytes")
        ],
        _compared,
    ),
    "not_equals": _compared,
    "add_string": _both,
    "add_bytes": _both,
    "matches_string": _matched,
    "contains_string": _contained,
}


def call_cost(function: str, overload: str) -> CallCost | None:
    """What calls of this overload cost, None where it is always 1. `overload` is "" where several may be meant."""
    if function in _ONE:
        return None
    if function == "ip":
        return None if overload == "cidr_ip" else _text
    if function == "containsIP":
        return _contains_ip(overload == "cidr_contains_ip_string")
    if function == "containsCIDR":
        return _contains_cidr(overload == "cidr_contains_cidr_string")
    return _BY_FUNCTION.get(function) or _BY_OVERLOAD.get(overload)
