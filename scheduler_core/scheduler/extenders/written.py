"""An extender written in CEL: one expression per verb computes its answer, so that lessons need no server.

A failed evaluation counts as a failing server: status 500, with the error as its body.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

import msgspec

from scheduler_core.apimachinery.cel import ANY, DYN, INT, CompileError, Environment, Program
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.extenders.exchange import Answer, Exchange
from scheduler_core.scheduler.extenders.extender import NodeVictims, Request, Verb
from scheduler_core.scheduler.extenders.wire import node_json

LIMIT = 100_000  # cost of one evaluation
LIMIT_OF_A_CALL = 5_000_000  # of all nodes together
MAX_EXPRESSION = 4096  # characters
MAX_LATENCY = 3600 * 1_000_000_000  # ns
REFUSED = "node(s) were refused by the extender"
NOT_BOUND = "the extender does not bind this pod"

Latency = Annotated[int, msgspec.Meta(ge=0, le=MAX_LATENCY, extra={"unit": "ns"})]
Expression = Annotated[str, msgspec.Meta(max_length=MAX_EXPRESSION)]


class WrittenServer(msgspec.Struct, frozen=True, tag_field="type", tag="cel", forbid_unknown_fields=True):
    """The expressions by verb; an empty expression is neutral: it keeps all nodes, scores none, keeps the victims, binds.

    `unresolvable`: evicting pods would not help if `filter` rejects.
    """

    filter: Expression = ""
    unresolvable: bool = False
    prioritize: Expression = ""
    preempt: Expression = ""
    bind: Expression = ""
    latency: Latency = 5_000_000


@dataclass(frozen=True, slots=True)
class Wrong:
    """An invalid expression: line from 1, column and offset from 0."""

    verb: str
    message: str
    line: int = 1
    column: int = 0
    offset: int = 0


class _ServerFailure(ValueError):
    """A failure of the server; the text is its body."""


_OBJECTS = {"pod": DYN, "node": DYN}
_ENVIRONMENTS = {
    Verb.FILTER: Environment(_OBJECTS),
    Verb.PRIORITIZE: Environment(_OBJECTS),
    Verb.PREEMPT: Environment({**_OBJECTS, "victims": DYN, "violations": INT}),
    Verb.BIND: Environment(_OBJECTS),
}
_TYPES: Mapping[Verb, Mapping[str, type]] = {
    Verb.FILTER: {"bool": bool, "string": str},
    Verb.PRIORITIZE: {"int": int},
    Verb.PREEMPT: {"bool": bool},
    Verb.BIND: {"bool": bool, "string": str},
}


@lru_cache(maxsize=256)
def compile_answer(verb: Verb, text: str) -> Program:
    """Compile the expression of a verb. Raise CompileError."""
    program = _ENVIRONMENTS[verb].compile(text, None)
    kind = program.tree.type
    if kind not in (ANY, DYN) and str(kind) not in _TYPES[verb]:
        message = f"the answer is of type {kind}; expected {' or '.join(_TYPES[verb])}"
        raise CompileError(message, message)
    return program


def problems_of(written: WrittenServer) -> list[Wrong]:
    """Return the errors of all invalid expressions."""
    found = []
    for verb in Verb:
        text = getattr(written, verb.value)
        try:
            if text:
                compile_answer(verb, text)
        except CompileError as wrong:
            found.append(Wrong(verb.value, wrong.message, wrong.line, wrong.column, wrong.offset))
    return found


def answer_from_expressions(exchange: Exchange, written: WrittenServer) -> Answer:
    """Return the answer computed by the expressions."""
    text = getattr(written, exchange.verb.value)
    call = _Call(exchange.verb, exchange.request.pod, text)
    try:
        body = _BODIES[exchange.verb](call, exchange.request, written)
    except _ServerFailure as failed:
        return Answer(500, str(failed), latency=written.latency)
    return Answer(200, json.dumps(body, ensure_ascii=False), latency=written.latency)


class _Call:
    """The evaluations of one call."""

    def __init__(self, verb: Verb, pod: Pod, text: str) -> None:
        self._verb = verb
        self._pod = pod.manifest
        self._program = compile_answer(verb, text) if text else None
        self._left = LIMIT_OF_A_CALL

    def value(self, node: str, variables: Mapping[str, Any], neutral: Any) -> Any:
        """Return the expression's value, or `neutral` if there is no expression. Raise _ServerFailure."""
        if self._program is None:
            return neutral
        outcome = self._program.evaluate({"pod": self._pod, **variables}, min(LIMIT, max(self._left, 0)))
        self._left -= max(outcome.cost, outcome.work)
        if outcome.error:
            text = outcome.error
            if self._left <= 0:
                text = f"this call has cost more than {LIMIT_OF_A_CALL:,}, all nodes together"
            raise _ServerFailure(f"{self._verb.value} of {node}: {text}")
        if type(outcome.value) not in _TYPES[self._verb].values():
            expected = " or ".join(_TYPES[self._verb])
            raise _ServerFailure(
                f"{self._verb.value} of {node}: received {str(outcome.value)[:80]}, expected {expected}"
            )
        return outcome.value


def _filter(call: _Call, request: Request, written: WrittenServer) -> dict[str, Any]:
    kept, failed = [], {}
    for node in request.nodes:
        value = call.value(node.name, {"node": node.manifest}, True)
        if value is True or value == "":
            kept.append(node)
        else:
            failed[node.name] = value or REFUSED
    names = [node.name for node in kept]
    return {
        "Nodes": None if request.names_only else {"items": [node_json(node) for node in kept]},
        "NodeNames": names if request.names_only else None,
        "FailedNodes": {} if written.unresolvable else failed,
        "FailedAndUnresolvableNodes": failed if written.unresolvable else {},
        "Error": "",
    }


def _prioritize(call: _Call, request: Request, written: WrittenServer) -> list[dict[str, Any]]:
    if not written.prioritize:
        return []
    return [{"Host": node.name, "Score": call.value(node.name, {"node": node.manifest}, 0)} for node in request.nodes]


def _preempt(call: _Call, request: Request, written: WrittenServer) -> dict[str, Any]:
    kept = [victims for victims in request.victims if call.value(victims.node, _of_victims(victims), True)]
    return {
        "NodeNameToMetaVictims": {
            victims.node: {"Pods": [{"UID": pod.uid} for pod in victims.pods], "NumPDBViolations": victims.violations}
            for victims in kept
        }
    }


def _of_victims(victims: NodeVictims) -> dict[str, Any]:
    return {
        "node": _build_named_node(victims.node),
        "victims": [pod.manifest for pod in victims.pods],
        "violations": victims.violations,
    }


def _bind(call: _Call, request: Request, written: WrittenServer) -> dict[str, Any]:
    value = call.value(request.node, {"node": _build_named_node(request.node)}, True)
    return {"Error": "" if value is True or value == "" else value or NOT_BOUND}


def _build_named_node(node: str) -> dict[str, Any]:
    """Return a node of which the request has only the name."""
    return {"metadata": {"name": node}}


_BODIES = {Verb.FILTER: _filter, Verb.PRIORITIZE: _prioritize, Verb.PREEMPT: _preempt, Verb.BIND: _bind}
