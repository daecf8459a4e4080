"""The calculation of a score: a node's total by plugin, or one plugin's points by its formulas."""

from collections.abc import Iterator
from typing import Literal, NotRequired, TypedDict

from playground.presenters.inspector.node import FigurePart, parts_of
from playground.presenters.look import Look
from playground.presenters.scene import framework_of
from playground.presenters.stage.score.board import Column, ScoringState
from playground.presenters.words import Message, amount, message
from scheduler_core.analysis.inspection import Expression, Formula, Line, Of, Value, working
from scheduler_core.world.readonly import SchedulingCycleView, WorldView

# Formulas for the template: tokens, each a sign, a number with a source, or the result of an earlier line.

DIGITS = 6  # decimals; an ellipsis marks cut digits


class Token(TypedDict):
    """`object`, `key`, and `path` lead to the source of a value in a manifest."""

    kind: str
    text: str
    what: NotRequired[str]
    object: NotRequired[str]
    key: NotRequired[str]
    path: NotRequired[str]


class FormulaLine(TypedDict):
    name: list[FigurePart]
    tokens: list[Token]
    result: str


def lines(formula: Formula | None) -> list[FormulaLine]:
    """Return each line of a formula: its name, tokens, and result. A line that is only a number has no tokens."""
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


def notes(formula: Formula | None) -> list[list[FigurePart]]:
    return [] if formula is None else [parts_of(note) for note in formula.notes]


def number(value: float, resource: str = "") -> str:
    """Format a number. An ellipsis marks cut digits."""
    if isinstance(value, float) and not value.is_integer():
        text = f"{value:.{DIGITS}f}"
        return text.rstrip("0") if float(text) == value else f"{_cut(value)}…"
    return amount(resource, int(value)) if resource else str(int(value))


def _cut(value: float) -> str:
    """Cut a number after DIGITS digits, without rounding."""
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
    token: Token = {"kind": "value", "text": number(value.number, value.resource), "what": value.what}
    if value.source is not None:
        source = value.source
        token["object"], token["key"], token["path"] = source.kind, source.key, source.path
    return token


# The number of nodes that Filter evaluated before scoring.


def describe_sampling(cycle: SchedulingCycleView) -> Message | None:
    """Describe the sampling of nodes, or return None if Filter evaluated every node of the snapshot."""
    nodes, feasible = len(cycle.nodes), 0 if cycle.feasible is None else len(cycle.feasible)
    looked_at = feasible + len(cycle.node_to_status.refused)
    if looked_at >= nodes:
        return None
    return message(
        "Filter examined %(looked)s of %(nodes)s nodes until %(feasible)s were feasible. Only these are scored.",
        looked=f"{looked_at:,}",
        nodes=f"{nodes:,}",
        feasible=f"{feasible:,}",
    )


def why(sim: WorldView, scored: ScoringState, look: Look) -> "WhyTotal | WhyPlugin | None":
    """Explain the score of the chosen node, else of the leader: the points of the chosen plugin, else of all plugins."""
    place = scored.place(look.node)
    if place is None:
        place = int(scored.totals.argmax()) if scored.cycle.chosen is None else scored.place(scored.cycle.chosen)
    if place is None:
        return None
    column = next((each for each in scored.columns if each.name == look.plugin), None)
    if column is None or column.raw is None:
        return {
            "kind": "total",
            "node": scored.name(place),
            "total": int(scored.totals[place]),
            "rows": [read_numbers(column, place) for column in scored.columns],
            "sampled": describe_sampling(scored.cycle),
        }
    return _of_plugin(sim, scored, column, place)


class WhyTotal(TypedDict):
    kind: Literal["total"]
    node: str
    total: int
    rows: "list[WhyRow]"
    sampled: Message | None


class WhyRow(TypedDict):
    plugin: str
    weight: int
    extender: bool
    raw: int | None
    norm: int | None
    points: int | None


def read_numbers(column: Column, i: int) -> WhyRow:
    """Return a column's numbers for a place on the board."""
    return {
        "plugin": column.name,
        "weight": column.weight,
        "extender": column.extender,
        "raw": None if column.raw is None else int(column.raw[i]),
        "norm": None if column.normalized is None or column.extender else int(column.normalized[i]),
        "points": None if column.points is None else int(column.points[i]),
    }


class WhyPlugin(WhyRow):
    kind: Literal["plugin"]
    node: str
    number: int | None
    lines: list[FormulaLine]
    scaled: list[FormulaLine]
    notes: list[list[FigurePart]]
    pending: bool
    changed: bool
    sampled: Message | None


def _of_plugin(sim: WorldView, scored: ScoringState, column: Column, place: int) -> WhyPlugin:
    node, row = scored.name(place), read_numbers(column, place)
    shared: WhyPlugin = {
        **row,
        "kind": "plugin",
        "node": node,
        "number": row["points"] if row["points"] is not None else row["raw"],
        "lines": [],
        "scaled": [],
        "notes": [],
        "pending": False,
        "changed": False,
        "sampled": None,
    }
    if column.extender:
        return shared
    found = working(framework_of(sim), scored.cycle, column.name, node)
    formula = found.formula if found is not None else None
    scaled = found.normalization if found is not None else None
    return {
        **shared,
        "pending": column.state == "raw",
        "changed": formula is None,
        "lines": lines(formula),
        "scaled": lines(scaled),
        "notes": [*notes(formula), *notes(scaled)],
        "sampled": describe_sampling(scored.cycle),
    }
