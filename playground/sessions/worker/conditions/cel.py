"""CEL expressions over a record: checked with the place of each error, compiled once, evaluated within limits.

The core implements the language and its evaluation, with limits of cost and work. This module adds the available names, a maximum length,
and a limit of the total cost at one step. docs/time-travel.md lists the names.
"""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from playground.sessions.protocol.breakpoints import EXPRESSION_LENGTH, ExpressionProblem
from scheduler_core.apimachinery import cel
from scheduler_core.base.trace.kinds import KINDS, PluginRan
from scheduler_core.world.readonly import RECORD_FIELDS, Record, StepFacts

LIMIT = 300_000  # cost of one evaluation: enough for a loop over 5,000 nodes, and at most half a second
LIMIT_OF_A_STEP = 600_000  # total cost of the evaluations at one step, each beyond LIGHT
LIGHT = 200  # free cost of an evaluation: about the cost of creating the record
PARTS = 20_000  # of a value: lists with shared parts may have more than can be compared
STRIKES = 2  # an expression that was stopped this often is skipped for a while
WHILE = 60.0  # seconds
SECOND = 1_000_000_000

NAMES = ("record", "t", "position", "attempt", "queue")
_TYPES = {
    "record": cel.map_of(cel.STRING, cel.DYN),
    "t": cel.DYN,
    "position": cel.INT,
    "attempt": cel.INT,
    "queue": cel.map_of(cel.STRING, cel.DYN),
}
_ENVIRONMENT = cel.Environment(_TYPES)
_ENVELOPE = ("kind", "t", "seq", "scheduler", "parent", "data")
DATA_FIELDS: dict[str, dict[str, str]] = {
    kind: {field.name: field.type for field in fields} for kind, fields in RECORD_FIELDS.items()
}
"""The fields of a record's `data` by kind: names and types."""
QUEUES = ("active", "backoff", "unschedulable", "gated", "in_flight")


class EvaluationError(Exception):
    """An evaluation gave no value, for example because the record lacks a field."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in an expression, with its place: `line` from 1, `column` from 1."""

    message: str
    line: int = 1
    column: int = 1

    def shown_in(self, text: str) -> ExpressionProblem:
        """Return the problem with its line and a caret under the character."""
        lines = text.split("\n")
        line = lines[self.line - 1] if self.line <= len(lines) else ""
        return ExpressionProblem(self.message, self.line, self.column, line, " " * (self.column - 1) + "^")


