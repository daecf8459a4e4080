"""What a scheduler from outside did, compared inside a worker with what ours does from the same start."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from playground.features.second_opinion.query import AskOutside, AuditBinding, Progress, SecondOpinion
from playground.sessions.protocol.base import Data
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.registry import answers
from playground.sessions.worker.time_sharing import Steps
from playground.sessions.worker.world import Simulation
from scheduler_core.analysis.fixes.diagnosis import diagnose_on, scheduler_for
from scheduler_core.analysis.second_opinion import Configurations, Row, compare, start_schedulers
from scheduler_core.base.trace.journal import Place
from scheduler_core.scheduler.config import format_gates
from scheduler_core.world.commands import CallAPI

SHOWN = 5  # nodes


@answers(AskOutside)
def ask_outside(engine: Engine, request: AskOutside) -> Steps[Progress]:
    """Look at the schedulers, the kubelets, and the pods of a world."""
    world = yield from engine.at(request.position)
    given = [given for given in (yield from _find_configurations(engine, world)).values() if given]
    pending = [pod for pod in world.store.pods() if not (pod.node_name or pod.terminal or pod.deleting)]
    gated = sum(bool(pod.manifest["spec"].get("schedulingGates")) for pod in pending)
    return Progress(
        schedulers=[scheduler.name for scheduler in world.schedulers],
        kubelets=world.cluster.run_kubelets or bool(world.cluster.stand_in),
        release=world.settings.release,
        gates=format_gates(msgspec.to_builtins(world.settings), world.settings.release),
        configuration=dict(given[0]) if given else {},
        asked=len(engine.commands),
        waiting=len(pending) - gated,
        undecided=sum(pod.condition("PodScheduled") is None for pod in pending),
    )


@answers(SecondOpinion, slow=True)
def second_opinion(engine: Engine, request: SecondOpinion) -> Steps[Data]:
    """The bindings from outside, and where our schedulers were stopped for them, both sides of each pod."""
    world = yield from engine.at(request.position)
    bindings = _list_bindings(engine, world)
    answer: Data = {"release": world.settings.release, "now": world.now, "bindings": bindings, "stopped": False}
    if world.schedulers or _find_stop(world) is None:
        return answer
    start = _find_first_call(engine, world)
    if start is None:
        return {**answer, "stopped": True, "late": False, "atRest": True, "pods": []}
    configurations = yield from _find_configurations(engine, world)
    theirs, ours, end = world.fork(), (yield from engine.own(start)), time.perf_counter() + request.seconds
    work = compare(ours, theirs, configurations, request.seed)
    while True:
        try:
            next(work)
        except StopIteration as done:
            opinion = done.value
            break
        if time.perf_counter() > end:
            return {**answer, "stopped": True, "late": True}
        if engine.slice.over():
            yield
    at = {each["pod"]: each for each in bindings}
    rows = [_show(row, at.get(row.pod)) for row in opinion.rows]
    return {**answer, "stopped": True, "late": False, "atRest": bool(opinion.rest), "pods": rows}


@answers(AuditBinding, slow=True)
def audit_binding(engine: Engine, request: AuditBinding) -> Steps[Data]:
    """Ask the filters of our scheduler about a pod as things were right before it was bound."""
    world = yield from engine.at(request.position)
    moves = [move for move in world.journal.lane(request.pod) if move.place == Place.BOUND]
    if not moves:
        return {}
    move = moves[-1]
    before = yield from engine.own(move.position - 1)
    start_schedulers(before, (yield from _find_configurations(engine, world)))
    pod = before.store.pod_at(request.pod)
    if pod is None or not before.schedulers:
        return {}
    scheduler = scheduler_for(before, pod) or before.schedulers[0]
    framework = scheduler.framework_of(pod) or next(iter(scheduler.profiles.values()))
    diagnosis = diagnose_on(scheduler, framework, pod, scheduler.cache.table())
    by_text: dict[str, list[str]] = {}
    for name in diagnosis.nodes.names:
        if (status := diagnosis.status_of(name)) is not None:
            by_text.setdefault(f"{', '.join(status.reasons)} ({status.plugin})", []).append(name)
    rows = [{"text": text, "nodes": names[:SHOWN], "more": len(names[SHOWN:])} for text, names in by_text.items()]
    here = next((text for text, names in by_text.items() if move.cause in names), "")
    feasible = len(diagnosis.feasible)
    return {"node": move.cause, "here": here, "feasible": feasible, "total": len(diagnosis.nodes), "refusals": rows}


def _find_stop(world: Simulation) -> int | None:
    """The position before the last of our schedulers was stopped, and those that were stopped right before it."""
    stops = [move.position for move in world.journal.processes if move.state == "ended"]
    if not stops:
        return None
    first = stops.pop()
    while stops and stops[-1] == first - 1:
        first = stops.pop()
    return first - 1


def _find_configurations(engine: Engine, world: Simulation) -> Steps[Configurations]:
    """The configurations of the schedulers that run, or that ran before they were stopped."""
    start = _find_stop(world)
    before = world if world.schedulers or start is None else (yield from engine.own(start))
    return {scheduler.name: scheduler.configuration.given for scheduler in before.schedulers}


def _find_first_call(engine: Engine, world: Simulation) -> int | None:
    """The position of the first request of a client after our schedulers were stopped."""
    start = _find_stop(world) or 0
    later = (at for at in engine.commands if start < at < world.position)
    return next((at for at in later if isinstance(engine.commands[at], CallAPI)), None)


def _list_bindings(engine: Engine, world: Simulation) -> list[Data]:
    """The bindings that clients asked for: who, when, and where to."""
    found = []
    for move in world.journal.moves:
        at = move.position - 1
        if move.place == Place.BOUND and at in engine.commands and isinstance(call := engine.commands[at], CallAPI):
            who = {"pod": move.pod, "node": move.cause, "agent": call.manager or call.agent}
            found.append({**who, "at": move.t, "position": move.position})
    return found


def _show(row: Row, binding: Data | None) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(row)
    for side in ("ours", "theirs"):
        fate = shown[side]
        fate["condition"] = dict(zip(("status", "reason", "message"), fate["condition"], strict=True))
        fate["events"] = [dict(zip(("type", "reason", "message"), each, strict=True)) for each in fate["events"]]
    return {**shown, "at": binding and binding["at"], "position": binding and binding["position"]}
