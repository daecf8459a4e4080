"""Quantities: kubernetes.Quantity.

kube: apiserver/pkg/cel/library/quantity.go, apimachinery/pkg/api/resource/{quantity,amount}.go @ v1.34.1
"""

from __future__ import annotations

import re
from collections.abc import Callable

from scheduler_core.apimachinery.cel.values import MAX_INT, MIN_INT, Failure, QuantityValue
from scheduler_core.apimachinery.objects.quantity import NANO, BadQuantity, nanos

_BAD = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_PARTS = re.compile(r"[+-]?([0-9]*)(?:\.([0-9]*))?(.*)")
_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SHAPE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eEinumkKMGTP]*[-+]?[0-9]*\Z")


def quantity_value(text: str | int) -> QuantityValue:
    """BadQuantity where the text is none."""
    if isinstance(text, int):
        return QuantityValue(text * NANO)
    return QuantityValue(nanos(text), _scale(text))


def _scale(text: str) -> int | None:
    """The power of ten that kube reads a text in, None where it takes a decimal number for it."""
    match = _PARTS.match(text)
    assert match is not None
    whole, fraction, suffix = match.groups(default="")
    digits = (whole.lstrip("0") or "0") + fraction
    if suffix.endswith("i"):
        power = 10 * (_BINARY.index(suffix) + 1)
        fast = not fraction and 14 - len(digits) - power * 3 // 10 >= 0 and int(digits) << power <= MAX_INT
        return 0 if fast else None
    exponent = _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])
    scale = exponent - len(fraction)
    return scale if len(digits) <= 18 and scale >= -9 else None


def _quantity(text: str) -> object:
    try:
        return quantity_value(text)
    except BadQuantity:
        return Failure("unable to parse quantity's suffix" if _SHAPE.match(text) else _BAD)


def _is_quantity(text: str) -> bool:
    return not isinstance(_quantity(text), Failure)


def _order(one: QuantityValue, other: QuantityValue) -> int:
    return (one.nanos > other.nanos) - (one.nanos < other.nanos)


def _integer(quantity: QuantityValue) -> object:
    whole = quantity.nanos // NANO
    if quantity.scale is None or quantity.scale < 0 or not MIN_INT <= whole <= MAX_INT:
        return Failure("cannot convert value to integer")
    return whole


def _float(quantity: QuantityValue) -> float:
    scale = -9 if quantity.scale is None else quantity.scale
    base = float(quantity.nanos // 10 ** (9 + scale))
    return base * float(f"1e{scale}") if scale else base


def _sum(one: QuantityValue, other: QuantityValue, sign: int = 1) -> QuantityValue:
    count = one.nanos + sign * other.nanos
    return QuantityValue(count, _scale_of_sum(one, other, count), computed=True)


def _scale_of_sum(one: QuantityValue, other: QuantityValue, count: int) -> int | None:
    if one.scale is None or other.scale is None:
        return None
    if not other.nanos:
        return one.scale
    if not one.nanos:
        return other.scale
    scale = min(one.scale, other.scale)
    parts = (one.nanos, other.nanos, count)
    fits = all(MIN_INT <= part // 10 ** (9 + scale) <= MAX_INT for part in parts)
    return scale if fits else None


def _whole(count: int) -> QuantityValue:
    return QuantityValue(count * NANO)


QUANTITIES: dict[str, Callable[..., object]] = {
    "string_to_quantity": _quantity,
    "is_quantity_string": _is_quantity,
    "quantity_sign": lambda quantity: (quantity.nanos > 0) - (quantity.nanos < 0),
    "quantity_is_greater_than": lambda one, other: _order(one, other) > 0,
    "quantity_is_less_than": lambda one, other: _order(one, other) < 0,
    "quantity_compare_to": _order,
    "quantity_get_float": _float,
    "quantity_get_int": _integer,
    "quantity_is_integer": lambda quantity: not isinstance(_integer(quantity), Failure),
    "quantity_add": _sum,
    "quantity_add_int": lambda quantity, count: _sum(quantity, _whole(count)),
    "quantity_sub": lambda one, other: _sum(one, other, -1),
    "quantity_sub_int": lambda quantity, count: _sum(quantity, _whole(count), -1),
}
