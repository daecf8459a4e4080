"""Lists, sets and maps: what kube's and cel-go's libraries do with them.

kube: apiserver/pkg/cel/library/lists.go, vendor/github.com/google/cel-go/ext/{lists,sets,comprehensions}.go @ v1.34.1
(cel-go v0.26.0)
"""

from collections.abc import Callable, Sequence
from functools import cmp_to_key

from scheduler_core.apimachinery.cel.limits import check_length, take_steps
from scheduler_core.apimachinery.cel.operators import add, compare, contains, equal, lacking
from scheduler_core.apimachinery.cel.texts import go_value
from scheduler_core.apimachinery.cel.values import (
    LIST_KINDS,
    NO_OVERLOAD,
    NOTHING,
    Duration,
    Failure,
    MutableMap,
    Timestamp,
    Uint,
    find,
    key_of,
    type_of_value,
    value_of_key,
)

Values = Sequence[object]
_COMPARABLE = (bool, bytes, float, Duration, int, str, Timestamp, Uint)
_ADDABLE = (bytes, float, Duration, int, str, Timestamp, Uint, list, tuple)


def _is_sorted(values: Values) -> object:
    for index, value in enumerate(values):
        if value.__class__ not in _COMPARABLE:
            return NO_OVERLOAD
        if index and compare(values[index - 1], value, "") == 1:
            return False
    return True


def _sum(zero: object) -> Callable[..., object]:
    def summed(values: Values) -> object:
        total = zero
        for value in values:
            if value.__class__ not in _ADDABLE:
                return NO_OVERLOAD
            total = add(total, value)
            if isinstance(total, Failure):
                return total
        return total

    return summed


def _extreme(name: str, worse: int) -> Callable[..., object]:
    def extreme(values: Values) -> object:
        best: object = NOTHING
        for value in values:
            if value.__class__ not in _COMPARABLE:
                return NO_OVERLOAD
            if best is NOTHING or compare(best, value, "") == worse:
                best = value
        return Failure(f"{name} called on empty list") if best is NOTHING else best

    return extreme


def _index_of(values: Values, wanted: object) -> int:
    take_steps(len(values))
    return next((index for index, value in enumerate(values) if equal(value, wanted) is True), -1)


def _last_index_of(values: Values, wanted: object) -> int:
    take_steps(len(values))
    places = range(len(values) - 1, -1, -1)
    return next((index for index in places if equal(values[index], wanted) is True), -1)


def _slice(values: Values, start: int, end: int) -> object:
    if start < 0 or end < 0:
        return Failure(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        return Failure(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(values) < end:
        return Failure(f"cannot slice({start}, {end}), list is length {len(values)}")
    return list(values[start:end])


def _flatten(values: object, depth: object = NOTHING) -> object:
    shown = "" if depth is NOTHING else type_of_value(depth)
    depth = 1 if depth is NOTHING else depth
    if not isinstance(values, LIST_KINDS):
        return Failure(f"no such overload: {type_of_value(values)}.flatten({shown})")
    if depth.__class__ is not int or not isinstance(depth, int):
        return Failure(f"no such overload: {type_of_value(values)}.flatten({shown})")
    if depth < 0:
        return Failure("level must be non-negative")
    flat: list[object] = []
    _flatten_into(flat, values, depth)
    return flat


def _flatten_into(flat: list[object], values: Values, depth: int) -> None:
    for value in values:
        take_steps()
        if depth and isinstance(value, LIST_KINDS):
            _flatten_into(flat, value, depth - 1)
        else:
            flat.append(value)


def _sort(values: object) -> object:
    return _sort_by_keys(values, values, "sort")


def _sort_by(values: object, keys: object) -> object:
    return _sort_by_keys(values, keys, "@sortByAssociatedKeys")


def _sort_by_keys(values: object, keys: object, function: str) -> object:
    """DEVIATION: kube's sort of more than 12 elements does not keep the order of equal keys."""
    if not isinstance(values, LIST_KINDS) or not isinstance(keys, LIST_KINDS):
        return lacking(values, function)
    if len(values) != len(keys):
        counts = f"{len(values)} and {len(keys)} elements respectively"
        wanted = "expected a list of the same size as the associated keys list"
        return Failure(f"@sortByAssociatedKeys() {wanted}, but got {counts}")
    if not values:
        return list(values)
    if keys[0].__class__ not in _COMPARABLE:
        return Failure("list elements must be comparable")
    if len(keys) > 1 and any(key.__class__ is not keys[0].__class__ for key in keys):
        return Failure("list elements must have the same type")
    take_steps(len(keys) * len(keys).bit_length())
    return [values[index] for index in sorted(range(len(keys)), key=cmp_to_key(_order(keys)))]


def _order(keys: Values) -> Callable[[int, int], int]:
    def order(one: int, other: int) -> int:
        found = compare(keys[one], keys[other], "")
        return 0 if isinstance(found, Failure) else found

    return order


def _range(count: int) -> object:
    check_length(count)
    return list(range(count))


def _distinct(values: Values) -> object:
    found: list[object] = []
    seen: dict[tuple[type, object], None] = {}
    for value in values:
        if value.__class__ in (str, bool, int):
            if (value.__class__, value) in seen:
                continue
            if value.__class__ is not int or not any(other.__class__ in (Uint, float) for other in found):
                seen[value.__class__, value] = None
                found.append(value)
                continue
        take_steps(len(found))
        if not any(equal(value, other) is True for other in found):
            found.append(value)
            if value.__class__ in (str, bool, int):
                seen[value.__class__, value] = None
    return found


def _contains_all(values: Values, part: Values) -> bool:
    return all(contains(value, values) is True for value in part)


def _insert(into: dict[object, object], key: object, value: object) -> object:
    if find(into, key) is not NOTHING:
        return Failure(f"insert failed: key {go_value(key)} already exists")
    if not isinstance(into, MutableMap):
        into = dict(into)
    into[key_of(key)] = value
    check_length(len(into))
    return into


def _insert_all(into: dict[object, object], entries: dict[object, object]) -> object:
    for key, value in entries.items():
        inserted = _insert(into, value_of_key(key), value)
        if isinstance(inserted, Failure):
            return inserted
        assert isinstance(inserted, dict)
        into = inserted
    return into


_KINDS = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_ZEROS = {"int": 0, "uint": Uint(0), "double": 0.0, "duration": Duration(0)}

LISTS: dict[str, Callable[..., object]] = {
    **{f"list_{kind}_is_sorted_bool": _is_sorted for kind in _KINDS},
    **{f"list_{kind}_sum_{kind}": _sum(zero) for kind, zero in _ZEROS.items()},
    **{f"list_{kind}_max_{kind}": _extreme("max", -1) for kind in _KINDS},
    **{f"list_{kind}_min_{kind}": _extreme("min", 1) for kind in _KINDS},
    "list_a_index_of_int": _index_of,
    "list_a_last_index_of_int": _last_index_of,
    "list_slice": _slice,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "sort": _sort,
    "@sortByAssociatedKeys": _sort_by,
    "lists_range": _range,
    "list_reverse": lambda values: list(reversed(values)),
    "list_distinct": _distinct,
    "list_sets_contains_list": _contains_all,
    "list_sets_equivalent_list": lambda one, other: _contains_all(one, other) and _contains_all(other, one),
    "list_sets_intersects_list": lambda one, other: any(contains(value, other) is True for value in one),
    "@mapInsert_map_key_value": _insert,
    "@mapInsert_map_map": _insert_all,
}