class BadExpression(Exception):
    """The expression is invalid; `problems` are the errors with their places."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(problems[0].message)
        self.problems = problems


@dataclass(slots=True)
class Program:
    """A compiled expression. `ended` has the times at which an evaluation was stopped for its cost, in any session."""

    compiled: cel.Program
    names: frozenset[str]
    detail: bool
    ended: list[float] = field(default_factory=list)

    def value(self, record: Record, world: Any, allowance: "Allowance") -> Any:
        """Return the value for a record as JSON data. Raise EvaluationError."""
        if allowance.left <= 0:
            raise EvaluationError("The expressions cost too much at one step; this one was not asked there.")
        self._require_patience()
        given = {name: _GIVEN[name](self, record, world) for name in self.names}
        limit = min(LIMIT, LIGHT + allowance.left)
        outcome = self.compiled.evaluate(given, limit)
        allowance.left -= max(0, outcome.cost - LIGHT, outcome.work - LIGHT)
        if not outcome.error:
            return _plain(outcome.value, [PARTS])
        if max(outcome.cost, outcome.work) <= limit:
            raise EvaluationError(outcome.error)
        if limit == LIMIT:
            self.ended.append(time.monotonic())
        raise EvaluationError(f"It would cost more than {limit:,} for a record and was ended.")

    def _require_patience(self) -> None:
        self.ended[:] = [when for when in self.ended if time.monotonic() - when < WHILE]
        if len(self.ended) >= STRIKES:
            raise EvaluationError(f"It cost too much for {STRIKES} records and is not asked for {WHILE:g} seconds.")


@dataclass(slots=True)
class Allowance:
    """The remaining cost limit of all expressions at one step."""

    left: int = LIMIT_OF_A_STEP


def _plain(value: Any, left: list[int]) -> Any:
    """Return a CEL value as JSON data; types that JSON lacks become text. Raise EvaluationError if it has too many parts."""
    left[0] -= 1
    if left[0] < 0:
        raise EvaluationError(f"Its value has more than {PARTS:,} parts.")
    if isinstance(value, list | tuple):
        return [_plain(one, left) for one in value]
    if isinstance(value, dict):
        return {str(cel.value_of_key(key)): _plain(one, left) for key, one in value.items()}
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value if value is None or isinstance(value, bool | int | float | str) else cel.json_safe(value)


def _record(program: Program, record: Record, world: Any) -> dict[str, Any]:
    source = record.source
    data = source.brief() if isinstance(source, StepFacts) and not program.detail else record.data
    return {
        "kind": record.kind,
        "t": record.t,
        "seq": record.seq,
        "scheduler": record.scheduler,
        "parent": record.parent,
        "data": dict(data),
    }


def _attempt(program: Program, record: Record, world: Any) -> int:
    """Return the number of the attempt in progress, or of the last one."""
    cycles = [scheduler.cycle.number for scheduler in world.schedulers if scheduler.cycle is not None]
    return max(cycles, default=0)


def _queue(program: Program, record: Record, world: Any) -> dict[str, int]:
    """Return the numbers of pods in the queues of all schedulers."""
    queues = [scheduler.queue for scheduler in world.schedulers]
    return {
        "active": sum(len(one.active_pods) for one in queues),
        "backoff": sum(len(one.backoff_pods) + len(one.error_backoff_pods) for one in queues),
        "unschedulable": sum(len(one.unschedulable_pods) for one in queues),
        "gated": sum(len(one.gated_pods) for one in queues),
        "in_flight": sum(len(one.in_flight) for one in queues),
    }


_GIVEN: dict[str, Callable[[Program, Record, Any], Any]] = {
    "record": _record,
    "t": lambda program, record, world: record.t / SECOND,
    "position": lambda program, record, world: world.position,
    "attempt": _attempt,
    "queue": _queue,
}


def check(text: str, boolean: bool = True) -> list[Problem]:
    """Return all errors in an expression; `boolean`: its value must be true or false."""
    try:
        program = compile_program(text)
    except BadExpression as bad:
        return bad.problems
    if boolean and program.compiled.tree.type not in (cel.BOOL, cel.DYN):
        return [Problem("The expression gives a value that is not true or false; compare it with something.")]
    return list(_unknown_kinds(program.compiled))


@lru_cache(maxsize=256)
def compile_program(text: str) -> Program:
    """Return the compiled expression. Raise BadExpression."""
    if not text.strip():
        raise BadExpression([Problem("Write an expression.")])
    if len(text) > EXPRESSION_LENGTH:
        many = f"The expression has {len(text):,} characters; at most {EXPRESSION_LENGTH} are taken."
        raise BadExpression([_at(text, EXPRESSION_LENGTH, many)])
    try:
        compiled = _ENVIRONMENT.compile(text, None)
    except cel.CompileError as error:
        # The compiler's error without the list of expected tokens; for an unknown name, with the known names.
        message = re.sub(r" expecting \{.*\}", "", error.message)
        message = message.replace("mismatched input '<EOF>'", "the expression ends too early")
        unknown = re.match(r"undeclared reference to '\.?(\w+)'", message)
        if unknown and text.startswith(unknown[1], error.offset):
            message = f"There is no {unknown[1]!r} here; known: {', '.join(NAMES)}."
        raise BadExpression([Problem(message, error.line, error.column + 1)]) from None
    if problems := list(_unknown_fields(compiled)):
        raise BadExpression(problems)
    words = frozenset(re.findall(r"\w+", text))
    detail = not words.isdisjoint(PluginRan.DETAIL) or "[" in text
    return Program(compiled, words.intersection(NAMES), detail)


def _nodes(node: cel.Node) -> Iterator[cel.Node]:
    yield node
    for child in node.children():
        yield from _nodes(child)


def _path(node: cel.Node) -> tuple[str, ...]:
    """Return the names in `record.data.field`; empty for an expression that is no such chain."""
    if isinstance(node, cel.Ident):
        return (node.name,)
    path = _path(node.operand) if isinstance(node, cel.Select) else ()
    return (*path, node.field) if path and isinstance(node, cel.Select) else ()


def _unknown_fields(program: cel.Program) -> Iterator[Problem]:
    """Yield an error for each field that no record has: the type checker does not know a map's keys."""
    data = sorted({name for names in DATA_FIELDS.values() for name in names})
    for node in _nodes(program.tree):
        message = ""
        match _path(node):
            case ("record" | "queue" as owner, field):
                known = _ENVELOPE if owner == "record" else QUEUES
                if field not in known:
                    message = f"There is no {owner}.{field}; known: {', '.join(known)}."
            case ("record", "data", field) if field not in data:
                suggested = ", ".join(get_close_matches(field, data, 4, 0.5)) or "see docs/trace.md"
                message = f"No record has data.{field}; there is: {suggested}."
        if message:
            yield _at(program.text, program.text.find(field, node.at), message)


def _unknown_kinds(program: cel.Program) -> Iterator[Problem]:
    """Yield an error for each comparison with a kind that no record has: it would never hold."""
    for node in _nodes(program.tree):
        if isinstance(node, cel.Call) and node.function == "_==_":
            for one, other in (node.args, node.args[::-1]):
                if _path(one) != ("record", "kind") or not isinstance(other, cel.Literal):
                    continue
                if other.value not in KINDS:
                    message = f"There is no record kind {other.value!r}; known: {', '.join(KINDS)}."
                    yield _at(program.text, other.start + 1, message)


def _at(text: str, index: int, message: str) -> Problem:
    before = text[:index]
    return Problem(message, before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1)
