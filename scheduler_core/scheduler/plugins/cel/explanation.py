"""The explanation of an expression's result on one node: the values of its parts."""

import json
from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.cel.environment import Outcome
from scheduler_core.scheduler.framework.explanation import Code, Explanation, Paragraph, Row, Table, Words, gettext_noop
from scheduler_core.scheduler.plugins.cel.expressions import CallBudget, CompiledExpression

MOST_PARTS = 40
LONGEST = 120

ANSWER = gettext_noop("the result")
NO_ANSWER = gettext_noop("No result:")
FIELDS = {"filter": "Filter", "score": "Score"}


def values_of(expression: CompiledExpression, outcome: Outcome) -> list[tuple[str, str]]:
    """Return (part of the expression, its value) in evaluation order, except literals and whole objects."""
    text = expression.program.text
    parts: dict[tuple[str, str], None] = {}
    for start, end, value in outcome.values:
        part = " ".join(text[start:end].split())
        if not (part.isidentifier() or not any(character.isalpha() for character in part) or part[:1] in "'\"") and (
            start,
            end,
        ) != (0, len(text)):
            parts[(_cut(part), format_value(value))] = None
    return list(parts)


def explain_expression(expression: CompiledExpression, variables: Mapping[str, Any]) -> Explanation:
    """Return an explanation of the expression's value for these variables."""
    outcome = expression.evaluate(variables, CallBudget(), watch=True)
    parts = values_of(expression, outcome)
    heading = Paragraph((f"{FIELDS[expression.field]}: ", Code(" ".join(expression.program.text.split()))))
    rows = [Row(((Code(part),), (Code(value),))) for part, value in parts[:MOST_PARTS]]
    if not outcome.error:
        rows.append(Row(((Words(ANSWER),), (Code(format_value(outcome.value)),)), here=True))
    more = max(len(parts) - MOST_PARTS, 0)
    table = Table((gettext_noop("part"), gettext_noop("value")), tuple(rows), more)
    if not outcome.error:
        return heading, table
    return heading, table, Paragraph((Words(NO_ANSWER), f" {outcome.error}"), "bad")


def format_value(value: object) -> str:
    """Return a value as JSON, truncated if it is too long."""
    return _cut(json.dumps(value, ensure_ascii=False, separators=(", ", ": "), default=str))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
