"""Estimates of the cost of calls and of the sizes of their results.

kube: apiserver/pkg/cel/library/cost.go @ v1.34.1; vendor/github.com/google/cel-go/{checker/cost,ext/lists,ext/sets}.go (cel-go v0.26.0)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from scheduler_core.apimachinery.cel.estimate import ranges
from scheduler_core.apimachinery.cel.running.cost import COSTS_ONE, LIST, PATTERN, SORTED, TEXT
from scheduler_core.apimachinery.cel.syntax.tree import Literal, Node
from scheduler_core.apimachinery.cel.types import CIDR, IP, NAMED_FORMAT, QUANTITY, SEMVER, URL, Kind, Type


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument, or the receiver, as far as its cost matters. `path` is () where it is not that of a variable."""

    node: Node | None
    type: Type
    path: tuple[str, ...]
    computed: ranges.Range | None
    roots: Mapping[str, ranges.DeclaredSize]

    @property
    def size(self) -> ranges.Range:
        """Computed, or declared, or unknown."""
        if self.computed is not None:
            return self.computed
        return ranges.find_declared_size(self.roots, self.path) or ranges.UNKNOWN

    @property
    def known(self) -> ranges.Range:
        """The computed range, or UNKNOWN."""
        return self.computed or ranges.UNKNOWN

    def element(self) -> Argument | None:
        if not self.type.params:
            return None
        path = (*self.path, "@items") if self.path else ()
        return Argument(None, self.type.params[0], path, None, self.roots)


@dataclass(frozen=True, slots=True)
class Call:
    """A call's cost without that of its arguments, and the size of its result."""

    cost: ranges.Range
    size: ranges.Range | None = None


Args = Sequence[Argument]
Estimator = Callable[[Args], Call | None]
"""Of the arguments, the receiver first; None where it has nothing to say."""


def _text(args: Args) -> Call:
    """Estimate a call that scans a text."""
    return Call(args[0].size.scaled(TEXT))


def _sized_text(args: Args) -> Call:
    """Estimate a call that scans a text and returns a result of the same size."""
    return Call(args[0].size.scaled(TEXT), args[0].size)


def _elements(args: Args) -> Call:
    """All elements of a list, or all characters of a text."""
    element = args[0].element()
    if element is None:
        return _text(args)
    each = ranges.ONE
    if element.type.kind in (Kind.STRING, Kind.BYTES):
        each = each.plus(element.size.scaled(TEXT))
    return Call(args[0].size.times(each))


def _replace(args: Args) -> Call:
    size, old, new = (each.size for each in args[:3])
    if old.min == 0:
        most, kept_most = min(size.max + 1, ranges.MOST), size.max
    elif new.max <= old.min:
        most, kept_most = 0, size.max
    else:
        most, kept_most = _ceil_div(size.max, old.min), 0
    if old.max == 0:
        least, kept_least = min(size.min + 1, ranges.MOST), size.min
    elif old.max <= new.min:
        least, kept_least = 0, size.min
    else:
        least, kept_least = _ceil_div(size.min, old.max), 0
    result = ranges.Range(least, most).times(new).plus(ranges.Range(kept_least, kept_most))
    return Call(size.scaled(2 * TEXT), result)


def _ceil_div(count: int, by: int) -> int:
    number = float(count) / float(by)
    return min(int(number) + (number != int(number)), ranges.MOST)


def _split(args: Args) -> Call:
    size = args[0].size
    limit = _literal_int(args[2]) if len(args) > 2 else None
    return Call(size.scaled(2 * TEXT), ranges.Range(0, size.max if limit is None else limit % (1 << 64)))


def _literal_int(argument: Argument) -> int | None:
    node = argument.node
    if isinstance(node, Literal) and node.value.__class__ is int and isinstance(node.value, int):
        return node.value
    return None


def _join(args: Args) -> Call:
    count, element = args[0].size, args[0].element()
    size = ranges.NONE if element is None else count.times(element.size)
    if len(args) > 1:
        between = ranges.Range(max(count.min - 1, 0), max(count.max - 1, 0))
        size = size.plus(args[1].size.times(between))
    return Call(size.scaled(TEXT), size)


def _find(args: Args) -> Call:
    size = args[0].size
    cost = size.plus(ranges.ONE).scaled(TEXT).times(args[1].size.scaled(PATTERN))
    return Call(cost, ranges.Range(0, size.max))


_ADDRESS = ranges.Range(4, 16)
_COMPARED = _ADDRESS.plus(_ADDRESS).scaled(TEXT)


def _parsing(cost: ranges.Range) -> Estimator:
    """Return an estimator for a comparison that first parses a text."""
    return lambda args: Call(cost.plus(args[1].size.scaled(TEXT)))


def _equals(args: Args) -> Call | None:
    left, right = args
    if left.type != right.type:
        return None
    if left.type in (IP, CIDR, QUANTITY, SEMVER):
        return Call(ranges.ONE)
    if left.type == NAMED_FORMAT:
        return Call(ranges.Range(1, 64).scaled(TEXT))
    if left.type == URL:
        most = 1 if right.computed is None else right.computed.max
        return Call(ranges.Range(1, most).scaled(TEXT))
    return None


