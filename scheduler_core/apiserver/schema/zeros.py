"""Zero values in Go's JSON: those that are always written, and those that are omitted.

kube: encoding/json with the tags omitempty and omitzero of k8s.io/api @ v0.34.1
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from scheduler_core.apiserver.schema.api import fields_of, read_api

Fill = Callable[[Any], Any]
_ZEROS: Mapping[str, Any] = {
    "string": "",
    "bool": False,
    "quantity": "0",
    "intorstring": 0,
    "time": None,
    "microtime": None,
}
_SPECIAL = ("raw", "fields", "duration", "any")
_EMPTY: tuple[Any, ...] = ("", 0, False, [], {})


def is_left_out(field: list[Any], value: Any) -> bool:
    """Return whether Go omits a value that a client has sent."""
    flags = field[2] if len(field) > 2 else ""
    expression = field[1]
    if value in ([], {}) and expression.startswith(("[]", "{}")):
        return True  # storage has no empty lists
    if "o" not in flags or expression.startswith("*") or expression in read_api()["types"]:
        return False
    return (
        type(value) in (str, int, bool, list, dict)
        and value in _EMPTY
        and expression not in ("quantity", "intorstring")
    )


def fill(type_: str, manifest: Mapping[str, Any]) -> Any:
    """Return an object of a type with the zero values that Go always writes; the same object if complete or without a type ("")."""
    filler = _struct(type_) if type_ else None
    return manifest if filler is None else filler(manifest)


@cache
def _needs(type_: str, seen: tuple[str, ...] = ()) -> bool:
    """Return whether an object of a type may need zero values at any depth."""
    if type_ in seen:
        return False
    fields = fields_of(type_)
    if any(_zero(field) is not _SKIP for field in fields.values()):
        return True
    return any(_needs(inner, (*seen, type_)) for field in fields.values() if (inner := _inner(field[1])))


_SKIP = object()


def _inner(expression: str) -> str:
    """Return the type within lists, maps, and pointers; "" for a leaf."""
    bare = expression.lstrip("*[]{}")
    return bare if bare in read_api()["types"] else ""


def _zero(field: list[Any]) -> Any:
    """Return the value of an absent field; _SKIP if Go omits it."""
    expression, flags = field[1], field[2] if len(field) > 2 else ""
    if "z" in flags or expression in _SPECIAL:
        return _SKIP
    if expression in read_api()["types"]:
        return {}
    if expression in ("time", "microtime"):
        return None
    if "o" in flags:
        return _SKIP
    if expression.startswith(("*", "[]", "{}")) or expression == "bytes":
        return None
    return _ZEROS.get(expression, 0)


@cache
def _struct(type_: str) -> Fill | None:
    if not _needs(type_):
        return None
    fields = fields_of(type_)
    zeros = {name: zero for name, field in fields.items() if (zero := _zero(field)) is not _SKIP}
    # Recursive types are looked up when they are met.
    within = {name: field[1] for name, field in fields.items() if (inner := _inner(field[1])) and _needs(inner)}
    fillers: dict[str, Fill] = {}

    def complete(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        found: dict[str, Any] | None = None
        for name, zero in zeros.items():
            if name not in value:
                found = dict(value) if found is None else found
                found[name] = zero
        source = found if found is not None else value
        for name, expression in within.items():
            if (old := source.get(name)) is None:
                continue
            if name not in fillers:
                fillers[name] = _filler(expression)
            new = fillers[name](old)
            if new is not old:
                if found is None:
                    found = source = dict(value)
                found[name] = new
        return value if found is None else found

    return complete


def _filler(expression: str) -> Fill:
    if expression.startswith("*"):
        return _filler(expression[1:])
    if expression.startswith(("[]", "{}")):
        inner = _filler(expression[2:])
        return _each_of_list(inner) if expression.startswith("[]") else _each_of_map(inner)
    return _struct(expression) or (lambda value: value)


def _each_of_list(inner: Fill) -> Fill:
    def complete(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        new = [inner(each) for each in value]
        return new if any(a is not b for a, b in zip(new, value, strict=True)) else value

    return complete


def _each_of_map(inner: Fill) -> Fill:
    return lambda value: {name: inner(each) for name, each in value.items()} if isinstance(value, dict) else value


def _is_zero(value: Any, filled: Any) -> bool:
    if isinstance(value, dict) and isinstance(filled, dict):
        return value.items() <= filled.items()
    return value == filled and value is not None


def keep_form(new: Any, filled: Any, old: Any) -> Any:
    """Return a value without the zeros that `old` lacks; `filled` is `old` with zeros."""
    if new == filled:
        return old
    if isinstance(new, dict) and isinstance(filled, dict) and isinstance(old, dict):
        kept = {name: each for name, each in new.items() if name in old or not _is_zero(each, filled.get(name))}
        return {
            name: keep_form(each, filled[name], old[name]) if name in old and name in filled else each
            for name, each in kept.items()
        }
    if isinstance(new, list) and isinstance(filled, list) and isinstance(old, list):
        found = []
        for place, each in enumerate(new):
            at = filled.index(each) if each in filled else min(place, len(old) - 1)
            found.append(keep_form(each, filled[at], old[at]) if old else each)
        return found
    return new


def order(value: Any, expression: str, touched: Any = None) -> Any:
    """Return a value with its fields in the order of Go's structs, or by name if a patch has `touched` them."""
    bare = expression.lstrip("*")
    if isinstance(touched, list):  # a value that the patch has written as a whole
        return json.loads(json.dumps(value, sort_keys=True))
    if isinstance(value, list):
        return [order(each, bare[2:]) for each in value]
    if not isinstance(value, Mapping):
        return value
    fields = fields_of(bare) if bare in read_api()["types"] else {}
    names = list(fields) if fields and not isinstance(touched, Mapping) else []
    inner = touched if isinstance(touched, Mapping) else {}
    return {
        name: order(value[name], fields[name][1] if name in fields else bare[2:], inner.get(name))
        for name in (*(each for each in names if each in value), *sorted(value.keys() - names))
    }
