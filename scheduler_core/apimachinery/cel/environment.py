"""Environments, programs, and outcomes of evaluations.

kube: apiserver/pkg/cel/environment/{base,environment}.go, vendor/github.com/google/cel-go/cel/{env,program}.go @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

import base64
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import islice

import msgspec

from scheduler_core.apimachinery.cel.checking.checker import check
from scheduler_core.apimachinery.cel.checking.validators import validate
from scheduler_core.apimachinery.cel.errors import CompileError, Issues, Source
from scheduler_core.apimachinery.cel.estimate import DeclaredSize, Range, estimate
from scheduler_core.apimachinery.cel.library.conversions import CONVERSIONS
from scheduler_core.apimachinery.cel.limits import LEAST_WORK, Cancelled, begin_work
from scheduler_core.apimachinery.cel.running.frame import COST, SEEN, Frame, Run
from scheduler_core.apimachinery.cel.running.plan import PlanError, Planner
from scheduler_core.apimachinery.cel.syntax.parser import parse
from scheduler_core.apimachinery.cel.syntax.tree import Node
from scheduler_core.apimachinery.cel.texts import go_double, go_value
from scheduler_core.apimachinery.cel.types import ANY, BOOL, Type
from scheduler_core.apimachinery.cel.values import (
    NOTHING,
    CidrValue,
    Duration,
    Failure,
    FormatValue,
    IpValue,
    Optional,
    QuantityValue,
    SemverValue,
    Timestamp,
    UrlValue,
    value_of_key,
)
from scheduler_core.apimachinery.objects.quantity import NANO, format_quantity

# Values as JSON has them: to be shown, and kept in records.

_MOST = 100  # elements of a list or a map that are shown
_LONGEST = 1000  # characters of a text that are shown
_DEEPEST = 6
_MOST_TOGETHER = 500  # elements of all lists and maps of one value that are shown


def json_safe(value: object) -> object:
    """Return the value as None, bool, int, float, str, list, or dict. Long and deep values are truncated; an error becomes {"error":
    text}.
    """
    return _safe(value, 0, [_MOST_TOGETHER])


def _safe(value: object, depth: int, left: list[int]) -> object:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else go_double(value)
    if isinstance(value, list | tuple):
        if depth >= _DEEPEST or left[0] <= 0:
            return "[…]"
        left[0] -= min(len(value), _MOST)
        return [_safe(element, depth + 1, left) for element in value[:_MOST]]
    if isinstance(value, dict):
        if depth >= _DEEPEST or left[0] <= 0:
            return "{…}"
        pairs = list(islice(value.items(), _MOST))
        left[0] -= len(pairs)
        return {go_value(value_of_key(key)): _safe(held, depth + 1, left) for key, held in pairs}
    return _special(value, depth, left)


def _special(value: object, depth: int, left: list[int]) -> object:
    match value:
        case Failure():
            return {"error": value.message}
        case bytes():
            return base64.b64encode(value[:_LONGEST]).decode()
        case Optional():
            return None if value.value is NOTHING else _safe(value.value, depth, left)
        case Duration():
            return CONVERSIONS["duration_to_string"](value)
        case Timestamp():
            return CONVERSIONS["timestamp_to_string"](value)
        case Type():
            return value.name
        case QuantityValue():
            return format_quantity(Fraction(value.nanos, NANO))
        case SemverValue():
            return version_text(value)
        case IpValue():
            return str(value.address)
        case CidrValue():
            return f"{value.address}/{value.bits}"
        case UrlValue():
            return value.text
        case FormatValue():
            return value.name
    return str(value)


def version_text(version: SemverValue) -> str:
    text = f"{version.major}.{version.minor}.{version.patch}"
    if version.pre:
        text += f"-{'.'.join(map(str, version.pre))}"
    return f"{text}+{'.'.join(version.build)}" if version.build else text


# Room on the stack for trees as deep as kube allows.

_FRAMES = 12_000  # 250 levels within each other, eight calls each, and what calls us
_USUAL = 40  # levels for which there is room anyway


@contextmanager
def room_for_deep_trees() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


CALL_LIMIT = 1_000_000
"""The limit of one evaluation where none is given: kube's PerCallLimit."""

NEWER = frozenset(("slice", "flatten", "lists.range", "reverse", "distinct", "sort", "@sortByAssociatedKeys", "sortBy"))
"""What kube v1.34 runs where it is stored and does not take in what is new: cel-go's lists."""


