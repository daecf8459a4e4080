"""Expressions in CEL over a record: checked with the place of every error, compiled once, evaluated within limits.

The language and its evaluation are the library's (docs/dependencies.md). It ends every evaluation after 10,000 iterations and nests at
most 32 deep; what is added here: which names there are, a length, how many loops an expression may have, and how much one evaluation
may take. What surely takes little is evaluated at once, anything else in a process of its own (evaluator.py). docs/time-travel.md lists
the names for people.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import orjson

from playground.sessions.protocol.breakpoints import EXPRESSION_LENGTH, ExpressionProblem
from playground.sessions.worker.conditions.evaluation import (
    NAMES,
    Failed,
    OutOfMemory,
    environment,
    evaluate,
    words,
)
from playground.sessions.worker.conditions.evaluator import Ended, evaluator
from scheduler_core.base.trace.kinds import KINDS, PluginRan
from scheduler_core.world.readonly import RECORD_FIELDS, Record, StepFacts

LOOPS = 2  # comprehensions in one expression: what they do multiplies
ITERATIONS = 10_000  # the library's own limit for one evaluation
LIGHT = 8_000_000  # as `weight` counts: some milliseconds, some megabytes
STRIKES = (
    2  # an expression that was ended so often is not asked for a while: once may be a busy machine's doing
)
WHILE = 60.0  # seconds
AT_ONCE = 1.0  # seconds that those may take together at one step that are not light
SECOND = 1_000_000_000
OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY

_ENVELOPE = ("kind", "t", "seq", "scheduler", "parent", "data")
DATA_FIELDS: dict[str, dict[str, str]] = {
    kind: {field.name: field.type for field in fields} for kind, fields in RECORD_FIELDS.items()
}
"""What a record's `data` holds, by kind: names and types."""
QUEUES = ("active", "backoff", "unschedulable", "gated", "in_flight")

