"""Data from outside read as a class of msgspec's; a misfit is reported with its field's path, what was received and what was expected.

The classes say all there is to say: a field's type, its range (Meta), and in `__post_init__` what several fields have to agree on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from scheduler_core.objects.errors import FieldError, InvalidObject, child
from scheduler_core.objects.paths import Step, parse_path

T = TypeVar("T")
_PLACE = re.compile(r"(?P<said>.*?)(?: - at `(?P<key>key` in `)?\$(?P<path>.*)`)?", re.DOTALL)
_FIELD = re.compile(r"Object (?P<how>missing required|contains unknown) field `(?P<name>.*)`", re.DOTALL)
_LONGEST = 200


class FieldProblem(ValueError):
    """What `__post_init__` of a class finds wrong with one of its fields."""

    def __init__(self, field: str, received: object, expected: str) -> None:
        self.field = field
        self.received = received
        self.expected = expected
        super().__init__(f"{field}: received {received!r}; expected {expected}")


def typed(data: object, kind: Any) -> Any:
    """The data as an object of the class, or of one of a union of classes. InvalidObject says what is wrong with it."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise InvalidObject((_field_error(error, data, kind),)) from error


def _field_error(error: msgspec.ValidationError, data: object, kind: Any) -> FieldError:
    """msgspec says where in the data it stopped; the words come from the type there."""
    match = _PLACE.fullmatch(str(error))
    assert match is not None
    path = (
        (match["path"] or "").removeprefix(".").partition("[...]")[0]
    )  # of an object's values msgspec names none
    if isinstance(error.__cause__, FieldProblem):
        problem = error.__cause__
        return FieldError(child(path, problem.field), _shown(problem.received), problem.expected)
    if match["key"]:
        return FieldError(path, _shown(_value(data, parse_path(path))), "an object whose keys are strings")
    if (field := _FIELD.fullmatch(match["said"])) is not None:
        path = child(path, field["name"])
    steps = parse_path(path)
    received = _value(data, steps)
    expected, length = _expected(_type(inspect.type_info(kind), data, steps), received)
    return FieldError(path, f"{length} characters" if length else _shown(received), expected)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _value(data: Any, steps: Iterable[Step]) -> Any:
    """What stands at a path; None where nothing does."""
    for step in steps:
        data = data.get(step) if isinstance(data, dict) else data[step]
    return data


def _type(node: inspect.Type, data: Any, steps: tuple[Step, ...]) -> inspect.Type | tuple[str, ...]:
    """The type at a path; the allowed names where the path leads to no type: to the tag of a union, or to an unknown field."""
    if not steps:
        return node
    step, rest = steps[0], steps[1:]
    if isinstance(node, inspect.Metadata):
        return _type(node.type, data, steps)
    if isinstance(node, inspect.UnionType):
        structs = [each for each in node.types if isinstance(each, inspect.StructType)]
        tagged = {str(each.tag): each for each in structs if each.tag_field is not None}
        if tagged and (step == structs[0].tag_field or data.get(structs[0].tag_field) not in tagged):
            return tuple(tagged)
        return _type(tagged[data[structs[0].tag_field]] if tagged else structs[0], data, steps)
    if isinstance(node, inspect.StructType):
        types = {field.encode_name: field.type for field in node.fields}
        return _type(types[step], data.get(step), rest) if step in types else tuple(types)
    assert isinstance(node, (inspect.ListType, inspect.VarTupleType)) and isinstance(step, int)
    return _type(node.item_type, data[step], rest)


def _expected(node: inspect.Type | tuple[str, ...], received: object, unit: str = "") -> tuple[str, int]:
    """What a type takes, in words; and the length of a text that is too long, as nobody wants to read it again."""
    match node:
        case tuple():
            return _one_of(node), 0
        case inspect.Metadata():
            return _expected(node.type, received, str((node.extra or {}).get("unit", "")))
        case inspect.UnionType(types):
            others = [each for each in types if not isinstance(each, inspect.NoneType)]
            words, length = _expected(others[0], received)
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
        case inspect.DictType() if isinstance(received, dict):
            return f"an object, each value of it {_expected(node.value_type, None)[0]}", 0
        case inspect.ListType() | inspect.VarTupleType():
            return "a list", 0
    return "an object", 0


def _one_of(names: tuple[str, ...]) -> str:
    return " or ".join(names) if len(names) < 3 else f"one of {', '.join(names)}"


def _whole(node: inspect.IntType, received: object, unit: str) -> str:
    is_whole = isinstance(received, int) and not isinstance(received, bool)
    return f"{node.ge} to {node.le} {unit}".rstrip() if is_whole else f"whole {unit or 'number'}"
