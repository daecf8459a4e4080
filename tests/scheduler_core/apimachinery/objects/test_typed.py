"""Data from outside as a class: what does not fit is told with path, received and expected, whatever the class."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import pytest

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.apimachinery.objects.typed import FieldProblem, convert_data


class Part(msgspec.Struct, frozen=True):
    name: str
    colour: Literal["red", "green", "blue"] = "red"


class Box(msgspec.Struct, frozen=True, tag_field="kind", tag=True):
    parts: tuple[Part, ...]
    size: Annotated[int, msgspec.Meta(ge=1, le=9, extra={"unit": "litres"})] = 1
    depth: Annotated[int, msgspec.Meta(ge=0, le=3)] | None = None
    note: Annotated[str, msgspec.Meta(max_length=3)] = ""
    label: Annotated[str, msgspec.Meta(min_length=1)] = "box"
    extra: dict[str, Any] | None = None
    tags: dict[str, str] = {}
    shut: bool = False
    counts: dict[str, dict[str, int]] = {}
    owners: tuple[str, ...] | None = None
    beside: Part | tuple[Part, ...] | None = None

    def __post_init__(self) -> None:
        if self.shut and not self.parts:
            raise FieldProblem("shut", self.shut, "false, as there is nothing in it")


class Lid(msgspec.Struct, frozen=True, tag_field="kind", tag=True, forbid_unknown_fields=True):
    of: Part | None = None


GOOD = {"kind": "Box", "parts": [{"name": "a"}]}


def problem(data: Any) -> tuple[str, str, str]:
    with pytest.raises(InvalidObject) as refused:
        convert_data(data, Box | Lid)
    (error,) = refused.value.errors
    return error.path, error.received, error.expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"kind": "Bag"}, ("kind", "'Bag'", "Box or Lid")),
        ({"kind": 1}, ("kind", "1", "Box or Lid")),
        ({"parts": {}}, ("parts", "{}", "a list")),
        ({"tags": 5}, ("tags", "5", "an object")),
        ({"tags": {"a": 5}}, ("tags[a]", "5", "a string")),
        ({"parts": [1]}, ("parts[0]", "1", "an object")),
        ({"parts": [{}]}, ("parts[0].name", "None", "a string")),
        ({"parts": [{"name": "a"}, {"name": 2}]}, ("parts[1].name", "2", "a string")),
        ({"parts": [{"name": "a", "colour": "x"}]}, ("parts[0].colour", "'x'", "one of blue, green, red")),
        ({"size": 10}, ("size", "10", "1 to 9 litres")),
        ({"size": "1"}, ("size", "'1'", "whole litres")),
        ({"size": True}, ("size", "True", "whole litres")),
        ({"depth": 4}, ("depth", "4", "0 to 3, or null")),
        ({"depth": 1.5}, ("depth", "1.5", "whole number, or null")),
        ({"note": "four"}, ("note", "4 characters", "at most 3 characters")),
        ({"note": 4}, ("note", "4", "a string")),
        ({"label": ""}, ("label", "''", "a string that is not empty")),
        ({"extra": []}, ("extra", "[]", "an object, or null")),
        ({"extra": {1: 2}}, ("extra", "{1: 2}", "an object whose keys are strings")),
        ({"shut": 0}, ("shut", "0", "true or false")),
        ({"counts": {"a": 1}}, ("counts[a]", "1", "an object")),
        ({"counts": {"a": {"b": 1}, "c.d[": {"...": 2, "/": "x"}}}, ("counts[c.d[][/]", "'x'", "whole number")),
        ({"counts": {"a": {}, "b": {1: 1}}}, ("counts[b]", "{1: 1}", "an object whose keys are strings")),
        ({"owners": ["a", 1]}, ("owners[1]", "1", "a string")),
        ({"beside": {"name": 1}}, ("beside.name", "1", "a string")),
        ({"beside": [{"name": "a"}, 1]}, ("beside[1]", "1", "an object")),
        ({"shut": True, "parts": []}, ("shut", "True", "false, as there is nothing in it")),
    ],
)
def test_what_does_not_fit_is_told_with_path_received_and_expected(
    changes: dict[str, Any], expected: tuple[str, str, str]
) -> None:
    assert problem({**GOOD, **changes}) == expected


@pytest.mark.parametrize("data", [None, [], "Box", 7])
def test_what_is_no_object_at_all_is_told_so(data: Any) -> None:
    assert problem(data) == ("", repr(data), "an object")


def test_a_missing_tag_is_told_with_the_tags_there_are() -> None:
    assert problem({}) == ("kind", "None", "Box or Lid")


def test_an_unknown_field_is_told_with_the_fields_there_are_where_the_class_is_strict() -> None:
    assert problem({"kind": "Lid", "off": 1}) == ("off", "1", "of")


def test_an_unknown_field_may_have_any_name() -> None:
    assert problem({"kind": "Lid", "a.b[": 1}) == ("a.b[", "1", "of")


def test_an_unknown_field_is_passed_over_elsewhere() -> None:
    assert convert_data({**GOOD, "off": 1}, Box | Lid) == Box((Part("a"),))


def test_a_long_value_is_cut() -> None:
    path, received, _expected = problem({**GOOD, "parts": "x" * 1000})
    assert (path, len(received)) == ("parts", 200)
