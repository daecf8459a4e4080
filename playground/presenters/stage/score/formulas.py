"""Formulas as the template reads them: tokens, each a sign, a number that leads somewhere, or the result of a line before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.presenters.amounts import amount
from playground.presenters.inspector.figures import parts_of
from scheduler_core.analysis.inspection import Expression, Formula, Line, Of, Value

DIGITS = 6  # behind the point; what is cut says so

Token = dict[str, Any]


def lines(formula: Formula | None) -> list[dict[str, Any]]:
    """Each line: its name, its tokens, what it comes to. A line that is only a number has no tokens."""
    if formula is None:
        return []
    return [
        {
            "name": parts_of(line.name),
            "tokens": list(_tokens(line.expression, 0)),
            "result": number(line.result, line.resource),
        }
        for line in formula.lines
    ]


def notes(formula: Formula | None) -> list[list[dict[str, Any]]]:
    return [] if formula is None else [parts_of(note) for note in formula.notes]


def number(value: float, resource: str = "") -> str:
    """Format a number; one with too many digits ends in …"""
    if isinstance(value, float) and not value.is_integer():
        text = f"{value:.{DIGITS}f}"
        return text.rstrip("0") if float(text) == value else f"{_cut(value)}…"
    return amount(resource, int(value)) if resource else str(int(value))


def _cut(value: float) -> str:
    """Not rounded: the digits are those of the number."""
    return f"{value:.{DIGITS + 6}f}"[:-6]


def _tokens(expression: Expression, outer: int) -> Iterator[Token]:
    match expression:
        case Line(_, _, resource):
            yield {"kind": "earlier", "text": number(expression.result, resource)}
        case Value():
            yield _value(expression)
        case Of(operator, parts) if not operator.infix:
            yield {"kind": "open", "text": f"{operator.symbol}("}
            for i, part in enumerate(parts):
                if i:
                    yield {"kind": "comma", "text": ","}
                yield from _tokens(part, 0)
            yield {"kind": "close", "text": ")"}
        case Of(operator, parts):
            yield from _infix(operator.symbol, operator.binds, parts, outer)


def _infix(symbol: str, binds: int, parts: tuple[Expression, ...], outer: int) -> Iterator[Token]:
    """Yield an infix term, in brackets if the outer operator binds as tightly or tighter."""
    if binds <= outer:
        yield {"kind": "open", "text": "("}
    for i, part in enumerate(parts):
        if i:
            yield {"kind": "sign", "text": symbol}
        yield from _tokens(part, binds - (i == 0))
    if binds <= outer:
        yield {"kind": "close", "text": ")"}


def _value(value: Value) -> Token:
    """`object`, `key` and `path` where the value is written down."""
    token: Token = {"kind": "value", "text": number(value.number, value.resource), "what": value.what}
    if value.source is not None:
        token |= {"object": value.source.kind, "key": value.source.key, "path": value.source.path}
    return token
