"""Expressions in CEL over a record: checked with the place of every error, compiled once, evaluated within limits.

The language and its evaluation are the library's (docs/dependencies.md). It ends every evaluation after 10,000 iterations and nests at
most 32 deep; what is added here: which names there are, a length, how many loops an expression may have, and how long one evaluation
may take. docs/time-travel.md lists the names for people.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from playground.sessions.protocol.breakpoints import EXPRESSION_LENGTH, ExpressionProblem
from scheduler_core.trace.kinds import KINDS, PluginRan
from scheduler_core.view import RECORD_FIELDS, Record, StepFacts

LOOPS = 2  # comprehensions in one expression: what they do multiplies
PATIENCE = 0.1  # seconds of the processor for one record
STRIKES = 5  # who took longer than that so often is not asked again: once may be the collector's doing
SECOND = 1_000_000_000

_ENVELOPE = ("kind", "t", "seq", "scheduler", "parent", "data")
DATA_FIELDS: dict[str, dict[str, str]] = {
    kind: {field.name: field.type for field in fields} for kind, fields in RECORD_FIELDS.items()
}
"""What a record's `data` holds, by kind: names and types."""
QUEUES = ("active", "backoff", "unschedulable", "gated", "in_flight")
_NAMES: dict[str, str] = {"record": "MAP", "t": "DYN", "position": "INT", "attempt": "INT", "queue": "MAP"}

_TEXT = re.compile(
    r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|//[^\n]*", re.DOTALL
)
_LOOP = re.compile(r"\b(?:all|exists|exists_one|map|filter)\b")
_PATH = re.compile(r"\b(record|queue)\s*\.\s*(\w+)(?:\s*\.\s*(\w+)\b(?!\s*\())?")
_ERROR = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)")
_EXPECTING = re.compile(r" expecting \{.*\}")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with an expression, and where: `line` from 1, `column` from 1."""

    message: str
    line: int = 1
    column: int = 1

    def shown_in(self, text: str) -> ExpressionProblem:
        """With the line itself and a caret under the character."""
        lines = text.split("\n")
        line = lines[self.line - 1] if self.line <= len(lines) else ""
        return ExpressionProblem(self.message, self.line, self.column, line, " " * (self.column - 1) + "^")


class BadExpression(Exception):
    """The expression can't be used; `problems` say why and where."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(problems[0].message)
        self.problems = problems


class Failed(Exception):
    """An evaluation had no value, such as for a field that this record lacks."""


@dataclass(slots=True)
class Program:
    """A compiled expression: `boolean` where its type is known to be bool, `slow` counts evaluations that took too long."""

    expression: Any
    names: frozenset[str]
    detail: bool
    boolean: bool
    slow: int = 0

    def value(self, record: Record, world: Any) -> Any:
        """Its value for a record as JSON data. Raises Failed."""
        if self.slow >= STRIKES:
            raise Failed(
                f"It took longer than {PATIENCE * 1000:g} ms for each of {STRIKES} records and is not asked any more."
            )
        given = {name: _GIVEN[name](self, record, world) for name in self.names}
        started = time.thread_time()
        try:
            found = self.expression.eval(data=given)
        except Exception as error:
            raise Failed(_words(str(error))) from None
        finally:
            self.slow += time.thread_time() - started > PATIENCE
        if found.type().name() == "ERROR":
            raise Failed(_words(str(found.value())))
        return _data(found.plain_value())

    def afresh(self) -> Program:
        """The same expression for another asker, whom the slowness of earlier ones does not concern."""
        return replace(self, slow=0)


def _data(value: Any) -> Any:
    """A value of the language as JSON data: bytes, durations, points in time and types become text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(name): _data(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_data(one) for one in value]
    return value.decode(errors="replace") if isinstance(value, (bytes, bytearray)) else str(value)


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
    """How many pods the queues of all schedulers hold."""
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
        program = compiled(text)
    except BadExpression as bad:
        return bad.problems
    if boolean and not program.boolean:
        return [Problem("The expression gives a value that is not true or false; compare it with something.")]
    return list(_unknown_kinds(text))


@lru_cache(maxsize=256)
def compiled(text: str) -> Program:
    """The program of an expression. Raises BadExpression."""
    bare = _TEXT.sub(lambda found: " " * len(found[0]), text)
    problems = [*_limits(text, bare)] or [*_unknown(bare)]
    if problems:
        raise BadExpression(problems)
    try:
        expression = _environment().compile(text)
    except Exception as error:
        raise BadExpression(_problems_of(str(error), text)) from None
    words = frozenset(re.findall(r"\w+", bare))
    names = frozenset(_NAMES) & words
    returns = expression.return_type().name()
    return Program(
        expression, names, bool(words & set(PluginRan.DETAIL)) or "[" in bare, returns in ("BOOL", "DYN")
    )


@lru_cache(maxsize=1)
def _environment() -> Any:
    """The library takes a moment to load: only who has an expression waits for it."""
    from cel_expr_python import cel

    types = {
        "MAP": cel.Type.Map(cel.Type.STRING, cel.Type.DYN),
        "DYN": cel.Type.DYN,
        "INT": cel.Type.INT,
    }
    return cel.NewEnv(variables={name: types[kind] for name, kind in _NAMES.items()})


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
        _named(Problem(_words(message), int(line), int(column)), lines)
        for line, column, message in _ERROR.findall(error)
    ]
    return problems or [Problem(_words(error))]


def _named(problem: Problem, lines: list[str]) -> Problem:
    """A name that is not known: shown at its beginning, with those that are."""
    match = re.match(r"undeclared reference to '\.?(\w+)", problem.message)
    if match is None or problem.line > len(lines):
        return problem
    start = lines[problem.line - 1].rfind(match[1], 0, problem.column + len(match[1]) - 1)
    message = f"There is no {match[1]!r} here; known: {', '.join(_NAMES)}."
    return Problem(message, problem.line, start + 1 if start >= 0 else problem.column)


def _words(message: str) -> str:
    """The library's message without what helps nobody: its own code, and the list of all tokens."""
    message = re.sub(r" ?\[[A-Z_]+\]$", "", re.sub(r"^[A-Z_]+: ", "", message.strip()))
    return _EXPECTING.sub("", message).replace("mismatched input '<EOF>'", "the expression ends too early")
