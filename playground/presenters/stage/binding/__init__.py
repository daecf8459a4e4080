"""Binding: whether the decision holds. A lane for each pod from assume to PostBind, the rollback after a refusal, and the cache's view."""

from collections import Counter
from typing import TypedDict

from playground.presenters import scene
from playground.presenters.look import Look
from playground.presenters.panel import Stage
from playground.presenters.stage.binding import lanes
from playground.presenters.stage.binding.lanes import HEADS, POINTS, Lane, lane, merge
from playground.presenters.stage.preemption.theatre import Segment, segments
from playground.presenters.why.panel import get_explanation
from playground.presenters.words import Message, amount, beside, gettext_noop, message
from scheduler_core.world.readonly import Attempt, BindingCycleView, Move, Place, Point, SchedulerView, WorldView

ATTEMPTS = 24  # last attempts searched
MOST_EVENTS = 200
_OVER = (Place.BOUND, Place.RUNNING)
_BACK = (Place.ACTIVE, Place.BACKOFF, Place.UNSCHEDULABLE)


def list_ended_cycles(sim: WorldView, most: int, chosen: str) -> list[Lane]:
    """Return the lanes of the last binding cycles that ended, oldest first, including the chosen pod's at any age."""
    running = {number for scheduler in sim.schedulers for number in scheduler.bindings}
    last = sim.journal.attempts[-ATTEMPTS:]
    index = sim.journal.last_attempt.get(chosen)
    if index is not None and sim.journal.attempts[index] not in last:
        last = [sim.journal.attempts[index], *last]
    found = [
        each
        for attempt in reversed(last)
        if attempt.outcome == "scheduled" and attempt.number not in running
        if (each := of_attempt(sim, attempt)) is not None
    ]
    shown = [each for each in found if each["key"] == chosen][:1]
    shown += [each for each in found if each not in shown][: most - len(shown)]
    return sorted(shown, key=lambda each: int(each["number"]))


def of_attempt(sim: WorldView, attempt: Attempt) -> Lane | None:
    """Return the lane of an attempt's binding cycle, or None if the pod is deleted or the cycle has not ended."""
    pod = sim.store.pod_at(attempt.pod)
    moves = [move for move in sim.journal.lane(attempt.pod) if move.position >= attempt.last_position]
    end = next((move for move in moves if move.place in (*_OVER, *_BACK)), None)
    if pod is None or end is None:
        return None
    scheduler = next((s for s in sim.schedulers if s.name == attempt.scheduler), scene.scheduler_of(sim))
    before = moves[: moves.index(end)]
    waited = next((move for move in before if move.place == Place.WAITING), None)
    started = next((move for move in before if move.place == Place.BINDING), None)
    bound = end.place in _OVER
    row = _row(attempt, waited, started, end)
    if not bound:
        # A refused binding was rolled back from the point that refused it.
        why = _why(sim, attempt.pod, end.t)
        point = _find_refusing_point(why, started)
        at = POINTS.index(point)
        row[at:] = [lanes.build_refused_cell(why), *(lanes.none(each) for each in POINTS[at + 1 :])]
        profile = scheduler.profiles.get(attempt.profile) or next(iter(scheduler.profiles.values()))
        found = lane(pod, attempt.node, attempt.number, [lanes.build_assumed_cell(pod), *row], "back")
        found["back"] = lanes.build_way_back(pod, point, [plugin.name for plugin in profile.at(Point.UNRESERVE)])
        return found
    first: lanes.Cell = {**lanes.build_assumed_cell(pod), "state": "ok", "glyph": "✓"}
    return lane(pod, attempt.node, attempt.number, [first, *row], "bound")


def _row(attempt: Attempt, waited: Move | None, started: Move | None, end: Move) -> list[lanes.Cell]:
    """Return the cells of the points, from the journal. It has no plugin results of the points that the pod passed."""
    passed = lanes.cell("ok", lanes.PASSED)
    wait = (started.t if started is not None else end.t) - waited.t if waited is not None else 0
    return [
        passed,
        passed if waited is None else lanes.cell("ok", message("waited")),
        passed if waited is None else lanes.build_waited_cell(wait),
        passed,
        lanes.build_bound_cell(attempt.node, end.t - started.t if started is not None else 0),
        lanes.cell("ok", message("done")),
    ]


def _why(sim: WorldView, key: str, t: int) -> str:
    """Return the message of the pod's FailedScheduling Event at that time."""
    namespace, _, name = key.partition("/")
    for event in reversed(sim.store.events[-MOST_EVENTS:]):
        if event.reason == "FailedScheduling" and (event.namespace, event.name) == (namespace, name) and event.t == t:
            return event.message
    return ""


