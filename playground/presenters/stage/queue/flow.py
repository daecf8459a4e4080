"""The pools of waiting pods as a flow: gated and backoff, active, in flight, and below them unschedulable."""

from itertools import islice
from typing import Literal, TypedDict

from playground.presenters.look import GROUPINGS, Look
from playground.presenters.queues import TERMS, TITLES, chips
from playground.presenters.queues.chips import PodChip
from playground.presenters.queues.groups import CROWD, waiting
from playground.presenters.queues.sleeping import GroupRow, SleepingPods, behind, largest, sleeping
from playground.presenters.scene import queue_sort_of, short, stands_at
from playground.presenters.words import Message, duration, gettext_noop, message
from scheduler_core.world.readonly import QueuedPod, SchedulerView, WorldView

# Why the popped pod precedes the next one.

KUBES = "PrioritySort"


def why_first(popped: QueuedPod, started: int, next_: QueuedPod | None, sorter: str) -> Message:
    """Explain why a pod was popped first. `started`: when; `next_`: the active queue's first pod now; `sorter`: the QueueSort plugin."""
    pod = short(popped.key)
    if popped.backoff_until is not None and popped.backoff_until > started:
        return message(
            "The active queue was empty, so the scheduler pops %(pod)s from the backoff queue, %(time)s before its backoff ends.",
            pod=pod,
            time=duration(popped.backoff_until - started),
        )
    if next_ is None:
        return message("No other pod is in the active queue.")
    if sorter != KUBES:
        return message(
            "%(plugin)s orders the queue: %(pod)s is ahead of %(name)s.",
            plugin=sorter,
            pod=pod,
            name=short(next_.pod.key),
        )
    return _by_priority(popped, next_)


def _by_priority(popped: QueuedPod, next_: QueuedPod) -> Message:
    """Explain the order by priority and time.

    kube: plugins/queuesort/priority_sort.go @ v1.34.1
    """
    mine, theirs = popped.pod.priority, next_.pod.priority
    later = popped.timestamp - next_.timestamp
    values = {"pod": short(popped.key), "name": short(next_.pod.key), "priority": mine}
    if mine > theirs and later > 0:
        text = gettext_noop("%(pod)s was queued %(time)s after %(name)s but is ahead: priority counts before time.")
        return message(text, **values, time=duration(later))
    if mine > theirs:
        return message(
            "%(pod)s is ahead of %(name)s: its priority is higher, %(priority)s over %(less)s.", **values, less=theirs
        )
    if mine < theirs or later > 0:
        return message("%(name)s entered the active queue after %(pod)s was popped, and is next.", **values)
    if later == 0:
        text = gettext_noop(
            "%(pod)s and %(name)s have priority %(priority)s and were queued at the same time. %(pod)s was added first."
        )
        return message(text, **values)
    text = gettext_noop(
        "%(pod)s and %(name)s have priority %(priority)s. %(pod)s is first, because it was queued %(time)s earlier."
    )
    return message(text, **values, time=duration(-later))


ROWS, ROWS_IN_CROWD = 12, 4
BACKING_OFF, BINDING = 6, 12
GROUPS = 4  # groups of a pool in the upper row

_BY = {"reason": gettext_noop("reason"), "owner": gettext_noop("owner"), "priority": gettext_noop("priority")}


class Grouping(TypedDict):
    name: str
    title: str


class FlowBody(TypedDict):
    by: str
    groupings: list[Grouping]
    scheduler: str


def frame(sim: WorldView, scheduler: SchedulerView, look: Look) -> FlowBody:
    """Return the frame of the pools, with the `scheduler` if there are several."""
    return {
        "by": look.by,
        "groupings": [{"name": name, "title": _BY[name]} for name in GROUPINGS],
        "scheduler": scheduler.name if len(sim.schedulers) > 1 else "",
    }


class Pool(TypedDict):
    id: str
    title: str
    term: str
    count: int


class GatedPool(Pool):
    kind: Literal["pool_gated"]
    rows: list[PodChip]
    groups: list[GroupRow]
    more: int


class BackoffPool(Pool):
    kind: Literal["pool_backoff"]
    rows: list[PodChip]
    more: int


class ActivePool(Pool):
    kind: Literal["pool_active"]
    note: Message
    rows: list[PodChip]
    groups: list[GroupRow]


class PoppedPod(PodChip):
    """`first`: the reason why it is popped first."""

    first: Message


