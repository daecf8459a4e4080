"""Strategic merge patches: lists are merged by the keys that their types name, and directives express other changes.

kube: apimachinery/pkg/util/strategicpatch/patch.go @ v1.34.1
"""

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apiserver.schema.go_values import go_map
from scheduler_core.apiserver.schema.table import Field, fields, parse_expression

DIRECTIVE, RETAIN = "$patch", "$retainKeys"
DELETE_FROM, ORDER = "$deleteFromPrimitiveList/", "$setElementOrder/"
# kube's answer for kinds without strategic merge patches.
NO_STRATEGIC = (
    "the body of the request was in an unknown format - accepted media types include: "
    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
)
_FREE = Field("map", "any")  # a value without a known type: objects are merged, lists replaced


class BadPatch(ValueError):
    """A patch that cannot be applied; the text is kube's."""


def apply_strategic_patch(old: Mapping[str, Any], patch: Mapping[str, Any], type_: str) -> dict[str, Any]:
    """Return an object of a type (see table.type_of) with a strategic merge patch applied. Raise BadPatch."""
    return _merge_map(old, patch, Field("object", type_))


def _merge_map(old: Mapping[str, Any], patch: Mapping[str, Any], field: Field) -> dict[str, Any]:
    directive = patch.get(DIRECTIVE)
    if directive == "replace":
        return {name: value for name, value in patch.items() if name != DIRECTIVE}
    if directive == "delete":
        return {}
    if directive is not None:
        raise BadPatch(f"unknown patch type: {directive} in map: {go_map(patch)}")
    new = _retain_keys(old, patch)
    rest = {name: value for name, value in patch.items() if name != RETAIN}
    for name in [name for name in rest if name.startswith(ORDER)]:
        _merge_ordered(new, rest, name.removeprefix(ORDER), rest.pop(name), field)
    for name, value in rest.items():
        if name.startswith(DELETE_FROM):
            listed = name.removeprefix(DELETE_FROM)
            if isinstance(new.get(listed), list):
                new[listed] = [each for each in new[listed] if each not in (value or ())]
        else:
            _merge_field(new, name, value, _field(field, name))
    return new


def _field(owner: Field, name: str) -> Field:
    """Return the field of an object, or the type of a map's values."""
    if owner.shape == "object":
        return fields(owner.inner).get(name, _FREE)
    return parse_expression(owner.inner) if owner.shape == "map" and owner.inner != "any" else _FREE


def _merge_field(new: dict[str, Any], name: str, value: Any, field: Field) -> None:
    if value is None:
        new.pop(name, None)
        return
    old = new.get(name)
    if old == value:
        return  # directives may be data: a ControllerRevision holds a patch
    if isinstance(old, Mapping) and isinstance(value, Mapping):
        new[name] = dict(value) if "replace" in field.strategies else _merge_map(old, value, field)
    elif isinstance(old, list) and isinstance(value, list):
        new[name] = _merge_list(old, value, field) if "merge" in field.strategies else value
    else:
        cleaned = _without_directives(value)
        if cleaned is None:
            new.pop(name, None)
        else:
            new[name] = cleaned


