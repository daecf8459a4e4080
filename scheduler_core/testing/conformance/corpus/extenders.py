"""Scripted extenders of a scenario: they answer by the scenario's rules, and their exchanges are shown in the format of the corpus.

README-sampling-extenders.md, "extenders only".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.scheduler.core.algorithm import extender_calls
from scheduler_core.scheduler.core.cycles.phases import Extension
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.extenders.exchange import Answer, Exchange, refuse_connection, within
from scheduler_core.scheduler.extenders.extender import Extender, Request, Verb, extenders_of
from scheduler_core.scheduler.extenders.results import answer_from_rules
from scheduler_core.scheduler.framework import Code, NodeToStatus
from scheduler_core.scheduler.framework.preemption.evidence import Evidence
from scheduler_core.testing.conformance.corpus.observe import candidates_json, status_json
from scheduler_core.testing.conformance.corpus.reading import Scenario

Observed = dict[str, Any]

NOBODY_LISTENS = ":1/"
MOST = 5  # nodes of a cluster whose objects the corpus shows


class ScriptedExtenders:
    """The extenders of a scenario with their rules."""

    def __init__(self, scenario: Scenario, configuration: Mapping[str, Any]) -> None:
        self.extenders: tuple[Extender, ...] = extenders_of(configuration)
        self.rules: Sequence[Sequence[Mapping[str, Any]]] = scenario.data.get("extenderBehaviour") or ()
        self.given: dict[int, Answer] = {}  # to the calls of an attempt, also where they came too late

    def __bool__(self) -> bool:
        return bool(self.extenders)

    def answer(self, extension: Extension | None) -> None:
        """Answer the calls for which a cycle waits."""
        if extension is None or not extension.open:
            return
        for exchange in extension.awaited:
            answer = self._ask(exchange)
            self.given[exchange.number] = answer
            extension.answer(exchange.number, within(answer, exchange.extender.timeout), 0)

    def _ask(self, exchange: Exchange) -> Answer:
        if NOBODY_LISTENS in exchange.url:
            return refuse_connection(exchange.url)
        return answer_from_rules(exchange, self.rules[exchange.extender.index])

    def calls(self, cycle: SchedulingCycle) -> list[Observed]:
        """The calls of a cycle."""
        exchanges = [] if cycle.extension is None else cycle.extension.exchanges
        nodes = len(cycle.node_to_status)
        return [_call(exchange, self.given[exchange.number], nodes) for exchange in exchanges]

    def bind(self, cycle: SchedulingCycle) -> Observed:
        """Ask the extenders to bind the pod of a cycle; return the binder, and the error if binding fails."""
        for extender in self.extenders:
            if not extender.serves(Verb.BIND, cycle.pod):
                continue
            asked = () if cycle.extension is None else cycle.extension.exchanges
            extension = Extension(numbers_from=len(asked))
            extender_calls.ask(extension, cycle, extender, Verb.BIND, Request(cycle.pod, node=cycle.node))
            self.answer(extension)
            step = extender_calls.take_binding(extension, cycle, lambda: "")
            if cycle.extension is None:
                cycle.extension = Extension()
            cycle.extension.exchanges += extension.exchanges
            if step.status.code is Code.SKIP:
                continue
            by = f"extender {extender.index}"
            return {"by": by} if step.status.ok else {"by": by, "error": step.status.message}
        return {"by": "plugin"}


@dataclass(slots=True)
class AfterPlugins:
    """The nodes that the plugins left before extenders were asked; the last ones if the plugins ran twice."""

    node_to_status: NodeToStatus
    feasible: list[str]

    @classmethod
    def of(cls, cycle: SchedulingCycle) -> AfterPlugins:
        rows = [] if cycle.feasible is None else cycle.feasible.tolist()
        return cls(cycle.node_to_status.frozen(), [cycle.nodes.names[row] for row in rows])


def observe_extended(cycle: SchedulingCycle, plugins: AfterPlugins) -> Observed:
    """Return the facts that the corpus shows beyond an attempt without extenders, or differently."""
    assert cycle.search is not None
    before = plugins.node_to_status
    names = cycle.nodes.names[: len(before)]
    refusals: Observed = {}
    for row, name in enumerate(names):
        status = before.status_of(row)
        refusals[name] = None if status is None else status_json(status)
    explicit = {names[row]: refusals[names[row]] for row in before.refused.tolist()}
    if cycle.extension is not None:
        named = cycle.extension.statuses.items()
        explicit |= {name: {**status_json(status), "plugin": ""} for name, status in named}
    out: Observed = {"feasible": plugins.feasible, "filter": {} if cycle.search.own_nomination else refusals}
    if cycle.chosen is not None:
        assert cycle.feasible is not None
        left = [cycle.nodes.names[row] for row in cycle.feasible.tolist()]
        out |= {"feasibleAfterExtenders": left, "feasibleNodes": len(left)}
        out["evaluatedNodes"] = len(left) + len(explicit)
    elif cycle.failure.rejected:
        out["diagnosis"] = explicit
    return out


def observe_extended_preemption(cycle: SchedulingCycle, seen: Observed) -> None:
    """Add the remaining candidates and dry-run errors to `seen`; the corpus sorts the errors."""
    evidence = next(step.evidence for step in reversed(cycle.steps) if isinstance(step.evidence, Evidence))
    failed = cycle.post_filter.code is Code.ERROR
    if evidence.candidates and evidence.remaining and not failed:
        seen["preemption"]["candidatesAfterExtenders"] = candidates_json(evidence.remaining)
    errors = [status.message for status in evidence.rejected.values() if not status.rejected]
    if evidence.candidates and errors:
        seen["preemption"]["dryRunErrors"] = True
    found, in_order = (f"[{', '.join(texts)}]" for texts in (errors, sorted(errors)))
    for place in (seen, seen["preemption"]):
        for name in ("message", "statusMessage"):
            if place.get(name):
                place[name] = place[name].replace(found, in_order)


def _call(exchange: Exchange, given: Answer, nodes: int) -> Observed:
    reached = NOBODY_LISTENS not in exchange.url
    out: Observed = {
        "extender": exchange.extender.index,
        "verb": exchange.verb.value,
        "request": shorten_body(exchange.request_json, nodes) if reached else None,
        "response": _parse_body(given.body, nodes) if reached else None,
        "effect": _effect(exchange),
    }
    if exchange.nominated:
        out["nominated"] = True
    if reached:
        out["status"] = given.status
    if exchange.error:
        out["error"] = exchange.error
    return out


def _parse_body(body: str, nodes: int) -> Any:
    try:
        return shorten_body(json.loads(body), nodes)
    except ValueError:
        return body


def _effect(exchange: Exchange) -> Observed:
    effect = exchange.effect.to_json()
    if "filter" in effect:
        statuses = effect["filter"]["statuses"]
        effect["filter"]["statuses"] = {
            node: {"plugin": "", "code": status["code"], "reasons": [status["message"]]}
            for node, status in statuses.items()
        }
    return effect


def shorten_body(body: Any, nodes: int) -> Any:
    """Shorten a body as the corpus does: without empty values, and with names for objects if the cluster has many nodes."""
    if isinstance(body, list):
        return [shorten_body(value, nodes) for value in body]
    if not isinstance(body, dict):
        return body
    return {name: _shorten_field(name, value, nodes) for name, value in body.items()}


def _shorten_field(name: str, value: Any, nodes: int) -> Any:
    if name in ("Nodes", "nodes") and isinstance(value, dict):
        items = value.get("items") or []
        if nodes > MOST:
            return {"names": [(item or {}).get("metadata", {}).get("name", "") for item in items]}
        return {**value, "items": [item and _plain(item) for item in items]}
    if name == "NodeNameToVictims" and isinstance(value, dict):
        return {node: {**victims, "Pods": _pods(victims["Pods"], nodes)} for node, victims in value.items()}
    if name == "Pod" and isinstance(value, dict):
        return _plain(value)
    return shorten_body(value, nodes)


def _pods(pods: Sequence[Any], nodes: int) -> Any:
    if nodes > MOST:
        return {"uids": [pod["metadata"]["uid"] for pod in pods]}
    return [_plain(pod) for pod in pods]


def _plain(manifest: Mapping[str, Any]) -> Observed:
    """Return an object without the fields that the corpus omits."""
    out: Observed = {}
    for name, value in manifest.items():
        if name == "metadata":
            out[name] = {field: inner for field, inner in value.items() if field != "resourceVersion"}
        elif name in ("spec", "status"):
            inner = {field: _drop_empty_resources(field, part) for field, part in value.items()}
            inner = {field: part for field, part in inner.items() if field not in ("nodeInfo", "daemonEndpoints")}
            if inner:
                out[name] = inner
        else:
            out[name] = value
    return out


def _drop_empty_resources(field: str, value: Any) -> Any:
    if field not in ("containers", "initContainers") or not isinstance(value, list):
        return value
    return [{name: part for name, part in c.items() if name != "resources" or part} for c in value]