_BY_FUNCTION: dict[str, Estimator] = {
    **dict.fromkeys(COSTS_ONE, lambda args: Call(ranges.ONE)),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _elements),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _sized_text),
    "replace": _replace,
    "split": _split,
    "join": _join,
    **dict.fromkeys(("find", "findAll"), _find),
    **dict.fromkeys(("ip", "cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _text),
    "ip.isCanonical": lambda args: Call(args[0].size.scaled(2 * TEXT)),
    "validate": lambda args: Call(args[1].size.scaled(TEXT).scaled(128 * PATTERN)),
    "_==_": _equals,
}
# Overloads that are estimated unlike others of their function.
_NETWORK = _COMPARED.plus(_ADDRESS.scaled(TEXT)).plus(ranges.ONE)
_BY_OVERLOAD: dict[str, Estimator] = {
    "cidr_ip": lambda args: Call(ranges.ONE),
    "cidr_contains_ip_ip": lambda args: Call(_COMPARED),
    "cidr_contains_ip_string": _parsing(_COMPARED),
    "cidr_contains_cidr": lambda args: Call(_NETWORK),
    "cidr_contains_cidr_string": _parsing(_NETWORK),
}


def kube_call(function: str, overload: str, args: Args) -> Call | None:
    """Return kube's estimate for a function of its libraries, or None if kube has none."""
    estimator = _BY_OVERLOAD.get(overload) or _BY_FUNCTION.get(function)
    return None if estimator is None else estimator(args)


# --- cel-go's extensions: lists and sets


def _estimate_new_list(factor: float, size: ranges.Range) -> Call:
    return Call(size.scaled(factor).plus(ranges.ONE).plus(ranges.build_exact_range(LIST)), size)


def _number(argument: Argument, default: int) -> int:
    value = _literal_int(argument)
    return default if value is None else max(value, 0)


def _slice(args: Args) -> Call:
    size = _number(args[2], args[0].size.max) - _number(args[1], 0)
    return _estimate_new_list(1, ranges.build_exact_range(size % (1 << 64)))


def _flatten(args: Args) -> Call:
    depth = _number(args[1], ranges.MOST) if len(args) > 1 else 1
    return _estimate_new_list(float(depth), args[0].size)


def _quadratic(factor: float, of: int = 0) -> Estimator:
    """Return an estimator for a new list whose size is the square of an argument's size."""
    return lambda args: _estimate_new_list(factor, args[of].size.times(args[of].size))


def _sets(factor: int) -> Estimator:
    return lambda args: Call(args[0].size.times(args[1].size).scaled(factor).plus(ranges.ONE))


def _factor(kind: str) -> float:
    return 2.0 + TEXT if kind in ("string", "bytes") else 2.0


EXTENSIONS: dict[str, Estimator] = {
    "list_slice": _slice,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "lists_range": lambda args: _estimate_new_list(1, ranges.build_exact_range(_number(args[0], ranges.MOST))),
    "list_reverse": lambda args: _estimate_new_list(1, args[0].size),
    "list_distinct": _quadratic(2.0),
    **{f"list_{kind}_sort": _quadratic(_factor(kind)) for kind in SORTED},
    **{f"list_{kind}_sortByAssociatedKeys": _quadratic(_factor(kind), of=1) for kind in SORTED},
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
}


# --- the standard library


def _estimate_quote(args: Args) -> Call:
    size = args[0].known
    return Call(size.scaled(TEXT), ranges.Range((size.min + 2) % (1 << 64), (size.max * 2 + 2) % (1 << 64)))


def _to_bytes(args: Args) -> Call:
    size = args[0].known
    return Call(size.scaled(TEXT), ranges.Range(size.min, size.max * 4 % (1 << 64)))


def _from_bytes(args: Args) -> Call:
    size = args[0].known
    return Call(size.scaled(TEXT), ranges.Range(size.min // 4, size.max))


def _matches(args: Args) -> Call:
    return Call(args[0].known.plus(ranges.ONE).scaled(TEXT).times(args[1].known.scaled(PATTERN)))


def _estimate_compare(args: Args) -> Call:
    most = min(args[0].known.max, args[1].known.max)
    return Call(ranges.Range(int(most > 0), most).scaled(TEXT))


def _estimate_add(args: Args) -> Call:
    size = args[0].known.plus(args[1].known)
    return Call(size.scaled(TEXT), size)


_ORDERS = ("less", "greater", "less_equals", "greater_equals")
STANDARD: dict[str, Estimator] = {
    "string_format": lambda args: Call(args[0].known.scaled(TEXT)),
    "string_to_bytes": _to_bytes,
    "bytes_to_string": _from_bytes,
    "strings_quote": _estimate_quote,
    **dict.fromkeys(("starts_with_string", "ends_with_string"), lambda args: Call(args[1].known.scaled(TEXT))),
    "in_list": lambda args: Call(args[1].known.scaled(1)),
    "matches_string": _matches,
    "contains_string": lambda args: Call(args[0].known.scaled(TEXT).times(args[1].known.scaled(TEXT))),
    "add_string": _estimate_add,
    "add_bytes": _estimate_add,
    "add_list": lambda args: Call(ranges.ONE, args[0].known.plus(args[1].known)),
    **{f"{order}_{kind}": _estimate_compare for order in _ORDERS for kind in ("string", "bytes")},
    "equals": _estimate_compare,
    "not_equals": _estimate_compare,
}
