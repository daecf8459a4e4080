"""A queued pod as a row, in the rail and in the queue stage."""

from functools import lru_cache
from typing import NotRequired, TypedDict

from playground.presenters.scene import short
from playground.presenters.words import clock, cpu, duration, memory
from scheduler_core.world.readonly import BindingCycleView, Pod, QueuedPod, QueueView, WorldView


class QueueWakeup(TypedDict):
    """The event that moved a pod, the plugin that handled it, and its hint."""

    event: str
    plugin: str
    hint: str
    at: int


class PodChip(TypedDict):
    key: str
    name: str
    priority: int
    size: str
    chosen: bool
    woken: NotRequired[QueueWakeup]
    since: NotRequired[str]
    attempts: NotRequired[int]
    left: NotRequired[str]
    ring: NotRequired[int]
    error: NotRequired[bool]
    plugins: NotRequired[list[str]]
    why: NotRequired[bool]
    gates: NotRequired[list[str]]
    phase: NotRequired[str]
    live: NotRequired[bool]
    node: NotRequired[str]
    decide: NotRequired[bool]
    nominated: NotRequired[str]
    victim: NotRequired[bool]
    asks: NotRequired[str]
    via: NotRequired[str]
    faults: NotRequired[list[str]]
    number: NotRequired[int]
    group: "NotRequired[list[MemberChip]]"
    needed: NotRequired[int]


def of_pod(pod: Pod, chosen: str) -> PodChip:
    return {
        "key": pod.key,
        "name": short(pod.key),
        "priority": pod.priority,
        "size": _size(pod.requests.milli_cpu, pod.requests.memory, pod.requests.scalar[:1]),
        "chosen": pod.key == chosen,
    }


class MemberChip(TypedDict):
    key: str
    name: str
    chosen: bool


def of_queued(queued: QueuedPod, chosen: str) -> PodChip:
    """Return a pod, or a pod group with its members."""
    chip = of_pod(queued.pod, chosen)
    if queued.members:
        chip["group"] = [{"key": m.key, "name": short(m.key), "chosen": m.key == chosen} for m in queued.members]
        chip["key"], chip["needed"] = queued.members[0].key, queued.pod.manifest["spec"]["minCount"]
    return chip


@lru_cache(maxsize=1024)
def _size(milli_cpu: int, size: int, others: tuple[tuple[str, int], ...]) -> str:
    parts = [f"{cpu(milli_cpu)} cpu"] if milli_cpu else []
    parts += [memory(size)] if size else []
    parts += [f"{name.rpartition('/')[2]} {count}" for name, count in others]
    return " · ".join(parts)


def active(sim: WorldView, queued: QueuedPod, chosen: str) -> PodChip:
    return {**of_queued(queued, chosen), **woken(sim, queued.key), "since": clock(queued.timestamp)}


def backing_off(sim: WorldView, queue: QueueView, queued: QueuedPod, chosen: str) -> PodChip:
    """Return a pod in backoff. The ring shows the rest of the backoff since the attempt failed; "error": the attempt ended with an error.

    A refused pod group is also in kube's queue for errors, because no plugin counts as its rejector.
    """
    return {
        **of_queued(queued, chosen),
        **woken(sim, queued.key),
        "attempts": queued.attempts,
        **_compute_remaining(queued.timestamp, queued.backoff_until or sim.now, sim.now),
        "error": queued.key in queue.error_backoff_pods and queued.error_count > 0,
    }


class _Remaining(TypedDict):
    left: str
    ring: int


def _compute_remaining(since: int, until: int, now: int) -> _Remaining:
    """Return the remaining part of a wait, and its share in percent."""
    left = max(until - now, 0)
    return {"left": duration(left), "ring": round(100 * min(left / max(until - since, 1), 1))}


class _WokenPart(TypedDict, total=False):
    woken: QueueWakeup


def woken(sim: WorldView, key: str) -> _WokenPart:
    """Return the event that moved the pod here, the plugin that handled it, and its hint; {} if no event did."""
    index = sim.journal.last_move.get(key)
    why = sim.journal.moves[index].why if index is not None else ()
    if not why or index is None:
        return {}
    event, plugin, hint = why
    return {"woken": {"event": event, "plugin": plugin, "hint": hint, "at": sim.journal.moves[index].position}}


def build_refused_chip(queued: QueuedPod, chosen: str) -> PodChip:
    plugins = (*queued.unschedulable_plugins, *queued.pending_plugins)
    return {**of_queued(queued, chosen), "attempts": queued.attempts, "plugins": list(plugins), "why": True}


def build_gated_chip(queued: QueuedPod, chosen: str) -> PodChip:
    gates = list(queued.pod.spec.scheduling_gates)
    return {**of_queued(queued, chosen), "gates": gates or [queued.gated_by]}


def in_cycle(pod: Pod, phase: str, chosen: str) -> PodChip:
    return {**of_pod(pod, chosen), "phase": phase, "live": True}


def build_permitted_chip(binding: BindingCycleView, now: int, chosen: str) -> PodChip:
    """Return a pod that waits on Permit. The ring shows the rest of the shortest timeout."""
    return {
        **of_pod(binding.pod, chosen),
        "plugins": sorted(binding.waiting),
        **_compute_remaining(binding.started, min(binding.waiting.values()), now),
        "node": binding.node,
        "decide": True,
    }
