"""Run-time costs of calls, computed from their arguments and results.

kube: vendor/github.com/google/cel-go/interpreter/runtimecost.go @ v1.34.1 (cel-go v0.26.0); apiserver/pkg/cel/library/cost.go @ v1.34.1
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from scheduler_core.apimachinery.cel.limits import InternalError, take_steps
from scheduler_core.apimachinery.cel.texts import go_type
from scheduler_core.apimachinery.cel.values import (
    KUBE_KINDS,
    LIST_KINDS,
    NOTHING,
    CidrValue,
    Duration,
    FormatValue,
    IpValue,
    Optional,
    Timestamp,
    value_of_key,
)

TEXT = 0.1  # of a character that is looked at
PATTERN = 0.25  # of a character of a regular expression
LIST, MAP, STRUCT = 10, 30, 40  # to make one
_FORMATS = {  # characters of the regular expression that a format stands for
    "DNS1123Label": 30,
    "DNS1123Subdomain": 60,
    "DNS1035Label": 30,
    "QualifiedName": 60,
    "DNS1123LabelPrefix": 30,
    "DNS1123SubdomainPrefix": 60,
    "DNS1035LabelPrefix": 30,
    "LabelValue": 40,
    "URI": 1103,
    "uuid": 70,
    "byte": 84,
    "date": 71,
    "datetime": 71,
}

SORTED = ("int", "uint", "double", "bool", "google.protobuf.Duration", "google.protobuf.Timestamp", "string", "bytes")
_ADDABLE = (bytes, float, Duration, int, str, Timestamp)

CallCost = Callable[[Sequence[object], object], int]
"""From the arguments, the receiver first, and the result."""

# fmt: off
COSTS_ONE = frozenset(
    (
        "masked", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast",
        "isLinkLocalUnicast", "isGlobalUnicast", "format.named", "sign", "asInteger", "isInteger",
        "asApproximateFloat", "isGreaterThan", "isLessThan", "compareTo", "add", "sub", "major", "minor",
        "patch", "getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery",
    )
)
# fmt: on


_SIZED = (str, bytes, list, tuple, dict)


def size_of(value: object) -> int:
    """Return the number of characters, bytes, or elements; 1 for other values."""
    if isinstance(value, _SIZED):
        return len(value)
    if isinstance(value, IpValue):
        return value.address.max_prefixlen // 8
    if isinstance(value, CidrValue):
        return math.ceil(value.bits / 8)
    return 1


def _size(value: object) -> int:
    """Return the size as cel-go's own functions count it: of the value in an optional."""
    kind = value.__class__
    if kind is str:
        return len(value)  # type: ignore[arg-type]
    if kind is int or kind is bool or value is None:
        return 1
    while isinstance(value, Optional) and value.value is not NOTHING:
        value = value.value
    return size_of(value)


def _ceil(count: float) -> int:
    return math.ceil(count)


def traversal(value: object) -> int:
    """Return the cost of traversing a value."""
    if isinstance(value, str):
        return int(len(value.encode()) * TEXT)
    if isinstance(value, bytes):
        return int(len(value) * TEXT)
    if isinstance(value, LIST_KINDS):
        return sum(_parts(value))
    if isinstance(value, dict):
        keys = [value_of_key(key) for key in value]
        return sum(_parts(keys)) + sum(_parts(value.values()))
    return 1


def _parts(values: Iterable[object]) -> Iterator[int]:
    for value in values:
        take_steps()
        yield traversal(value)


def _text(args: Sequence[object], result: object) -> int:
    return _ceil(size_of(args[0]) * TEXT)


def _text_twice(args: Sequence[object], result: object) -> int:
    return _ceil(size_of(args[0]) * 2 * TEXT)


def _search(args: Sequence[object], result: object) -> int:
    return _ceil((1.0 + size_of(args[0])) * TEXT) * _ceil(size_of(args[1]) * PATTERN)


def _compute_traversal_cost(args: Sequence[object], result: object) -> int:
    return traversal(args[0])


def _compare(args: Sequence[object], result: object) -> int:
    return _ceil(2 * size_of(args[0]) * TEXT)


def _compare_networks(args: Sequence[object], result: object) -> int:
    return _compare(args, result) + _text(args, result) + 1


def _parsing(cost: CallCost) -> CallCost:
    return lambda args, result: cost(args, result) + _ceil(size_of(args[1]) * TEXT)


def _validate(args: Sequence[object], result: object) -> int:
    if not isinstance(args[0], FormatValue):
        return 1
    return _ceil((1.0 + size_of(args[1])) * TEXT) * _ceil(_FORMATS[args[0].name] * PATTERN)


