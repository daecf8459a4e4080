"""The expressions of a definition: variables, answer types, compile errors, and evaluation."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec

from scheduler_core.apimachinery.cel.environment import Environment, Outcome, Program
from scheduler_core.apimachinery.cel.errors import CompileError
from scheduler_core.apimachinery.cel.types import ANY, DYN, TIMESTAMP
from scheduler_core.apimachinery.cel.values import Timestamp
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework import NodeInfo, gettext_noop

# The definition of a plugin in CEL: plain data, which a session's log contains.

MOST_PLUGINS = 50  # of a world
LONGEST = 4_096  # characters of an expression
NAME_PATTERN = r"^[A-Za-z]([-A-Za-z0-9._/]{0,98}[A-Za-z0-9])?$"

Expression = Annotated[str, msgspec.Meta(max_length=LONGEST)]
Normalize = Literal["none", "default", "reversed", "min-max"]
NORMALIZE: tuple[Normalize, ...] = ("none", "default", "reversed", "min-max")


class Definition(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The expressions of a plugin, by extension point. The plugin takes part in each point that has an expression.

    `unresolvable`: preemption would not help if Filter rejects the node. `normalize`: the normalization of Score. `weight`: the weight
    proposed to a profile that adds the plugin; a configuration without a weight counts 1, as usual.
    """

    description: Annotated[str, msgspec.Meta(max_length=500)] = ""
    pre_enqueue: Expression = ""
    filter: Expression = ""
    unresolvable: bool = False
    score: Expression = ""
    normalize: Normalize = "none"
    weight: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1
    permit: Expression = ""
    post_filter: Expression = ""


# Variables of expressions by extension point, built from the snapshot.
#
# Objects are the API server's manifests, so an unset field is absent: `has(pod.metadata.labels)`.

# Variable -> description.
POD = {
    "pod": gettext_noop("the manifest of the pod to schedule"),
    "now": gettext_noop("the time in the simulation"),
    "args": gettext_noop("the plugin's arguments in the profile's pluginConfig, or {}"),
}
NODE = {
    "node": gettext_noop("the manifest of the node"),
    "allocatable": gettext_noop(
        "the allocatable resources of the node: cpu in millis, memory in bytes, pods as a number"
    ),
    "requested": gettext_noop("the requests of the pods on the node, in the same units"),
    "pods": gettext_noop("the manifests of the pods on the node, including assumed pods"),
}
WAITING = {"waiting": gettext_noop("the manifests of the pods that wait on Permit for this plugin")}
VICTIM = {"victim": gettext_noop("the manifest of a lower-priority pod on the node that might be preempted")}

_NONE: Mapping[str, Any] = {}


def of_pod(pod: Pod, args: Mapping[str, Any], now: int) -> dict[str, Any]:
    """Return the variables of a pod. `now`: ns since 1970."""
    return {"pod": pod.manifest, "args": args, "now": Timestamp(now)}


def of_node(info: NodeInfo, used: frozenset[str]) -> dict[str, Any]:
    """Return one node's variables; variables that the expression does not use are empty."""
    return {
        "node": info.node.manifest,
        "allocatable": info.allocatable if "allocatable" in used else _NONE,
        "requested": info.requested if "requested" in used else _NONE,
        "pods": [pod.manifest for pod in info.pods] if "pods" in used else [],
    }


LIMIT = 100_000  # cost of one evaluation
LIMIT_OF_A_CALL = 5_000_000  # cost of all nodes together in one call

Answer = bool | int | float | str

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Kind:
    """The expression of one extension point: the meaning of each variable, and the allowed types of the answer with their meanings."""

    variables: Mapping[str, str]
    answers: Mapping[str, str]


EXPRESSIONS: Mapping[str, Kind] = {
    "pre_enqueue": Kind(
        POD,
        {
            "bool": gettext_noop("true: the pod enters the queue; false: the pod stays gated"),
            "string": gettext_noop("empty: the pod enters the queue; a text: the reason to gate the pod"),
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
            "int": gettext_noop("0: allow the pod; above 0: wait at most this many seconds; below 0: reject it"),
            "string": gettext_noop("empty: allow the pod; a text: the reason to reject it"),
        },
    ),
    "post_filter": Kind(
        {**POD, **NODE, **VICTIM},
        {"bool": gettext_noop("true: the pod may preempt the victim; false: keep the victim")},
    ),
}
"""The kinds of expressions, by the definition's field."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """An error in an expression: the field and the position in its text (line from 1, column from 0, offset in characters)."""

    field: str
    message: str
    line: int
    column: int
    offset: int


class EvaluationFailed(ValueError):
    """Error of an expression that returns no answer; the text is the reason."""


@dataclass(frozen=True, slots=True)
class CompiledExpression:
    """A compiled expression. `used`: the variables that its text may name."""

    field: str
    program: Program
    used: frozenset[str]

    def answer(self, variables: Mapping[str, Any], spent: CallBudget) -> Answer:
        """Return the answer of the expression. Raise EvaluationFailed if there is none."""
        return self.read(self.evaluate(variables, spent), spent)

    def evaluate(self, variables: Mapping[str, Any], spent: CallBudget, *, watch: bool = False) -> Outcome:
        """Evaluate the expression and subtract the cost from the budget. `watch`: include the values of the parts."""
        outcome = self.program.evaluate(variables, min(LIMIT, max(spent.left, 0)), watch)
        spent.left -= max(outcome.cost, outcome.work)
        return outcome

    def read(self, outcome: Outcome, spent: CallBudget) -> Answer:
        """Return the answer of an outcome. Raise EvaluationFailed if the outcome is an error or of another type."""
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


@dataclass(slots=True)
class CallBudget:
    """The cost budget that is left in one call of a plugin."""

    left: int = dataclasses.field(default_factory=lambda: LIMIT_OF_A_CALL)


_TYPES = {name: TIMESTAMP if name == "now" else DYN for name in (*POD, *NODE, *WAITING, *VICTIM)}
_ENVIRONMENTS = {
    field: Environment({name: _TYPES[name] for name in kind.variables}) for field, kind in EXPRESSIONS.items()
}


@lru_cache(maxsize=512)
def compile_expression(field: str, text: str) -> CompiledExpression:
    """Compile an expression. Raise CompileError if the text is invalid."""
    program = _ENVIRONMENTS[field].compile(text, None)
    return CompiledExpression(field, program, frozenset(_NAME.findall(text)) & frozenset(EXPRESSIONS[field].variables))


@lru_cache(maxsize=256)
def problems_of(definition: Definition) -> tuple[Wrong, ...]:
    """Return the expressions that do not compile or whose answer has a wrong type for their extension point."""
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
