"""Queues: where each pending pod stands, in the order in which the queue would hand it out. One card for each group of pods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playground.presenters.amounts import cpu, duration, memory
from playground.presenters.look import Look
from playground.presenters.panel import Panel
from playground.presenters.scene import colour_of, scheduler_of, short, subject
from playground.presenters.words import gettext_noop
from scheduler_core.objects.pod import Pod

WINDOW = 12
FIRST_BACKOFF = 1_000_000_000
LAST_BACKOFF = 10_000_000_000

_TITLES = {
    "active": gettext_noop("Active"),
    "flight": gettext_noop("In flight"),
    "backoff": gettext_noop("Backoff"),
    "unschedulable": gettext_noop("Unschedulable"),
    "gated": gettext_noop("Gated"),
    "permit": gettext_noop("Waiting on Permit"),
}
_NOTES = {"active": gettext_noop("heap order")}


def present(sim: Any, look: Look) -> Panel:
    """The groups; a group shows its first pods and counts the rest."""
    scheduler, chosen = scheduler_of(sim), subject(sim, look.pod)
    queue = scheduler.queue
    groups = {
        "active": _group(
            "active", queue.active(WINDOW), lambda q: _pod(q.pod, chosen), len(queue.active_pods)
        ),
        "flight": _flight(scheduler, chosen),
        "backoff": _group("backoff", queue.backoff(), lambda q: _backing_off(q, sim.now, chosen)),
        "unschedulable": _group("unschedulable", queue.unschedulable(), lambda q: _refused(q, chosen)),
        "gated": _group("gated", queue.gated(), lambda q: _gated(q, chosen)),
        "permit": _permit(scheduler, sim.now, chosen),
    }
    cards = {f"queue-{name}": group for name, group in groups.items()}
    return Panel("queues", {}, cards)


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
    requests = pod.requests
    parts = [cpu(requests.milli_cpu)] if requests.milli_cpu else []
    parts += [memory(requests.memory)] if requests.memory else []
    parts += [f"{name.rpartition('/')[2]} {count}" for name, count in requests.scalar[:1]]
    return {
        "key": pod.key,
        "name": short(pod.key),
        "colour": colour_of(pod),
        "priority": pod.priority,
        "size": " · ".join(parts),
        "chosen": pod.key == chosen,
    }


def _backing_off(queued: Any, now: int, chosen: str) -> dict[str, Any]:
    until = queued.backoff_until or now
    whole = min(FIRST_BACKOFF << min(max(queued.attempts - 1, 0), 8), LAST_BACKOFF)
    left = max(until - now, 0)
    return {
        **_pod(queued.pod, chosen),
        "attempts": queued.attempts,
        "left": duration(left),
        "ring": round(100 * min(left / whole, 1)),
    }


def _refused(queued: Any, chosen: str) -> dict[str, Any]:
    plugins = (*queued.unschedulable_plugins, *queued.pending_plugins)
    return {**_pod(queued.pod, chosen), "attempts": queued.attempts, "plugins": list(plugins), "why": True}


def _gated(queued: Any, chosen: str) -> dict[str, Any]:
    gates = list(queued.pod.spec.scheduling_gates)
    return {**_pod(queued.pod, chosen), "gates": gates or [queued.gated_by]}


def _flight(scheduler: Any, chosen: str) -> dict[str, Any]:
    """The pod of the running scheduling cycle, then those whose binding cycle runs (waiting ones have a group of their own)."""
    pods: list[tuple[Pod, str]] = []
    cycle = scheduler.cycle
    if cycle is not None and cycle.ended is None:
        pods.append((cycle.pod, str(cycle.phase)))
    pods += [
        (binding.pod, str(binding.phase)) for binding in scheduler.bindings.values() if not binding.waiting
    ]
    return _group("flight", pods, lambda item: {**_pod(item[0], chosen), "phase": item[1], "live": True})


def _permit(scheduler: Any, now: int, chosen: str) -> dict[str, Any]:
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
        }

    return _group("permit", waiting, show)