def _equals(args: Sequence[object], result: object) -> int:
    if args[0].__class__ in KUBE_KINDS:
        return 1
    return _compute_compare_cost(args, result)


def _compute_compare_cost(args: Sequence[object], result: object) -> int:
    return _ceil(min(_size(args[0]), _size(args[1])) * TEXT)


def _own_text(args: Sequence[object], result: object) -> int:
    return _ceil(_size(args[0]) * TEXT)


def _both(args: Sequence[object], result: object) -> int:
    return _ceil((_size(args[0]) + _size(args[1])) * TEXT)


def _compute_list_cost(size: int, factor: float = 1.0) -> int:
    """Return the cost of a call that builds a list."""
    return int(float(size) * factor) + 1 + LIST


def _result_list(args: Sequence[object], result: object) -> int:
    return _compute_list_cost(size_of(result))


def _compute_flatten_cost(args: Sequence[object], result: object) -> int:
    depth = 1
    if len(args) == 2:
        if not isinstance(args[1], int) or args[1].__class__ is not int:
            raise InternalError(f"interface conversion: ref.Val is {go_type(args[1])}, not types.Int")
        depth = args[1]
    # A cost as kube's 64 unsigned bits hold it.
    return _compute_list_cost(size_of(args[0]), depth) % (1 << 64)


def _self_compared(which: int) -> CallCost:
    """All elements of an argument with each other."""

    def cost(args: Sequence[object], result: object) -> int:
        values = args[which]
        if not isinstance(values, LIST_KINDS):
            missing = "Contains" if isinstance(values, _ADDABLE) and not isinstance(values, bool) else "Add"
            raise InternalError(
                f"interface conversion: {go_type(values)} is not traits.Lister: missing method {missing}"
            )
        factor = 2.0
        if values and isinstance(values[0], str | bytes):
            factor += TEXT
        return _compute_list_cost(len(values) * len(values), factor)

    return cost


def _sets(factor: int) -> CallCost:
    return lambda args, result: 1 + size_of(args[0]) * size_of(args[1]) * factor


_BY_FUNCTION: dict[str, CallCost] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _compute_traversal_cost),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _text),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _text_twice),
    "join": lambda args, result: _ceil(size_of(result) * 2 * TEXT),
    **dict.fromkeys(("find", "findAll"), _search),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _text),
    "ip": _text,
    "containsIP": _compare,
    "containsCIDR": _compare_networks,
    "validate": _validate,
    "_==_": _equals,
}
_BY_OVERLOAD: dict[str, CallCost] = {
    "cidr_contains_ip_string": _parsing(_compare),
    "cidr_contains_cidr_string": _parsing(_compare_networks),
    **dict.fromkeys(
        ("starts_with_string", "ends_with_string", "string_to_bytes", "bytes_to_string", "strings_quote"), _own_text
    ),
    "string_format": _own_text,
    "in_list": lambda args, result: _size(args[1]),
    **dict.fromkeys(
        [
            f"{order}_{kind}"
            for order in ("less", "greater", "less_equals", "greater_equals")
            for kind in ("string", "bytes")
        ],
        _compute_compare_cost,
    ),
    "not_equals": _compute_compare_cost,
    "add_string": _both,
    "add_bytes": _both,
    **dict.fromkeys(("list_slice", "lists_range", "list_reverse"), _result_list),
    **dict.fromkeys(("list_flatten", "list_flatten_int"), _compute_flatten_cost),
    "list_distinct": _self_compared(0),
    **{f"list_{kind}_sort": _self_compared(0) for kind in SORTED},
    **{f"list_{kind}_sortByAssociatedKeys": _self_compared(1) for kind in SORTED},
    **dict.fromkeys(("list_sets_contains_list", "list_sets_intersects_list"), _sets(1)),
    "list_sets_equivalent_list": _sets(2),
    "matches_string": lambda args, result: _ceil((1.0 + _size(args[0])) * TEXT) * _ceil(_size(args[1]) * PATTERN),
    "contains_string": lambda args, result: _ceil(_size(args[0]) * TEXT) * _ceil(_size(args[1]) * TEXT),
}


def call_cost(function: str, overload: str) -> CallCost | None:
    """Return the cost function of an overload, None if the cost is always 1. `overload` is "" if several are possible."""
    if function in COSTS_ONE or overload == "cidr_ip":
        return None
    return _BY_OVERLOAD.get(overload) or _BY_FUNCTION.get(function)