_TEXT = re.compile(
    r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|//[^\n]*", re.DOTALL
)
_LOOP = re.compile(r"\b(?:all|exists|exists_one|map|filter)\b")
_PATH = re.compile(r"\b(record|queue)\s*\.\s*(\w+)(?:\s*\.\s*(\w+)\b(?!\s*\())?")
_ERROR = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)")


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
    """The expression can't be used; `problems` say why and where."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(problems[0].message)
        self.problems = problems


@dataclass(slots=True)
class Program:
    """A compiled expression: `boolean` where its type is known to be bool.

    `loops` and `sums` are how many comprehensions and plus signs it has, `ended` when it was ended for taking too much, for whomever.
    """

    text: str
    expression: Any
    names: frozenset[str]
    detail: bool
    boolean: bool
    loops: int
    sums: int
    ended: list[float] = field(default_factory=list)

    def value(self, record: Record, world: Any, allowance: Allowance) -> Any:
        """Its value for a record as JSON data. Raises Failed."""
        given = {name: _GIVEN[name](self, record, world) for name in self.names}
        data = orjson.dumps(given, option=OPTIONS)
        try:
            if weight(len(data), self.loops, self.sums) <= LIGHT:
                return evaluate(self.expression, given)
            self._require_patience()
            with allowance:
                return evaluator().ask(self.text, data)
        except (Ended, OutOfMemory):
            self.ended.append(time.monotonic())
            raise Failed("It took too much time or memory for a record and was ended.") from None

    def _require_patience(self) -> None:
        self.ended[:] = [when for when in self.ended if time.monotonic() - when < WHILE]
        if len(self.ended) >= STRIKES:
            raise Failed(
                f"It took too much time or memory for {STRIKES} records and is not asked for {WHILE:g} seconds."
            )


class Allowance:
    """The time that expressions may take together at one step, in seconds; each that is not light is evaluated within it."""

    def __init__(self, seconds: float = AT_ONCE) -> None:
        self.left = seconds

    def __enter__(self) -> None:
        if self.left <= 0:
            raise Failed("The expressions took too long at one step; this one was not asked there.")
        self._started = time.perf_counter()

    def __exit__(self, *_what: object) -> None:
        self.left -= time.perf_counter() - self._started


def weight(size: int, loops: int, sums: int) -> int:
    """Return the most bytes that an evaluation may copy.

    Data of a size is visited by every loop in every part, and in every round all of it is joined to itself by every plus sign.
    """
    rounds = min(ITERATIONS, size**loops)
    return int(size * rounds * (sums + 1) ** (loops + 1))


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
    """The number of the attempt in progress, or of the one that has just ended."""
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
    """Everything that is wrong with an expression; `boolean`: it is to say yes or no."""
    try:
        program = compile_program(text)
    except BadExpression as bad:
        return bad.problems
    if boolean and not program.boolean:
        return [Problem("The expression gives a value that is not true or false; compare it with something.")]
    return list(_unknown_kinds(text))


@lru_cache(maxsize=256)
def compile_program(text: str) -> Program:
    """The program of an expression. Raises BadExpression."""
    bare = _TEXT.sub(lambda found: " " * len(found[0]), text)
    problems = [*_limits(text, bare)] or [*_unknown(bare)]
    if problems:
        raise BadExpression(problems)
    try:
        expression = environment().compile(text)
    except Exception as error:
        raise BadExpression(_problems_of(str(error), text)) from None
    written = frozenset(re.findall(r"\w+", bare))
    names = frozenset(NAMES) & written
    returns = expression.return_type().name()
    detail = bool(written & set(PluginRan.DETAIL)) or "[" in bare
    boolean = returns in ("BOOL", "DYN")
    return Program(text, expression, names, detail, boolean, len(_LOOP.findall(bare)), bare.count("+"))


def _limits(text: str, bare: str) -> Iterator[Problem]:
    if not text.strip():
        yield Problem("Write an expression.")
    if len(text) > EXPRESSION_LENGTH:
        yield _at(
            text,
            EXPRESSION_LENGTH,
            f"The expression has {len(text):,} characters; at most {EXPRESSION_LENGTH} are taken.",
        )
    loops = list(_LOOP.finditer(bare))
    if len(loops) > LOOPS:
        yield _at(
            text,
            loops[LOOPS].start(),
            f"At most {LOOPS} of all, exists, exists_one, map and filter are taken.",
        )


def _unknown(bare: str) -> Iterator[Problem]:
    """Fields that no record has. The library knows a map, not which keys there are."""
    data = sorted({name for names in DATA_FIELDS.values() for name in names})
    for match in _PATH.finditer(bare):
        owner, field, inner = match.groups()
        known = _ENVELOPE if owner == "record" else QUEUES
        if field not in known:
            yield _at(bare, match.start(2), f"There is no {owner}.{field}; known: {', '.join(known)}.")
        elif owner == "record" and field == "data" and inner and inner not in data:
            suggested = ", ".join(get_close_matches(inner, data, 4, 0.5)) or "see docs/trace.md"
            yield _at(bare, match.start(3), f"No record has data.{inner}; there is: {suggested}.")


def _unknown_kinds(text: str) -> Iterator[Problem]:
    """Kinds that an expression compares with and that no record has: such a comparison never holds."""
    for match in re.finditer(r"""\brecord\s*\.\s*kind\s*==\s*["'](\w*)["']""", text):
        if match[1] not in KINDS:
            yield _at(
                text, match.start(1), f"There is no record kind {match[1]!r}; known: {', '.join(KINDS)}."
            )


def _at(text: str, index: int, message: str) -> Problem:
    before = text[:index]
    return Problem(message, before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1)


def _problems_of(error: str, text: str) -> list[Problem]:
    lines = text.split("\n")
    problems = [
        _explain_unknown_name(Problem(words(message), int(line), int(column)), lines)
        for line, column, message in _ERROR.findall(error)
    ]
    return problems or [Problem(words(error))]


def _explain_unknown_name(problem: Problem, lines: list[str]) -> Problem:
    """A name that is not known: shown at its beginning, with those that are."""
    match = re.match(r"undeclared reference to '\.?(\w+)", problem.message)
    if match is None or problem.line > len(lines):
        return problem
    start = lines[problem.line - 1].rfind(match[1], 0, problem.column + len(match[1]) - 1)
    message = f"There is no {match[1]!r} here; known: {', '.join(NAMES)}."
    return Problem(message, problem.line, start + 1 if start >= 0 else problem.column)