def _find_refusing_point(why: str, started: Move | None) -> Point:
    """Return the point that refused the pod, from kube's text. A pod that never began to bind was refused while it waited on Permit."""
    if started is None:
        return Point.WAIT_ON_PERMIT
    return Point.PRE_BIND if "PreBind plugin" in why else Point.BIND


# The cache's view of a node, compared with the API server: running pods, assumed pods, and free amounts.

MOST_ASSUMED = 6


class AssumedPod(scene.PodRef):
    amount: str


class CacheBar(TypedDict):
    resource: str
    text: str
    bar: list[Segment]


class CacheBelief(TypedDict):
    """The cache's view of a node. `resource` is the resource of the amounts; `bars` show cpu and memory."""

    node: str
    resource: str
    has: str
    running: str
    assumed: str
    free: str
    known: str
    count: int
    pods: list[AssumedPod]
    more: int
    bars: list[CacheBar]


def believes(sim: WorldView, scheduler: SchedulerView, node: str) -> CacheBelief | None:
    """Return the cache's view of a node's cpu, or of its memory if no pod requests cpu; None for a node that the cache lacks."""
    cache = scheduler.cache
    slot = cache.slots.get(node)
    manifest = sim.store.get("Node", "", node)
    if slot is None or manifest is None:
        return None
    pods = cache.pods[slot]
    resource = "cpu" if any(pod.requests.milli_cpu for pod in pods) or not pods else "memory"
    table = scene.table_of(scheduler)
    row = table.row(node)
    columns = cache.resources.columns
    room = {name: int(table.allocatable[row, columns[name]]) if row is not None else 0 for name in ("cpu", "memory")}
    has = room[resource]
    assumed = [pod for pod in pods if pod.key in cache.assumed]
    running = [pod for pod in pods if pod.key not in cache.assumed]
    known = [p for p in pods if (live := sim.store.pod_at(p.key)) is not None and live.node_name == node]
    used = [sum(pod.requests.get(resource) for pod in pods) for pods in (running, assumed, known)]
    whole, of_running, of_assumed, counted, free = beside(resource, has, *used, max(has - used[0] - used[1], 0))
    bars = list[CacheBar]()
    for name in sorted(name for name, total in room.items() if total):
        parts = [("kept", sum(pod.requests.get(name) for pod in running), "")]
        parts += [("assumed", pod.requests.get(name), scene.short(pod.key)) for pod in assumed]
        text = " / ".join(beside(name, sum(part[1] for part in parts), room[name]))
        bars.append({"resource": name, "text": text, "bar": segments(parts, room[name], name)})
    return {
        "node": node,
        "resource": resource,
        "has": whole,
        "running": of_running,
        "assumed": of_assumed,
        "free": free,
        "known": counted,
        "count": len(running),
        "pods": [
            {**scene.pod_ref(p.key), "amount": amount(resource, p.requests.get(resource))}
            for p in assumed[:MOST_ASSUMED]
        ],
        "more": max(len(assumed) - MOST_ASSUMED, 0),
        "bars": bars,
    }


RUNNING = 7  # lanes of running binding cycles
ENDED = 3
NAMED = 3
EVENTS = 6
MOST_NODES = 12  # nodes with cards below a pod that was rolled back, because its next attempt evaluates them

_ALONE = gettext_noop("no binding cycle runs")
_MANY = gettext_noop("%(n)s binding cycles run")
_MANY_BESIDE = gettext_noop("%(n)s binding cycles run in parallel with the scheduling cycle of %(pod)s")


class BindingBody(TypedDict):
    heads: list[str]
    groups: "list[LanelessGroup]"
    cache: CacheBelief | None
    pod: Lane | None
    next: "AfterRefusal | None"


def present(sim: WorldView, look: Look, key: str) -> Stage[BindingBody, Lane]:
    """Return the binding cycles beside the scheduling cycle."""
    scheduler = scene.scheduler_of(sim)
    found = _lanes(sim, scheduler, key)
    node = _node(sim, look, found, key)
    mine = next((lane for lane in found if lane["key"] == key), None)
    shown = mine or (found[-1] if found else None)  # the question is about the pod whose lane is explained below
    after = _describe_next(sim, mine)
    return Stage(
        question=_ask(shown, key),
        detail=_beside(sim, scheduler),
        forms={"lanes": gettext_noop("Lanes"), "nodes": gettext_noop("Nodes"), "table": gettext_noop("Table")},
        body={
            "heads": list(HEADS.values()),
            "groups": _groups(scheduler, {lane["number"] for lane in found}),
            "cache": believes(sim, scheduler, node) if node else None,
            "pod": shown,
            "next": after,
        },
        map=after is not None and sim.store.count("Node") <= MOST_NODES,
        cards={lane["id"]: lane for lane in found},
    )