def _retain_keys(old: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object without the fields that $retainKeys does not list. Raise BadPatch."""
    keys = patch.get(RETAIN)
    if keys is None:
        return dict(old)
    given = [name for name, value in patch.items() if value is not None and not name.startswith("$")]
    if not isinstance(keys, list) or any(name not in keys for name in given):
        raise BadPatch("invalid patch format of retainKeys")
    return {name: value for name, value in old.items() if name in keys}


# lists


def _merge_ordered(new: dict[str, Any], patch: dict[str, Any], name: str, order: Any, owner: Field) -> None:
    """Merge a list and sort it by the given order; remove it from the patch. Raise BadPatch."""
    field = _field(owner, name)
    if not isinstance(order, list):
        raise BadPatch("invalid patch format of setElementOrder list")
    old, given = new.get(name), patch.pop(name, None)
    _demand_order(given or [], order, field, name)
    if old is None and given is None:
        return
    if old is None:
        result = _without_directives(given)
    elif given is None:
        result = old
    else:
        result = _merge_list(old, given, field) if "merge" in field.strategies else given
    new[name] = _in_order(result or [], order, old or [], field.merge_key)


def _demand_order(given: Sequence[Any], order: Sequence[Any], field: Field, name: str) -> None:
    wanted = [_key(each, field.merge_key) for each in order]
    kept = [each for each in given if not (isinstance(each, Mapping) and DIRECTIVE in each)]
    place = -1
    for each in kept if order else ():
        key = _key(each, field.merge_key)
        if key not in wanted[place + 1 :]:
            lists = go_map(list(given)), go_map(list(order))
            raise BadPatch(f"The order in patch list:\n{lists[0]}\n doesn't match {ORDER[:-1]} list:\n{lists[1]}\n")
        place = wanted.index(key, place + 1)


def _merge_list(old: Sequence[Any], patch: Sequence[Any], field: Field) -> list[Any]:
    if not old and not patch:
        return list(old)
    both = [*old, *patch]
    if not any(isinstance(each, Mapping) for each in both):
        everything = [each for i, each in enumerate(both) if each not in both[:i]]
        return _in_order(everything, patch, old, "")
    key = field.merge_key
    if not key:
        raise BadPatch(f"cannot merge lists without merge key for {field.inner}")
    if not all(isinstance(each, Mapping) for each in both):
        raise BadPatch(f"list element types are not identical: {go_map([list(old), list(patch)])}")
    kept, added = _specials_done(old, patch, key)
    new = list(kept)
    item = Field("object", field.inner)
    for each in added:
        place = next((i for i, other in enumerate(new) if _key(other, key) == _key(each, key)), None)
        if place is None:
            new.append(each)
        else:
            new[place] = _merge_map(new[place], each, item)
    return _in_order(new, added, kept, key)


def _specials_done(old: Sequence[Any], patch: Sequence[Any], key: str) -> tuple[list[Any], list[Any]]:
    """Return the old list after the directives in the patch, and the remaining elements of the patch. Raise BadPatch."""
    kept, added, replace = list(old), [], False
    for each in patch:
        directive = each.get(DIRECTIVE)
        if directive is None:
            _key(each, key)
            added.append(each)
        elif directive == "delete":
            kept = [other for other in kept if _key(other, key) != _key(each, key)]
        elif directive == "replace":
            replace = True
        else:
            merge = "merging lists cannot yet be specified in the patch"
            raise BadPatch(merge if directive == "merge" else f"unknown patch type: {directive} in map: {go_map(each)}")
    return (added, []) if replace else (kept, added)


def _key(element: Any, key: str) -> Any:
    """Return the value that identifies a list element. Raise BadPatch if its key is missing."""
    if not key:
        return element
    if not isinstance(element, Mapping) or key not in element:
        raise BadPatch(f"map: {go_map(element)} does not contain declared merge key: {key}")
    return element[key]


def _in_order(elements: Sequence[Any], order: Sequence[Any], old: Sequence[Any], key: str) -> list[Any]:
    """Sort the elements that the order names; the others stay between them as before."""
    wanted = [_key(each, key) for each in order]
    before = [_key(each, key) for each in old]
    named = [each for each in elements if _key(each, key) in wanted]
    others = [each for each in elements if _key(each, key) not in wanted]
    named.sort(key=lambda each: wanted.index(_key(each, key)))
    result: list[Any] = []
    while others and named:
        first, second = _key(others[0], key), _key(named[0], key)
        earlier = first in before and second in before and before.index(first) < before.index(second)
        result.append(others.pop(0) if earlier else named.pop(0))
    return [*result, *named, *others]


def _without_directives(value: Any) -> Any:
    """Return a new value without nulls and directives; None if the value is a directive."""
    if isinstance(value, Mapping):
        if DIRECTIVE in value:
            return None
        inner = {name: _without_directives(each) for name, each in value.items() if not name.startswith("$")}
        return {name: each for name, each in inner.items() if each is not None}
    if isinstance(value, list):
        return [each for each in map(_without_directives, value) if each is not None]
    return value
