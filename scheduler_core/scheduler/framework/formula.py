"""Formula: the derivation of a number, as data: lines of expressions with the values of one node. A reader can recompute the number.

Numbers are Go's: integers are int64, which wrap and divide towards zero, others are float64. A plugin builds formulas only for display
(Plugin.formula, Plugin.normalization).
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
    """An input. `what` describes it for display; cpu is in millis and memory in bytes if `resource` names it."""

    number: Number
    what: str = ""
    resource: str = ""
    source: Source | None = None

    @property
    def result(self) -> Number:
        return self.number


@dataclass(frozen=True, slots=True)
class Operator:
    """`symbol` is printed between the parts, or before them in parentheses (`infix` False); `binds` is the precedence."""

    symbol: str
    apply: Callable[..., Number]
    infix: bool = True
    binds: int = 9

    def __call__(self, *parts: Expression) -> Of:
        return Of(self, parts)


@dataclass(frozen=True, slots=True)
class Of:
    """An operator applied to its parts."""

    operator: Operator
    parts: tuple[Expression, ...]

    @property
    def result(self) -> Number:
        return self.operator.apply(*(part.result for part in self.parts))


@dataclass(frozen=True)
class Line:
    """A step of the derivation: its name, its expression, and its result. Later lines use it as one of their parts.

    `resource`: the resource of which the result is an amount.
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
    """The last line is the result. `notes` are sentences about kube-scheduler's arithmetic."""

    lines: tuple[Line, ...]
    notes: tuple[Parts, ...] = ()

    @property
    def result(self) -> int:
        return int(self.lines[-1].result)


# The building blocks of formulas


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
    """Divide; integers divide towards zero."""
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
    """Return a constant of kube-scheduler."""
    return Value(number, resource=resource)


def total(*parts: Expression) -> Expression:
    return parts[0] if len(parts) == 1 else _PLUS(*parts)


NODE = phrase("node")
ROUNDED_DOWN = phrase("Numbers are rounded down, as in kube-scheduler.")


def lines_of(expression: Expression) -> Sequence[Line]:
    """Return the lines that an expression uses, in order."""
    match expression:
        case Line():
            return (expression,)
        case Of(_, parts):
            return tuple(line for part in parts for line in lines_of(part))
    return ()
