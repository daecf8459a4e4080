"""Events: the Kubernetes Events of the pod, as kubectl describe lists them."""

from __future__ import annotations

from typing import Any

from playground.presenters.amounts import clock
from playground.presenters.look import Look
from playground.presenters.scene import short

SHOWN = 30


def present(sim: Any, look: Look, key: str) -> dict[str, Any]:
    """The last events of the pod, the latest one first."""
    if not key:
        return {"kind": "none"}
    namespace, _, name = key.partition("/")
    found: list[dict[str, Any]] = []
    for event in reversed(sim.store.events):
        if event.name == name and event.namespace == namespace and event.kind == "Pod":
            found.append(
                {
                    "type": event.type,
                    "reason": event.reason,
                    "from": event.reporter,
                    "message": event.message,
                    "at": clock(event.t),
                }
            )
            if len(found) == SHOWN:
                break
    return {"kind": "events", "pod": short(key), "rows": found}
