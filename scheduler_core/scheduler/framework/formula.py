"""Formula: how a number came about, as data. Lines of expressions with the values of one node put in; whoever has it can compute it again.

Numbers are Go's: whole ones are int64, which wrap and divide towards zero, others are float64. A plugin makes formulas only when somebody
looks (Plugin.formula, Plugin.normalization).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from scheduler_core.scheduler.framework.explanation import Parts, Source, phrase

Number: TypeAlias = int | float

_HALF, _WRAP = 1 << 63, 1 << 64


@dataclass(frozen=True, slots=True)
class Value:
    """A number that was given. `what` it is, in words for people; cpu in millis, memory in bytes where `resource` names it."""

    number: Number
    what: str = ""
    resource: str = ""
    source: Source | None = None

    @property
    def result(self) -> Number:
        return self.number


@dataclass(frozen=True, slots=True)
class Operator:
    """`symbol` stands between the parts, or before them in brackets (`infix` False); `binds` tells where brackets are needed."""

    symbol: str
    apply: Callable[..., Number]
    infix: bool = True
    binds: int = 9

    def __call__(self, *parts: Expression) -> Of:
        return Of(self, parts)


@dataclass(frozen=True, slots=True)
class Of:
    """An operator with what it is applied to."""

    operator: Operator
    parts: tuple[Expression, ...]

    @property
    def result(self) -> Number:
        return self.operator.apply(*(part.result for part in self.parts))


@dataclass(frozen=True)
class Line:
    """One step on the way: its name, the expression, and what it comes to. Later lines use it as one of their parts.

    `resource`: what the result is an amount of.
    """

    name: Parts
    expression: Expression
    resource: str = ""

    @cached_property
    def result(self) -> Number:
        return self.expression.result


Expression: TypeAlias = Value | Of | Line


@dataclass(frozen=True, slots=True)
class Formula:
    """The last line is what the formula comes to. `notes` are sentences about how kube-scheduler counts here."""

    lines: tuple[Line, ...]
    notes: tuple[Parts, ...] = ()

    @property
    def result(self) -> int:
        return int(self.lines[-1].result)


# What a formula is made with


def _int64(number: Number) -> Number:
    """Wrap a number to int64, like Go's arithmetic."""
    if isinstance(number, float) or -_HALF <= number < _HALF:
        return number
    return (number + _HALF) % _WRAP - _HALF


def _total(*numbers: Number) -> Number:
    total: Number = 0
    for number in numbers:
        total = _int64(total + number)
    return total


def _product(*numbers: Number) -> Number:
    product: Number = 1
    for number in numbers:
        product = _int64(product * number)
    return product


def _quotient(a: Number, b: Number) -> Number:
    """Whole numbers divide towards zero."""
    if isinstance(a, float) or isinstance(b, float):
        return float(a) / float(b)
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _round_half_away(number: Number) -> int:
    """Round to the nearest integer, halves away from zero."""
    whole = math.trunc(number)
    return whole + int(math.copysign(abs(number - whole) >= 0.5, number))


_PLUS = Operator("+", _total, binds=1)
minus = Operator("−", lambda a, b: _int64(a - b), binds=1)
times = Operator("×", _product, binds=2)
by = Operator("÷", _quotient, binds=2)  # whole numbers divide like in Go
share = Operator("/", lambda a, b: float(a) / float(b), binds=2)  # a float64, also of whole numbers
least = Operator("min", min, infix=False)
most = Operator("max", max, infix=False)
round_expression = Operator("round", _round_half_away, infix=False)
whole = Operator("trunc", math.trunc, infix=False)  # without its fraction
root = Operator("√", math.sqrt, infix=False)
size = Operator("abs", abs, infix=False)  # without its sign
square = Operator("²", lambda a: a * a, infix=False)


def constant(number: Number, resource: str = "") -> Value:
    """A number of kube-scheduler's own."""
    return Value(number, resource=resource)


def total(*parts: Expression) -> Expression:
    return parts[0] if len(parts) == 1 else _PLUS(*parts)


NODE = phrase("node")
ROUNDED_DOWN = phrase("Numbers are rounded down, as in kube-scheduler.")


def lines_of(expression: Expression) -> Sequence[Line]:
    """The lines that an expression uses, in the order in which it names them."""
    match expression:
        case Line():
            return (expression,)
        case Of(_, parts):
            return tuple(line for part in parts for line in lines_of(part))
    return ()