class Outcome(msgspec.Struct, frozen=True):
    """The outcome of an evaluation: a value, or an error in cel-go's words ("" if there is none), the cost in cel-go's units, and the
    steps of work (limits.py).

    `values`, if watched: (start, end, value as in JSON) of every sub-expression in the order of evaluation.
    """

    value: object
    error: str
    cost: int
    work: int = 0
    values: tuple[tuple[int, int, object], ...] = ()


@dataclass(frozen=True)
class Environment:
    """Declarations for expressions: variables with their types, the fields of declared types, the maximum sizes of variables (for
    estimates), and the names of unavailable functions and macros (NEWER: those that kube accepts in new expressions from its next release
    on). Compiled programs are cached.
    """

    variables: Mapping[str, Type]
    structs: Mapping[str, Mapping[str, Type]] = field(default_factory=dict)
    sizes: Mapping[str, DeclaredSize] = field(default_factory=dict)
    without: frozenset[str] = frozenset()

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def compile(self, expression: str, expected: Type | None = BOOL) -> Program:
        """CompileError where the expression is not well-formed, or of another type (None: any type will do)."""
        return _compile_program(self, expression, expected)


@lru_cache(maxsize=1024)
def _compile_program(environment: Environment, expression: str, expected: Type | None) -> Program:
    issues = Issues(Source(expression))
    with room_for_deep_trees():
        tree = parse(expression, issues, environment.without)
        if tree is not None:
            check(tree, environment.variables, environment.structs, issues, environment.without)
            if not issues:
                validate(tree, issues)
        issues.raise_any()
        assert tree is not None
        if expected is not None and tree.type not in (expected, ANY):
            message = f"must evaluate to {expected} or the unknown type, not {tree.type}"
            raise CompileError(message, message)
        return Program(expression, tree, environment)


class Program:
    """A compiled expression. `text` is the expression, `tree` its checked nodes."""

    def __init__(self, text: str, tree: Node, environment: Environment) -> None:
        self.text, self.tree = text, tree
        self._sizes = environment.sizes
        # Whether evaluating the tree needs more room on the stack than usual.
        level, depth = [tree], 0
        while level and depth <= _USUAL:
            level = [child for node in level for child in node.children()]
            depth += 1
        self._deep = bool(level)
        self._names = tuple(environment.variables)
        self._run, self._width = self._plan(watched=False)
        self._watched: tuple[Run, int] | None = None

    def _plan(self, watched: bool) -> tuple[Run, int]:
        planner = Planner(self._names, watched)
        try:
            run = planner.run(self.tree)
        except PlanError as error:
            raise CompileError(f"program instantiation failed: {error}", str(error)) from None
        return run, planner.width

    def estimated_cost(self) -> Range:
        """Return the minimum and maximum cost of an evaluation, as kube estimates it."""
        with room_for_deep_trees():
            return estimate(self.tree, self._sizes)

    def evaluate(self, variables: Mapping[str, object], limit: int | None = None, watch: bool = False) -> Outcome:
        """Evaluate the program for these variables. `limit` is the maximum cost (None: CALL_LIMIT); it limits the work as well."""
        limit = CALL_LIMIT if limit is None else limit
        run, width = self._run, self._width
        if watch:
            if self._watched is None:
                with room_for_deep_trees():
                    self._watched = self._plan(watched=True)
            run, width = self._watched
        frame: Frame = [0, limit, []]
        frame += [
            variables[name] if name in variables else Failure(f"no such attribute(s): {name}") for name in self._names
        ]
        frame += [None] * (width - len(frame))
        steps = max(limit, LEAST_WORK)
        work = begin_work(steps)
        try:
            if self._deep:
                with room_for_deep_trees():
                    value = run(frame)
            else:
                value = run(frame)
        except Cancelled as cancelled:
            value = Failure(str(cancelled))
        error = ""
        if isinstance(value, Failure):
            error, value = value.message, None
        taken, work.left = int(steps - work.left), math.inf  # showing the values has limits of its own
        return Outcome(value, error, frame[COST], taken, _values(frame[SEEN]))


def _values(seen: list[tuple[int, int, object]]) -> tuple[tuple[int, int, object], ...]:
    return tuple((start, end, json_safe(value)) for start, end, value in seen) if seen else ()
