"""Conversion of external data to msgspec classes. An error has the field's path, the received value, and the expected type.

The classes hold all rules: a field's type, its range (Meta), and in `__post_init__` the rules that span several fields.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from scheduler_core.apimachinery.objects.errors import FieldError, InvalidObject, child, format_key_path
from scheduler_core.apimachinery.objects.strict import Step, parse_path

T = TypeVar("T")
_PLACE = re.compile(r"(?P<said>.*?)(?: - at `(?P<key>key` in `)?\$(?P<path>.*)`)?", re.DOTALL)
_FIELD = re.compile(r"Object (?P<how>missing required|contains unknown) field `(?P<name>.*)`", re.DOTALL)
_LONGEST = 200
_ENTRY = "..."  # msgspec's word for the key of a mapping
_MAPPINGS = (inspect.StructType, inspect.DictType)
_LISTS = (inspect.ListType, inspect.VarTupleType)


class FieldProblem(ValueError):
    """An error that `__post_init__` of a class finds in one of its fields."""

    def __init__(self, field: str, received: object, expected: str) -> None:
        self.field = field
        self.received = received
        self.expected = expected
        super().__init__(f"{field}: received {received!r}; expected {expected}")


def convert_data(data: object, kind: Any, path: str = "") -> Any:
    """Return the data at a path as an object of a class, or of one class of a union. Raise InvalidObject."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        found = _field_error(error, data, kind)
        raise InvalidObject((replace(found, path=child(path, found.path)),)) from error


def _field_error(error: msgspec.ValidationError, data: object, kind: Any) -> FieldError:
    """Build a FieldError from msgspec's error. msgspec has the place in the data; the type there gives the words."""
    match = _PLACE.fullmatch(str(error))
    assert match is not None
    path = (match["path"] or "").removeprefix(".")
    if isinstance(error.__cause__, FieldProblem):
        problem = error.__cause__
        return FieldError(child(path, problem.field), _format_value(problem.received), problem.expected)
    steps = _with_keys(str(error), data, kind, parse_path(path))
    for step, known in zip(parse_path(path), steps, strict=True):
        path = path if step == known else path.replace(format_key_path("", _ENTRY), format_key_path("", str(known)), 1)
    if match["key"]:
        return FieldError(path, _format_value(_value(data, steps)), "an object whose keys are strings")
    if (field := _FIELD.fullmatch(match["said"])) is not None:
        path, steps = child(path, field["name"]), (*steps, field["name"])
    received = _value(data, steps)
    expected, length = _describe_expected(_type(inspect.type_info(kind), data, steps), received)
    return FieldError(path, f"{length} characters" if length else _format_value(received), expected)


def _with_keys(said: str, data: Any, kind: Any, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Replace each entry that msgspec writes as `...` with its key: the first key whose value alone causes the same error."""
    for place, step in enumerate(steps):
        if step == _ENTRY:
            before = steps[:place]
            alone = {key: _with_only(data, before, key) for key in _value(data, before)}
            key = next(key for key, rest in alone.items() if _refusal(rest, kind) == said)
            data, steps = alone[key], (*before, key, *steps[place + 1 :])
    return steps


def _with_only(data: Any, steps: tuple[Step, ...], key: str) -> Any:
    """Return the data with a single entry left in the mapping at a path."""
    if not steps:
        return {key: data[key]}
    copy: Any = dict(data) if isinstance(data, dict) else list(data)
    copy[steps[0]] = _with_only(data[steps[0]], steps[1:], key)
    return copy


def _refusal(data: object, kind: Any) -> str:
    """The words of msgspec against the data; "" for none."""
    try:
        msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        return str(error)
    return ""


def _format_value(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _value(data: Any, steps: Iterable[Step]) -> Any:
    """Return the value at a path, or None."""
    for step in steps:
        data = data.get(step) if isinstance(data, dict) else data[step]
    return data


def _type(node: inspect.Type, data: Any, steps: tuple[Step, ...]) -> inspect.Type | tuple[str, ...]:
    """The type at a path; the allowed names where the path leads to no type: to the tag of a union, or to an unknown field."""
    if not steps:
        return node
    step, rest = steps[0], steps[1:]
    match node:
        case inspect.Metadata():
            return _type(node.type, data, steps)
        case inspect.UnionType():
            return _type_in_union(node, data, steps)
        case inspect.StructType():
            types = {field.encode_name: field.type for field in node.fields}
            return _type(types[str(step)], data.get(step), rest) if step in types else tuple(types)
        case inspect.DictType():
            return _type(node.value_type, data[step], rest)
        case inspect.ListType() | inspect.VarTupleType():
            return _type(node.item_type, data[step], rest)
    raise TypeError(f"nothing is below a {type(node).__name__}")


def _type_in_union(node: inspect.UnionType, data: Any, steps: tuple[Step, ...]) -> inspect.Type | tuple[str, ...]:
    """Return the type at a path below the union member that matches the data, or the tags of the members if the tag is wrong."""
    structs = [each for each in node.types if isinstance(each, inspect.StructType)]
    tagged = {str(each.tag): each for each in structs if each.tag_field is not None}
    if tagged and (steps[0] == structs[0].tag_field or data.get(structs[0].tag_field) not in tagged):
        return tuple(tagged)
    if tagged:
        return _type(tagged[data[structs[0].tag_field]], data, steps)
    shapes = _MAPPINGS if isinstance(data, dict) else _LISTS
    return _type(next(each for each in node.types if isinstance(each, shapes)), data, steps)


def _describe_expected(node: inspect.Type | tuple[str, ...], received: object, unit: str = "") -> tuple[str, int]:
    """Describe the values that a type accepts. Also return the limit of a text's length, which is shown instead of a long text, or 0."""
    match node:
        case tuple():
            return _one_of(node), 0
        case inspect.Metadata():
            return _describe_expected(node.type, received, str((node.extra or {}).get("unit", "")))
        case inspect.UnionType(types):
            others = [each for each in types if not isinstance(each, inspect.NoneType)]
            words, length = _describe_expected(others[0], received)
            return (words if len(others) == len(types) else f"{words}, or null"), length
        case inspect.LiteralType(values):
            return _one_of(tuple(map(str, values))), 0
        case inspect.IntType():
            return _whole(node, received, unit), 0
        case inspect.StrType(max_length=longest) if longest is not None and isinstance(received, str):
            return f"at most {longest} characters", len(received)
        case inspect.StrType():
            return ("a string that is not empty" if node.min_length else "a string"), 0
        case inspect.BoolType():
            return "true or false", 0
        case inspect.ListType() | inspect.VarTupleType():
            return "a list", 0
    return "an object", 0


def _one_of(names: tuple[str, ...]) -> str:
    return " or ".join(names) if len(names) < 3 else f"one of {', '.join(names)}"


def _whole(node: inspect.IntType, received: object, unit: str) -> str:
    is_whole = isinstance(received, int) and not isinstance(received, bool)
    return f"{node.ge} to {node.le} {unit}".rstrip() if is_whole else f"whole {unit or 'number'}"
