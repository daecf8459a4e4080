"""What calls may cost, and how large their results may be.

kube: apiserver/pkg/cel/library/cost.go @ v1.34.1; vendor/github.com/google/cel-go/{checker/cost,ext/lists,ext/sets}.go
(cel-go v0.26.0)
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
    roots: Mapping[str, ranges.Declared]

    @property
    def size(self) -> ranges.Range:
        """Computed, or declared, or unknown."""
        if self.computed is not None:
            return self.computed
        return ranges.find_declared_size(self.roots, self.path) or ranges.UNKNOWN

    @property
    def known(self) -> ranges.Range:
        """Computed or unknown."""
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


Estimator = Callable[[Argument | None, Sequence[Argument]], Call | None]
"""Of the receiver and the arguments; None where it has nothing to say."""


def _of_one(twice: bool = False, sized: bool = False) -> Estimator:
    """A text that is looked at: the only argument."""
    factor = 2 * TEXT if twice else TEXT

    def estimate(target: Argument | None, args: Sequence[Argument]) -> Call | None:
        if not args:
            return None
        size = args[0].size
        return Call(size.scaled(factor), size if sized else None)

    return estimate


def _of_target(target: Argument | None, args: Sequence[Argument]) -> Call | None:
    return None if target is None else Call(target.size.scaled(TEXT), target.size)


def _elements(target: Argument | None, args: Sequence[Argument]) -> Call | None:
    """All elements of a list, or all characters of a text."""
    if target is None:
        return None
    element = target.element()
    if element is None:
        return Call(target.size.scaled(TEXT))
    each = ranges.ONE
    if element.type.kind in (Kind.STRING, Kind.BYTES):
        each = each.plus(element.size.scaled(TEXT))
    return Call(target.size.times(each))


def _replace(target: Argument | None, args: Sequence[Argument]) -> Call | None:
    if target is None or len(args) < 2:
        return None
    size, old, new = target.size, args[0].size, args[1].size
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


def _split(target: Argument | None, args: Sequence[Argument]) -> Call | None:
    if target is None:
        return None
    most = target.size.max
    if len(args) > 1:
        limit = _literal_int(args[1])
        most = most if limit is None else limit % (1 << 64)
    return Call(target.size.scaled(2 * TEXT), ranges.Range(0, most))


def _literal_int(argument: Argument) -> int | None:
    node = argument.node
    if isinstance(node, Literal) and node.value.__class__ is int and isinstance(node.value, int):
        return node.value
    return None


def _join(target: Argument | None, args: Sequence[Argument]) -> Call | None:
    if target is None:
        return None
    count, element = target.size, target.element()
    size = ranges.NONE if element is None else count.times(element.size)
    if args:
        between = ranges.Range(max(count.min - 1, 0), max(count.max - 1, 0))
        size = size.plus(args[0].size.times(between))
    return Call(size.scaled(TEXT), size)


def _find(target: Argument | None, args: Sequence[Argument]) -> Call | None:
    if target is None or not args:
        return None
    cost = target.size.plus(ranges.ONE).scaled(TEXT).times(args[0].size.scaled(PATTERN))
    return Call(cost, ranges.Range(0, target.size.max))


def _validate(target: Argument | None, args: Sequence[Argument]) -> Call | None:
    return Call(args[0].size.scaled(TEXT).scaled(128 * PATTERN)) if args else None


_ADDRESS = ranges.Range(4, 16)


def _contains_cidr(target: Argument | None, args: Sequence[Argument], parsed: bool) -> Call | None:
    cost = _ADDRESS.plus(_ADDRESS).scaled(TEXT).plus(_ADDRESS.scaled(TEXT)).plus(ranges.ONE)
    return Call(cost.plus(args[0].size.scaled(TEXT)) if parsed else cost)


def _equals(target: Argument | None, args: Sequence[Argument]) -> Call | None:
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
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _elements),
    "url": _of_one(sized=True),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _of_target),
    "replace": _replace,
    "split": _split,
    "join": _join,
    **dict.fromkeys(("find", "findAll"), _find),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _of_one()),
    "ip.isCanonical": _of_one(twice=True),
    "validate": _validate,
    "_==_": _equals,
}


def kube_call(function: str, overload: str, target: Argument | None, args: Sequence[Argument]) -> Call | None:
    """Return kube's estimate for a function of its libraries, or None if kube has none."""
    if function in COSTS_ONE:
        return Call(ranges.ONE)
    if function == "ip":
        return Call(ranges.ONE) if overload == "cidr_ip" else _of_one()(target, args)
    if function == "containsIP":
        parsed = overload == "cidr_contains_ip_string"
        cost = _ADDRESS.plus(_ADDRESS).scaled(TEXT)
        return Call(cost.plus(args[0].size.scaled(TEXT)) if parsed else cost)
    if function == "containsCIDR":
        return _contains_cidr(target, args, overload == "cidr_contains_cidr_string")
    estimator = _BY_FUNCTION.get(function)
    return None if estimator is None else estimator(target, args)


