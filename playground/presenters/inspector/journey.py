"""Journey: a pod's state with the reason, its latest moves and attempts, and its Kubernetes Events. The page has the full list."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from playground.presenters.inspector.node import chosen
from playground.presenters.inspector.summary import PreemptionNote, preemptions
from playground.presenters.journey import Story, journey
from playground.presenters.look import Look
from playground.presenters.scene import NoSubject, PodRef, cycle_of, pod_ref, scheduler_of, short
from playground.presenters.words import clock, gettext_noop
from scheduler_core.analysis.inspection import name_of
from scheduler_core.world.readonly import BindingCycleView, ExpireAssumedPod, Pod, SchedulerView, WorldView

MOST_ROWS = 40
_CHANGES = {
    "+": gettext_noop("pod added"),
    "-": gettext_noop("pod removed"),
    "~": gettext_noop("pod replaced by a newer version"),
}


class RowCopy(TypedDict):
    node: str
    change: str
    pod: str


class FlightRow(TypedDict):
    """A marker of a popped pod, or an event. `waiting` is the number of pods for which the queue keeps the event."""

    pod: NotRequired[str]
    name: NotRequired[str]
    event: NotRequired[str]
    object: NotRequired[str]
    waiting: NotRequired[int]


class NominatedOn(TypedDict):
    node: str
    pods: list[NominatedRow]


class Internals(TypedDict):
    kind: Literal["internals"]
    scheduler: str
    cache: CacheState
    flight: FlightState
    nominator: NominatorState
    state: PodRef | None
    position: int


# The cache


class CacheState(TypedDict):
    assumed: list[AssumedRow]
    more: int
    pods: int
    generation: int
    copied: int
    whole: bool
    rows: list[RowCopy]
    total: int
    pending: list[RowCopy]
    anew: bool


def _cache(sim: WorldView, scheduler: SchedulerView) -> CacheState:
    cache = scheduler.cache
    bindings = {binding.pod.key: binding for binding in scheduler.bindings.values()}
    assumed = [
        _build_assumed_row(sim, pod, node, bindings.get(pod)) for pod, node in list(cache.assumed.items())[:MOST_ROWS]
    ]
    return {
        "assumed": assumed,
        "more": len(cache.assumed) - len(assumed),
        "pods": len(cache.where),
        "generation": cache.generation,
        "copied": cache.copied.generation,
        "whole": cache.copied.whole,
        "rows": [_row(name, change) for name, change in cache.copied.rows[:MOST_ROWS]],
        "total": cache.copied.total,
        "pending": [_row(name, change) for name, change in cache.dirty[:MOST_ROWS]],
        "anew": cache.nodes_changed,
    }


def _row(name: str, change: str) -> RowCopy:
    return {"node": name, "change": _CHANGES[change[0]], "pod": short(change[1:])}


class AssumedRow(TypedDict):
    key: str
    name: str
    node: str
    since: str
    phase: str
    finished: bool
    deadline: str


def _build_assumed_row(sim: WorldView, key: str, node: str, binding: BindingCycleView | None) -> AssumedRow:
    """Return the row of an assumed pod. `deadline` is kube's: none by default, because an assumed pod does not expire."""
    cycle = cycle_of(sim)
    since = binding.started if binding is not None else None
    if since is None and cycle is not None and cycle.pod.key == key:
        since = next((step.t for step in cycle.steps if step.point == "Reserve"), cycle.started)
    due = _expires(sim, key) if sim.settings.assumed_pod_ttl else None
    return {
        "key": key,
        "name": short(key),
        "node": node,
        "since": clock(since) if since is not None else "",
        "phase": str(binding.phase) if binding is not None else "",
        "finished": binding is None and not (cycle is not None and cycle.pod.key == key and cycle.ended is None),
        "deadline": clock(due) if due is not None else "",
    }


def _expires(sim: WorldView, key: str) -> int | None:
    due = (
        entry.time
        for entry in sim.agenda.entries()
        if isinstance(entry.action, ExpireAssumedPod) and entry.action.pod == key
    )
    return next(due, None)


# Events while pods are in flight


class FlightState(TypedDict):
    rows: list[FlightRow]
    more: int
    pods: int
    events: int


