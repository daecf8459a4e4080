"""The expressions of a definition: their variables, what they may answer, what is wrong with them, and how they are evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from scheduler_core.apimachinery.cel.environment import Environment, Outcome, Program
from scheduler_core.apimachinery.cel.errors import CompileError
from scheduler_core.apimachinery.cel.types import ANY, DYN, TIMESTAMP
from scheduler_core.scheduler.framework.explanation import gettext_noop
from scheduler_core.scheduler.plugins.cel.definition import Definition
from scheduler_core.scheduler.plugins.cel.variables import NODE, POD, VICTIM, WAITING

LIMIT = 100_000  # cost of one evaluation
LIMIT_OF_A_CALL = 5_000_000  # of all nodes together

Answer = bool | int | float | str

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Kind:
    """The expression of one extension point: variable -> what it is, and the types of its answer with what each means."""

    variables: Mapping[str, str]
    answers: Mapping[str, str]


EXPRESSIONS: Mapping[str, Kind] = {
    "pre_enqueue": Kind(
        POD,
        {
            "bool": gettext_noop("true: the pod enters the queue; false: the pod is held back"),
            "string": gettext_noop("empty: the pod enters the queue; a text: the reason to hold it back"),
        },
    ),
    "filter": Kind(
        {**POD, **NODE},
        {
            "bool": gettext_noop("true: the node is feasible; false: refused"),
            "string": gettext_noop("empty: the node is feasible; a text: the reason to refuse it"),
        },
    ),
    "score": Kind(
        {**POD, **NODE},
        {
            "int": gettext_noop("the node's score"),
            "double": gettext_noop("the node's score, without its fraction"),
            "bool": gettext_noop("true: 100, false: 0"),
        },
    ),
    "permit": Kind(
        {**POD, **NODE, **WAITING},
        {
            "bool": gettext_noop("true: allow the pod; false: reject it"),
            "int": gettext_noop("0: allow the pod; above 0: wait at most so many seconds; below 0: reject it"),
            "string": gettext_noop("empty: allow the pod; a text: the reason to reject it"),
        },
    ),
    "post_filter": Kind(
        {**POD, **NODE, **VICTIM},
        {"bool": gettext_noop("true: the pod may preempt the victim; false: keep the victim")},
    ),
}
"""By the definition's field."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """An error in an expression: the field and the position in its text (line from 1, column from 0, offset in characters)."""

    field: str
    message: str
    line: int
    column: int
    offset: int


class EvaluationFailed(ValueError):
    """An expression has no answer; the text says why."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression, with the variables that it may name."""

    field: str
    program: Program
    used: frozenset[str]

    def answer(self, variables: Mapping[str, Any], spent: Spent) -> Answer:
        """EvaluationFailed where it has none."""
        return self.read(self.evaluate(variables, spent), spent)

    def evaluate(self, variables: Mapping[str, Any], spent: Spent, *, watch: bool = False) -> Outcome:
        """`watch`: with the values of its parts."""
        outcome = self.program.evaluate(variables, min(LIMIT, max(spent.left, 0)), watch)
        spent.left -= max(outcome.cost, outcome.work)
        return outcome

    def read(self, outcome: Outcome, spent: Spent) -> Answer:
        """EvaluationFailed where it is no answer."""
        if outcome.error:
            if spent.left <= 0:
                raise EvaluationFailed(f"this call has cost more than {LIMIT_OF_A_CALL:,}, all nodes together")
            raise EvaluationFailed(outcome.error)
        value = outcome.value
        for kind in EXPRESSIONS[self.field].answers:
            if type(value) is _PYTHON[kind]:
                return value  # type: ignore[return-value]
        raise EvaluationFailed(
            f"received {_format_repr(value)} as its answer; expected {_format_answer_types(self.field)}"
        )


class Spent:
    """The cost budget that is left in one call of a plugin."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = LIMIT_OF_A_CALL


_TYPES = {name: TIMESTAMP if name == "now" else DYN for name in (*POD, *NODE, *WAITING, *VICTIM)}
_ENVIRONMENTS = {
    field: Environment({name: _TYPES[name] for name in kind.variables}) for field, kind in EXPRESSIONS.items()
}


@lru_cache(maxsize=512)
def compile_expression(field: str, text: str) -> Compiled:
    """CompileError."""
    program = _ENVIRONMENTS[field].compile(text, None)
    return Compiled(field, program, frozenset(_NAME.findall(text)) & frozenset(EXPRESSIONS[field].variables))


@lru_cache(maxsize=256)
def problems_of(definition: Definition) -> tuple[Wrong, ...]:
    """Everything that does not compile, or answers what means nothing at its extension point."""
    found = []
    for field in EXPRESSIONS:
        text = getattr(definition, field)
        if not text:
            continue
        try:
            program = compile_expression(field, text).program
        except CompileError as wrong:
            found.append(Wrong(field, wrong.message, wrong.line, wrong.column, wrong.offset))
            continue
        kind = program.tree.type
        if kind not in (ANY, DYN) and str(kind) not in EXPRESSIONS[field].answers:
            found.append(Wrong(field, f"the answer is of type {kind}; expected {_format_answer_types(field)}", 1, 0, 0))
    return tuple(found)


_PYTHON = {"bool": bool, "int": int, "double": float, "string": str}


def _format_answer_types(field: str) -> str:
    *others, last = EXPRESSIONS[field].answers
    return f"{', '.join(others)} or {last}" if others else last


def _format_repr(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
