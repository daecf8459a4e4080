"""The formulas of a Score expression's result and of its normalization."""

from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.explanation import Code, gettext_noop
from scheduler_core.scheduler.framework.formula import NODE, Expression, Formula, Line, Value, constant, times, whole
from scheduler_core.scheduler.framework.plugin import MAX_NODE_SCORE, Rows, Scores
from scheduler_core.scheduler.plugins.cel.expressions import Answer
from scheduler_core.scheduler.plugins.helper.normalize import default_normalization, span_normalization

_ANSWER = gettext_noop("result of the expression")


def answer_formula(text: str, answer: Answer) -> Formula | None:
    """Return the score's formula, or None for a text: true becomes 100, and a double is truncated."""
    if isinstance(answer, str):
        return None
    given = Value(int(answer) if isinstance(answer, bool) else answer, _ANSWER)
    score: Expression = given
    if isinstance(answer, bool):
        score = times(constant(MAX_NODE_SCORE), given)
    elif isinstance(answer, float):
        score = whole(given)
    return Formula((Line(NODE, score),), ((Code(" ".join(text.split())),),))


def normalization_formula(kind: str, nodes: NodeTable, rows: Rows, scores: Scores, i: int) -> Formula | None:
    """Return the formula for the definition's `normalize`."""
    if kind == "none":
        return None
    if kind != "min-max":
        return default_normalization(nodes, rows, scores, i, reverse=kind == "reversed")
    return span_normalization(nodes, rows, scores, i)
