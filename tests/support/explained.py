"""Explanations as plain text: for tests of plugins."""

from __future__ import annotations

from scheduler_core.scheduler.framework.explanation import (
    Amount,
    Aside,
    Bar,
    Below,
    Code,
    Explanation,
    Key,
    Paragraph,
    Part,
    Parts,
    PodName,
    Table,
    Words,
    WrittenValue,
)


def rows(explanation: Explanation) -> list[tuple[str, ...]]:
    """The cells of all tables; one more, "bad", in a row that keeps the pod off the node."""
    return [
        (*map(text, row.cells), *(("bad",) if row.bad else ()))
        for block in explanation
        if isinstance(block, Table)
        for row in block.rows
    ]


def paragraphs(explanation: Explanation) -> list[str]:
    return [text(block.parts) for block in explanation if isinstance(block, Paragraph)]


def text(parts: Parts) -> str:
    """Small print in brackets; a bar as its percentage."""
    return " ".join("".join(map(_text, parts)).split())


def _text(part: Part) -> str:
    match part:
        case str(shown) | Words(shown) | Key(shown) | PodName(shown):
            return shown
        case WrittenValue(shown, _):
            return shown if isinstance(shown, str) else shown.text
        case Code(inner):
            return _text(inner)
        case Amount(_, value):
            return str(value)
        case Bar(percent):
            return f" {percent}%"
        case Aside(inner) | Below(inner):
            return f" [{text(inner)}]"
