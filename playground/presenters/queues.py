"""Queues: where each pending pod stands, in the order in which the queue would hand it out. One card for each group of pods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from playground.presenters.amounts import cpu, duration, memory
from playground.presenters.look import Look
from playground.presenters.panel import Panel
from playground.presenters.scene import colour_of, scheduler_of, short, subject
from playground.presenters.words import gettext_noop
from scheduler_core.view import Pod, Point, QueuedPod, QueueView, SchedulerView, WorldView

WINDOW = 12

_TITLES = {
    "active": gettext_noop("Active"),
    "flight": gettext_noop("In flight"),
    "backoff": gettext_noop("Backoff"),
    "unschedulable": gettext_noop("Unschedulable"),
    "gated": gettext_noop("Gated"),
    "permit": gettext_noop("Waiting on Permit"),
    "ignored": gettext_noop("No such scheduler"),
}
_NOTES = {"active": gettext_noop("heap order")}


def present(sim: WorldView, look: Look) -> Panel:
    """The groups; a group shows its first pods and counts the rest. Of several schedulers that one's come first whose cycle began last."""
    scheduler, chosen = scheduler_of(sim), subject(sim, look.pod)
    groups = _groups(sim, scheduler, chosen)
    for other in sim.schedulers:
        if other is not scheduler:
            _join(groups, _groups(sim, other, chosen), other.name)
    groups["active"]["by"] = _sorter(scheduler)
    if sim.journal.ignored:
        groups["ignored"] = _ignored(sim, chosen)
    _add_faults(sim, groups.values())
    cards = {f"queue-{name}": group for name, group in groups.items()}
    return Panel("queues", {"historical": scheduler.queue.options.historical}, cards)


def _groups(sim: WorldView, scheduler: SchedulerView, chosen: str) -> dict[str, dict[str, Any]]:
    """The groups of one scheduler's pods."""
    queue = scheduler.queue
    return {
        "active": _group(
            "active",
            queue.active(WINDOW),
            lambda q: {**_pod(q.pod, chosen), **_woken(sim, q.key)},
            len(queue.active_pods),
        ),
        "flight": _flight(scheduler, chosen),
        "backoff": _group("backoff", queue.backoff(), lambda q: _backing_off(sim, queue, q, chosen)),
        "unschedulable": _group("unschedulable", queue.unschedulable(), lambda q: _refused(q, chosen)),
        "gated": _group("gated", queue.gated(), lambda q: _gated(q, chosen)),
        "permit": _permit(scheduler, sim.now, chosen),
    }


def _sorter(scheduler: SchedulerView) -> str:
    """The QueueSort plugin where it is not kube's own."""
    name = str(next(iter(scheduler.profiles.values())).at(Point.QUEUE_SORT)[0].name)
    return "" if name == "PrioritySort" else name


def _join(groups: dict[str, dict[str, Any]], others: dict[str, dict[str, Any]], name: str) -> None:
    """Puts another scheduler's pods behind, each with the scheduler's name."""
    for key, group in groups.items():
        pods = [{**pod, "via": name} for pod in others[key]["pods"]]
        group["pods"] = [*group["pods"], *pods][:WINDOW]
        group["count"] += others[key]["count"]
        group["more"] = group["count"] - len(group["pods"])


def _add_faults(sim: WorldView, groups: Iterable[dict[str, Any]]) -> None:
    """Which calls about the pods shown are to fail or to be slow."""
    if not sim.faults:
        return
    faults: dict[str, list[str]] = {}
    for (call, pod), fault in sorted(sim.faults.items()):
        answer = str(fault.code) if fault.code else duration(fault.latency or 0)
        faults.setdefault(pod, []).append(f"{call} {answer}")
    for group in groups:
        for pod in group["pods"]:
            if pod["key"] in faults:
                pod["faults"] = faults[pod["key"]]


def _group(name: str, pods: Sequence[Any], show: Any, count: int | None = None) -> dict[str, Any]:
    shown = [show(pod) for pod in pods[:WINDOW]]
    count = len(pods) if count is None else count
    return {
        "id": f"queue-{name}",
        "name": name,
        "title": _TITLES[name],
        "note": _NOTES.get(name, ""),
        "count": count,
        "pods": shown,
        "more": count - len(shown),
    }


