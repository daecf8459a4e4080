"""The Kubernetes Events of a pod as kubectl describe prints them: equal ones in one row, with their number and the age of the first."""

from __future__ import annotations

from typing import Any

from playground.presenters.journey.ages import age
from scheduler_core.world.readonly import KubeEvent, WorldView


def event_rows(sim: WorldView, key: str) -> list[dict[str, Any]]:
    """Oldest first, by the time of the last of each row. `position` is not known of events; `ns` is the last one's time."""
    namespace, _, name = key.partition("/")
    rows: dict[tuple[str, ...], list[KubeEvent]] = {}
    for event in sim.store.events:
        if event.name == name and event.namespace == namespace and event.kind == "Pod":
            rows.setdefault((event.type, event.reason, event.message, event.reporter), []).append(event)
    return [_row(equal, sim.now) for equal in sorted(rows.values(), key=lambda equal: equal[-1].t)]


def _row(equal: list[KubeEvent], now: int) -> dict[str, Any]:
    first, last = equal[0], equal[-1]
    ages = age(now - last.t)
    if len(equal) > 1:
        ages += f" (x{len(equal)} over {age(now - first.t)})"
    return {
        "type": last.type,
        "reason": last.reason,
        "age": ages,
        "from": last.reporter,
        "message": last.message,
        "ns": last.t,
        "first": first.t,
        "count": len(equal),
    }
