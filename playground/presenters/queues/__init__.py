"""Queues: where each pending pod stands, in the order in which the queue would hand it out. One card for each group of pods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from playground.presenters.amounts import duration
from playground.presenters.look import Look
from playground.presenters.panel import Panel
from playground.presenters.queues import chips
from playground.presenters.scene import queue_sort_of, scheduler_of, stands_at, subject
from playground.presenters.words import gettext_noop
from scheduler_core.view import Pod, SchedulerView, WorldView

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
    sorter = queue_sort_of(scheduler)
    groups["active"]["by"] = "" if sorter == "PrioritySort" else sorter
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
            lambda q: chips.active(sim, q, chosen),
            len(queue.active_pods),
        ),
        "flight": _flight(scheduler, chosen),
        "backoff": _group("backoff", queue.backoff(), lambda q: chips.backing_off(sim, queue, q, chosen)),
        "unschedulable": _group("unschedulable", queue.unschedulable(), lambda q: chips.refused(q, chosen)),
        "gated": _group("gated", queue.gated(), lambda q: chips.gated(q, chosen)),
        "permit": _permit(scheduler, sim.now, chosen),
    }


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


def _flight(scheduler: SchedulerView, chosen: str) -> dict[str, Any]:
    """The pod of the running scheduling cycle, then those whose binding cycle runs (waiting ones have a group of their own)."""
    pods: list[tuple[Pod, str]] = []
    cycle = scheduler.cycle
    if cycle is not None and cycle.ended is None:
        pods.append((cycle.pod, stands_at(cycle)))
    pods += [
        (binding.pod, str(binding.phase)) for binding in scheduler.bindings.values() if not binding.waiting
    ]

    def show(item: tuple[Pod, str]) -> dict[str, Any]:
        return chips.in_cycle(item[0], item[1], chosen)

    return _group("flight", pods, show)


def _permit(scheduler: SchedulerView, now: int, chosen: str) -> dict[str, Any]:
    """The pods that wait, the inspected one first: it is the one that somebody may want to decide on."""
    waiting = [binding for binding in scheduler.bindings.values() if binding.waiting]
    waiting.sort(key=lambda binding: binding.pod.key != chosen)

    return _group("permit", waiting, lambda binding: chips.permitted(binding, now, chosen))


def _ignored(sim: WorldView, chosen: str) -> dict[str, Any]:
    """Pods that ask for a scheduler that is not here: nobody will try them."""
    keys = list(sim.journal.ignored)
    pods = [pod for key in keys[:WINDOW] if (pod := sim.store.pod_at(key)) is not None]
    group = _group(
        "ignored", pods, lambda pod: {**chips.of_pod(pod, chosen), "asks": pod.spec.scheduler_name}, len(keys)
    )
    return {**group, "wanted": sorted({pod.spec.scheduler_name for pod in pods})}