# --- cel-go's extensions: lists and sets


def _estimate_new_list(factor: float, size: ranges.Range) -> Call:
    return Call(size.scaled(factor).plus(ranges.ONE).plus(ranges.build_exact_range(LIST)), size)


def _number(argument: Argument, default: int) -> int:
    value = _literal_int(argument)
    return default if value is None else max(value, 0)


def _slice(target: Argument | None, args: Sequence[Argument]) -> Call | None:
    if target is None:
        return None
    size = _number(args[1], target.size.max) - _number(args[0], 0)
    return _estimate_new_list(1, ranges.build_exact_range(size % (1 << 64)))


def _flatten(target: Argument | None, args: Sequence[Argument]) -> Call | None:
    if target is None:
        return None
    return _estimate_new_list(float(_number(args[0], ranges.MOST) if args else 1), target.size)


def _estimate_quadratic(argument: Argument, factor: float) -> Call:
    return _estimate_new_list(factor, argument.size.times(argument.size))


def _sort(factor: float, by_keys: bool) -> Estimator:
    def estimate(target: Argument | None, args: Sequence[Argument]) -> Call | None:
        if target is None:
            return None
        return _estimate_quadratic(args[0] if by_keys else target, factor)

    return estimate


def _sets(factor: int) -> Estimator:
    return lambda target, args: Call(args[0].size.times(args[1].size).scaled(factor).plus(ranges.ONE))


def _factor(kind: str) -> float:
    return 2.0 + TEXT if kind in ("string", "bytes") else 2.0


EXTENSIONS: dict[str, Estimator] = {
    "list_slice": _slice,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "lists_range": lambda _, args: _estimate_new_list(1, ranges.build_exact_range(_number(args[0], ranges.MOST))),
    "list_reverse": lambda target, args: None if target is None else _estimate_new_list(1, target.size),
    "list_distinct": lambda target, args: None if target is None else _estimate_quadratic(target, 2.0),
    **{f"list_{kind}_sort": _sort(_factor(kind), False) for kind in SORTED},
    **{f"list_{kind}_sortByAssociatedKeys": _sort(_factor(kind), True) for kind in SORTED},
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
}


# --- the standard library


def _estimate_quote(target: Argument | None, args: Sequence[Argument]) -> Call | None:
    size = args[0].known
    return Call(size.scaled(TEXT), ranges.Range((size.min + 2) % (1 << 64), (size.max * 2 + 2) % (1 << 64)))


def _to_bytes(target: Argument | None, args: Sequence[Argument]) -> Call | None:
    size = args[0].known
    return Call(size.scaled(TEXT), ranges.Range(size.min, size.max * 4 % (1 << 64)))


def _from_bytes(target: Argument | None, args: Sequence[Argument]) -> Call | None:
    size = args[0].known
    return Call(size.scaled(TEXT), ranges.Range(size.min // 4, size.max))


def _affix(target: Argument | None, args: Sequence[Argument]) -> Call | None:
    return Call(args[0].known.scaled(TEXT))


def _matches(target: Argument | None, args: Sequence[Argument]) -> Call | None:
    if target is None:
        return None
    return Call(target.known.plus(ranges.ONE).scaled(TEXT).times(args[0].known.scaled(PATTERN)))


def _contains(target: Argument | None, args: Sequence[Argument]) -> Call | None:
    return None if target is None else Call(target.known.scaled(TEXT).times(args[0].known.scaled(TEXT)))


def _estimate_compare(target: Argument | None, args: Sequence[Argument]) -> Call | None:
    most = min(args[0].known.max, args[1].known.max)
    return Call(ranges.Range(int(most > 0), most).scaled(TEXT))


def _estimate_add(target: Argument | None, args: Sequence[Argument]) -> Call | None:
    size = args[0].known.plus(args[1].known)
    return Call(size.scaled(TEXT), size)


_ORDERS = ("less", "greater", "less_equals", "greater_equals")
STANDARD: dict[str, Estimator] = {
    "string_format": lambda target, args: None if target is None else Call(target.known.scaled(TEXT)),
    "string_to_bytes": _to_bytes,
    "bytes_to_string": _from_bytes,
    "strings_quote": _estimate_quote,
    "starts_with_string": _affix,
    "ends_with_string": _affix,
    "in_list": lambda target, args: Call(args[1].known.scaled(1)),
    "matches_string": _matches,
    "contains_string": _contains,
    "add_string": _estimate_add,
    "add_bytes": _estimate_add,
    "add_list": lambda target, args: Call(ranges.ONE, args[0].known.plus(args[1].known)),
    **{f"{order}_{kind}": _estimate_compare for order in _ORDERS for kind in ("string", "bytes")},
    "equals": _estimate_compare,
    "not_equals": _estimate_compare,
}