def _flight(sim: WorldView, scheduler: SchedulerView) -> FlightState:
    """Return kube's list of in-flight events: a marker for each popped pod, and the events in between."""
    items = scheduler.queue.flight.items()
    rows: list[FlightRow] = []
    pods = 0
    for item in items:
        if isinstance(item, Pod):
            pods += 1
            rows.append({"pod": item.key, "name": short(item.key)})
        else:
            rows.append({"event": item.event.label, "object": short(name_of(item)), "waiting": pods})
    return {"rows": rows[-MOST_ROWS:], "more": max(len(rows) - MOST_ROWS, 0), "pods": pods, "events": len(rows) - pods}


# The nominator


class NominatorState(TypedDict):
    nodes: list[NominatedOn]
    left: list[str]
    more: int


def _nominator(sim: WorldView, scheduler: SchedulerView) -> NominatorState:
    """Return the nodes with their nominated pods, and the list under "" in which kube keeps cleared nominations."""
    nominator = scheduler.queue.nominator
    everything = nominator.everything()
    nodes: list[NominatedOn] = [
        {"node": node, "pods": [_build_nominated_row(sim, pod, node) for pod in nominator.on(node)]}
        for node in everything
        if node
    ]
    left = [short(key) for key in everything.get("", ())]
    return {"nodes": nodes[:MOST_ROWS], "left": left[:MOST_ROWS], "more": max(len(left) - MOST_ROWS, 0)}


class NominatedRow(PodRef):
    priority: int
    since: str
    in_status: bool


def _build_nominated_row(sim: WorldView, pod: Pod, node: str) -> NominatedRow:
    since = next((a.ended for a in reversed(sim.journal.attempts_of(pod.key)) if a.nominated == node), None)
    return {
        "key": pod.key,
        "name": short(pod.key),
        "priority": pod.priority,
        "since": clock(since) if since is not None else "",
        "in_status": pod.nominated_node_name == node,
    }


# CycleState: which cycle's


def _state(sim: WorldView, scheduler: SchedulerView, key: str) -> PodRef | None:
    """Return the pod whose CycleState is shown: the inspected pod during its binding cycle, else the present cycle's pod."""
    if any(binding.pod.key == key for binding in scheduler.bindings.values()):
        return pod_ref(key)
    cycle = cycle_of(sim)
    return None if cycle is None else pod_ref(cycle.pod.key)


SHOWN = 12
EVENTS = 8
LOOKED_THROUGH = 2_000  # attempts


class NoJourney(NoSubject):
    internals: Internals


class PlacedPod(PodRef):
    t: str
    at: int


class NodeJourneyBody(TypedDict):
    kind: Literal["node"]
    node: str
    placed: list[PlacedPod]
    internals: Internals


class JourneyBody(Story):
    kind: Literal["journey"]
    internals: Internals
    more: int
    preemptions: list[PreemptionNote]
    at: int | None


def present(sim: WorldView, look: Look, key: str) -> JourneyBody | NodeJourneyBody | NoJourney:
    """Return the newest entries first; for a node, the pods that were placed on it."""
    scheduler = scheduler_of(sim)
    internals: Internals = {
        "kind": "internals",
        "scheduler": scheduler.name if len(sim.schedulers) > 1 else "",
        "cache": _cache(sim, scheduler),
        "flight": _flight(sim, scheduler),
        "nominator": _nominator(sim, scheduler),
        "state": _state(sim, scheduler, key),
        "position": sim.position,
    }
    if look.about == "node" and (name := chosen(sim, look)):
        # The last attempts that chose the node, in the last LOOKED_THROUGH attempts, to limit the time.
        attempts = sim.journal.attempts
        placed: list[PlacedPod] = []
        for index in range(len(attempts) - 1, max(len(attempts) - LOOKED_THROUGH, 0) - 1, -1):
            attempt = attempts[index]
            if attempt.node == name:
                placed.append({**pod_ref(attempt.pod), "t": clock(attempt.started), "at": attempt.last_position})
                if len(placed) == SHOWN:
                    break
        return {"kind": "node", "node": name, "placed": placed, "internals": internals}
    story = journey(sim, key) if key else None
    if story is None:
        return {"kind": "gone" if key else "none", "internals": internals}
    entries = story["entries"]
    return {
        **story,
        "kind": "journey",
        "internals": internals,
        "entries": entries[: -SHOWN - 1 : -1],
        "more": max(len(entries) - SHOWN, 0),
        "events": story["events"][: -EVENTS - 1 : -1],
        "preemptions": preemptions(sim, key),
        "at": look.at,
    }