def _ask(mine: Lane | None, key: str) -> Message:
    if mine is None:
        return message("Will %(pod)s be bound to its node?", pod=scene.short(key) or "…")
    if mine["state"] == "back":
        return message("Why did %(pod)s return to the queue?", pod=mine["name"])
    return message("Will %(pod)s be bound to %(node)s?", pod=mine["name"], node=mine["node"])


class AfterRefusal(TypedDict):
    place: Message
    text: str
    wakes: list[str]


_PLACES = {
    "backoff": gettext_noop("%(pod)s waits in the backoff queue for its next attempt."),
    "unschedulable": gettext_noop("%(pod)s waits in the unschedulable pool for an event."),
    "active": gettext_noop("%(pod)s is in the active queue again."),
}


def _describe_next(sim: WorldView, lane: Lane | None) -> AfterRefusal | None:
    """Return the next step of a pod that was rolled back, with kube's text, or None."""
    if lane is None or lane["state"] != "back":
        return None
    text = _PLACES.get(str(sim.journal.place(lane["key"])), gettext_noop("Next: %(pod)s returns to the queue."))
    explanation = get_explanation(sim, lane["key"])
    said = next((cell["full"] for cell in lane["cells"] if cell["state"] == "no"), "")
    wakes = [] if explanation is None else list(explanation.events[:EVENTS])
    return {"place": message(text, pod=lane["name"]), "text": said, "wakes": wakes}


def _beside(sim: WorldView, scheduler: SchedulerView) -> Message:
    cycle, count = scene.cycle_of(sim), len(scheduler.bindings)
    if cycle is None or cycle.ended is not None or not count:
        return message(_MANY, n=count) if count else message(_ALONE)
    return message(_MANY_BESIDE, pod=scene.short(cycle.pod.key), n=count)


def _lanes(sim: WorldView, scheduler: SchedulerView, key: str) -> list[Lane]:
    """Return the lanes, oldest attempts first; if there are many, those of the chosen pod, the present step, and the newest."""
    due = lanes.due_of(sim, scheduler)
    faults = scene.faults_of(sim)
    found = list_ended_cycles(sim, ENDED, key)
    found += [lanes.of_binding(sim, scheduler, each, due) for each in _select_bindings(sim, scheduler, key)]
    cycle = scheduler.cycle
    mine = lanes.of_cycle(scheduler, cycle) if cycle is not None else None
    return [
        {**lane, "cells": merge(lane["cells"]), "chosen": lane["key"] == key, "faults": faults.get(lane["key"], [])}
        for lane in ([*found, mine] if mine is not None else found)
    ]


def _select_bindings(sim: WorldView, scheduler: SchedulerView, key: str) -> list[BindingCycleView]:
    running = list(scheduler.bindings.values())
    if len(running) <= RUNNING:
        return running
    step = scene.present_step(sim)
    now = step[1].number if step is not None else -1
    first = sorted(running, key=lambda b: (b.pod.key != key, b.number != now, not b.waiting, -b.number))
    return sorted(first[:RUNNING], key=lambda b: b.number)


class LanelessGroup(TypedDict):
    phase: str
    count: int
    pods: list[scene.PodRef]


def _groups(scheduler: SchedulerView, shown: set[int]) -> list[LanelessGroup]:
    """Return the binding cycles without a lane, by their current point."""
    left = [binding for number, binding in scheduler.bindings.items() if number not in shown]
    if not left:
        return []
    count = Counter(str(binding.phase) for binding in left)
    names: dict[str, list[scene.PodRef]] = {}
    for binding in left:
        named = names.setdefault(str(binding.phase), [])
        if len(named) < NAMED:
            named.append(scene.pod_ref(binding.pod.key))
    order = [str(point) for point in POINTS]
    return [
        {"phase": phase, "count": count[phase], "pods": names[phase]}
        for phase in sorted(count, key=lambda phase: order.index(phase) if phase in order else len(order))
    ]


def _node(sim: WorldView, look: Look, found: list[Lane], key: str) -> str:
    """Return the node to describe: the chosen node, else the chosen pod's, else the present step's."""
    if look.about == "node" and look.node in scene.table_of(scene.scheduler_of(sim)).rows:
        return look.node
    mine = next((lane["node"] for lane in found if lane["key"] == key), "")
    return mine or (found[-1]["node"] if found else "")