class FlightPool(Pool):
    """The pod whose scheduling cycle runs, in large, then the pods that wait on Permit or are being bound."""

    kind: Literal["pool_flight"]
    popped: PoppedPod | None
    permit: list[PodChip]
    permits: int
    binding: list[PodChip]
    bindings: int


class UnschedulablePool(Pool, SleepingPods):
    kind: Literal["pool_unschedulable"]


PoolCard = GatedPool | BackoffPool | ActivePool | FlightPool | UnschedulablePool


def cards(sim: WorldView, scheduler: SchedulerView, look: Look, chosen: str) -> dict[str, PoolCard]:
    """Return one card for each pool."""
    crowd = waiting(scheduler) >= CROWD
    pods = scheduler.queue.gated_pods
    rows: list[PodChip] = []
    groups: list[GroupRow] = []
    if crowd:
        groups = largest(sim, scheduler, "gated", "gate", chosen, GROUPS)
    else:
        rows = [chips.build_gated_chip(queued, chosen) for queued in islice(pods.values(), ROWS)]
    more = len(pods) - len(rows) - sum(group["count"] for group in groups)
    pools: tuple[PoolCard, ...] = (
        {**_pool("gated", len(pods)), "kind": "pool_gated", "rows": rows, "groups": groups, "more": more},
        _backoff(sim, scheduler, chosen),
        _active(sim, scheduler, chosen, crowd),
        _flight(sim, scheduler, chosen),
        _unschedulable(sim, scheduler, look, chosen, crowd),
    )
    return {pool["id"]: pool for pool in pools}


def _pool(name: str, count: int) -> Pool:
    return {"id": f"pool-{name}", "title": TITLES[name], "term": TERMS.get(name, name), "count": count}


def _backoff(sim: WorldView, scheduler: SchedulerView, chosen: str) -> BackoffPool:
    queue = scheduler.queue
    count = len(queue.backoff_pods) + len(queue.error_backoff_pods)
    rows = [chips.backing_off(sim, queue, queued, chosen) for queued in queue.backoff(BACKING_OFF)]
    return {**_pool("backoff", count), "kind": "pool_backoff", "rows": rows, "more": count - len(rows)}


def _active(sim: WorldView, scheduler: SchedulerView, chosen: str, crowd: bool) -> ActivePool:
    """Return the first pods in the order of popping, and the number of the others by priority."""
    queue, sorter = scheduler.queue, queue_sort_of(scheduler)
    count = len(queue.active_pods)
    head = queue.active(ROWS_IN_CROWD if crowd else ROWS)
    rows: list[PodChip] = [
        {**chips.active(sim, queued, chosen), "number": number} for number, queued in enumerate(head, start=1)
    ]
    return {
        **_pool("active", count),
        "kind": "pool_active",
        "note": _order(sorter),
        "rows": rows,
        "groups": behind(sim, scheduler, head, chosen, GROUPS) if count > len(head) else [],
    }


def _order(sorter: str) -> Message:
    if sorter == KUBES:
        return message("%(plugin)s: higher priority first, then the pod that was queued first", plugin=sorter)
    return message("%(plugin)s sorts the queue", plugin=sorter)


def _flight(sim: WorldView, scheduler: SchedulerView, chosen: str) -> FlightPool:
    cycle, bindings = scheduler.cycle, list(scheduler.bindings.values())
    running = cycle if cycle is not None and cycle.ended is None else None
    popped: PoppedPod | None = None
    if running is not None:
        next_ = next(iter(scheduler.queue.active(1)), None)
        popped = {
            **chips.of_pod(running.pod, chosen),
            "attempts": running.queued.attempts,
            "phase": stands_at(running),
            "first": why_first(running.queued, running.started, next_, queue_sort_of(scheduler)),
        }
    waits = [binding for binding in bindings if binding.waiting]
    binds = [binding for binding in bindings if not binding.waiting]
    return {
        **_pool("flight", int(running is not None)),
        "kind": "pool_flight",
        "popped": popped,
        "permit": [chips.build_permitted_chip(binding, sim.now, chosen) for binding in waits[:BINDING]],
        "permits": len(waits),
        "binding": [chips.in_cycle(binding.pod, str(binding.phase), chosen) for binding in binds[:BINDING]],
        "bindings": len(binds),
    }


def _unschedulable(sim: WorldView, scheduler: SchedulerView, look: Look, chosen: str, crowd: bool) -> UnschedulablePool:
    return {
        **_pool("unschedulable", len(scheduler.queue.unschedulable_pods)),
        "kind": "pool_unschedulable",
        **sleeping(sim, scheduler, look.by, chosen, with_pods=not crowd),
    }
