"""CEL selectors of devices."""

from typing import Any

import pytest

from scheduler_core.apimachinery.dra.features import SelectorError
from scheduler_core.apimachinery.dra.selectors import is_too_complex, selector

ATTRIBUTES: dict[str, Any] = {
    "cores": {"int": 8},
    "fast": {"bool": True},
    "model": {"string": "A100"},
    "dra.example.com/version": {"version": "1.2.3"},
    "other.example.com/name": {"string": "x"},
}
CAPACITY = {"memory": {"value": "40Gi"}}


def matches(expression: str, allow_multiple: bool | None = None) -> bool:
    return selector(expression).matches("dra.example.com", ATTRIBUTES, CAPACITY, allow_multiple)


@pytest.mark.parametrize(
    "expression",
    [
        'device.driver == "dra.example.com"',
        'device.attributes["dra.example.com"].cores >= 8',
        'device.attributes["dra.example.com"].fast',
        'device.attributes["dra.example.com"].model.startsWith("A")',
        'device.attributes["dra.example.com"].version.isGreaterThan(semver("1.2.0"))',
        'device.attributes["other.example.com"].name == "x"',
        'device.capacity["dra.example.com"].memory.compareTo(quantity("40Gi")) == 0',
        '!("none" in device.attributes)',
        "has(device.attributes.none)",
        '!has(device.attributes["none"].name)',
        'cel.bind(dra, device.attributes["dra.example.com"], dra.fast && dra.cores > 1)',
    ],
)
def test_an_expression_selects_the_device(expression: str) -> None:
    assert matches(expression)


@pytest.mark.parametrize(
    ("expression", "kind", "text"),
    [
        ('device.attributes["none"].cores > 1', "runtime", "no such key: cores"),
        ('device.attributes["dra.example.com"].none', "runtime", "no such key: none"),
        (
            'device.attributes["dra.example.com"].model',
            "runtime",
            "CEL result of type string could not be converted to bool: unsupported native conversion from string to 'bool'",
        ),
        (
            'device.attributes["dra.example.com"].version in ["1.2.3"]',
            "runtime",
            "internal error: runtime error: hash of unhashable type cel.Semver",
        ),
        ("1", "compile", "must evaluate to bool or the unknown type, not int"),
        ("device.none", "compile", "undefined field 'none'"),
    ],
)
def test_an_expression_fails_in_kubes_words(expression: str, kind: str, text: str) -> None:
    with pytest.raises(SelectorError) as caught:
        matches(expression)

    assert caught.value.kind == kind
    assert text in str(caught.value)


def test_a_device_may_be_shared() -> None:
    assert matches("device.allowMultipleAllocations", allow_multiple=True)
    assert not matches("device.allowMultipleAllocations")


def test_what_is_new_knows_less_than_what_is_stored() -> None:
    assert selector("device.allowMultipleAllocations", consumable=True, stored=False)
    for expression in ("device.allowMultipleAllocations", "[1, 2].slice(0, 1) == [1]", "[2].sortBy(x, x) == [2]"):
        with pytest.raises(SelectorError) as caught:
            selector(expression, stored=False)
        assert caught.value.kind == "compile"
        assert selector(expression)


def test_what_may_cost_too_much_is_too_complex() -> None:
    inner = "device.attributes.all(d, device.attributes[d].all(n, n.matches('^[a-z]{1,30}$')))"

    assert not is_too_complex(inner)
    assert is_too_complex(f"device.attributes.all(a, device.attributes.all(b, {inner}))")


def test_a_malformed_version_is_an_error() -> None:
    with pytest.raises(SelectorError, match="attribute v: parse semantic version: No Major"):
        selector("true").matches("d", {"v": {"version": "1.0"}}, {})
