"""Quantities: kubernetes.Quantity.

kube: apiserver/pkg/cel/library/quantity.go, apimachinery/pkg/api/resource/{quantity,amount}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.cel.values import MAX_INT, MIN_INT, Failure, QuantityValue
from scheduler_core.objects.quantity import NANO, BadQuantity, nanos

_BAD = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def quantity_value(text: str | int) -> QuantityValue:
    """BadQuantity where the text is none."""
    count = nanos(text)
    return QuantityValue(count, count % NANO == 0)


def _quantity(text: str) -> object:
    try:
        return quantity_value(text)
    except BadQuantity:
        return Failure(_BAD)


def _is_quantity(text: str) -> bool:
    return not isinstance(_quantity(text), Failure)


def _order(one: QuantityValue, other: QuantityValue) -> int:
    return (one.nanos > other.nanos) - (one.nanos < other.nanos)


def _integer(quantity: QuantityValue) -> object:
    whole = quantity.nanos // NANO
    if not quantity.integral or not MIN_INT <= whole <= MAX_INT:
        return Failure("cannot convert value to integer")
    return whole


def _sum(count: int) -> QuantityValue:
    return QuantityValue(count, count % NANO == 0, computed=True)


QUANTITIES: dict[str, Callable[..., object]] = {
    "string_to_quantity": _quantity,
    "is_quantity_string": _is_quantity,
    "quantity_sign": lambda quantity: (quantity.nanos > 0) - (quantity.nanos < 0),
    "quantity_is_greater_than": lambda one, other: _order(one, other) > 0,
    "quantity_is_less_than": lambda one, other: _order(one, other) < 0,
    "quantity_compare_to": _order,
    "quantity_get_float": lambda quantity: quantity.nanos / NANO,
    "quantity_get_int": _integer,
    "quantity_is_integer": lambda quantity: not isinstance(_integer(quantity), Failure),
    "quantity_add": lambda one, other: _sum(one.nanos + other.nanos),
    "quantity_add_int": lambda quantity, count: _sum(quantity.nanos + count * NANO),
    "quantity_sub": lambda one, other: _sum(one.nanos - other.nanos),
    "quantity_sub_int": lambda quantity, count: _sum(quantity.nanos - count * NANO),
}