def _pod(pod: Pod, chosen: str) -> dict[str, Any]:
    return {
        "key": pod.key,
        "name": short(pod.key),
        "colour": colour_of(pod),
        "priority": pod.priority,
        "size": _size(pod.requests.milli_cpu, pod.requests.memory, pod.requests.scalar[:1]),
        "chosen": pod.key == chosen,
    }


@lru_cache(maxsize=1024)
def _size(milli_cpu: int, size: int, others: tuple[tuple[str, int], ...]) -> str:
    parts = [cpu(milli_cpu)] if milli_cpu else []
    parts += [memory(size)] if size else []
    parts += [f"{name.rpartition('/')[2]} {count}" for name, count in others]
    return " · ".join(parts)


def _backing_off(sim: WorldView, queue: QueueView, queued: QueuedPod, chosen: str) -> dict[str, Any]:
    """The ring is what is left of the backoff, which began when the attempt failed; "error": it waits in kube's queue for errors."""
    until = queued.backoff_until or sim.now
    whole = max(until - queued.timestamp, 1)
    left = max(until - sim.now, 0)
    return {
        **_pod(queued.pod, chosen),
        **_woken(sim, queued.key),
        "attempts": queued.attempts,
        "left": duration(left),
        "ring": round(100 * min(left / whole, 1)),
        "error": queued.key in queue.error_backoff_pods,
    }


def _woken(sim: WorldView, key: str) -> dict[str, Any]:
    """What moved the pod here, where an event did: the event, the plugin whose hint said so, and the hint."""
    index = sim.journal.last_move.get(key)
    why = sim.journal.moves[index].why if index is not None else ()
    if not why or index is None:
        return {}
    reason = dict(zip(("event", "plugin", "hint"), why, strict=True))
    return {"woken": {**reason, "at": sim.journal.moves[index].position}}


def _refused(queued: QueuedPod, chosen: str) -> dict[str, Any]:
    plugins = (*queued.unschedulable_plugins, *queued.pending_plugins)
    return {**_pod(queued.pod, chosen), "attempts": queued.attempts, "plugins": list(plugins), "why": True}


def _gated(queued: QueuedPod, chosen: str) -> dict[str, Any]:
    gates = list(queued.pod.spec.scheduling_gates)
    return {**_pod(queued.pod, chosen), "gates": gates or [queued.gated_by]}


def _flight(scheduler: SchedulerView, chosen: str) -> dict[str, Any]:
    """The pod of the running scheduling cycle, then those whose binding cycle runs (waiting ones have a group of their own)."""
    pods: list[tuple[Pod, str]] = []
    cycle = scheduler.cycle
    if cycle is not None and cycle.ended is None:
        pods.append((cycle.pod, str(cycle.phase)))
    pods += [
        (binding.pod, str(binding.phase)) for binding in scheduler.bindings.values() if not binding.waiting
    ]

    def show(item: tuple[Pod, str]) -> dict[str, Any]:
        return {**_pod(item[0], chosen), "phase": item[1], "live": True, "calls": True}

    return _group("flight", pods, show)


def _permit(scheduler: SchedulerView, now: int, chosen: str) -> dict[str, Any]:
    """The pods that wait, the inspected one first: it is the one that somebody may want to decide on."""
    waiting = [binding for binding in scheduler.bindings.values() if binding.waiting]
    waiting.sort(key=lambda binding: binding.pod.key != chosen)

    def show(binding: Any) -> dict[str, Any]:
        deadline = min(binding.waiting.values())
        whole = max(deadline - binding.started, 1)
        left = max(deadline - now, 0)
        return {
            **_pod(binding.pod, chosen),
            "plugins": sorted(binding.waiting),
            "left": duration(left),
            "ring": round(100 * min(left / whole, 1)),
            "node": binding.node,
            "decide": True,
            "calls": True,
        }

    return _group("permit", waiting, show)


def _ignored(sim: WorldView, chosen: str) -> dict[str, Any]:
    """Pods that ask for a scheduler that is not here: nobody will try them."""
    keys = list(sim.journal.ignored)
    pods = [pod for key in keys[:WINDOW] if (pod := sim.store.pod_at(key)) is not None]
    group = _group(
        "ignored", pods, lambda pod: {**_pod(pod, chosen), "asks": pod.spec.scheduler_name}, len(keys)
    )
    return {**group, "wanted": sorted({pod.spec.scheduler_name for pod in pods})}
