"""Journey: where the pod is and why, its latest moves and attempts in short, and its Kubernetes Events. The page has the rest."""

from __future__ import annotations

from typing import Any

from playground.presenters.amounts import clock
from playground.presenters.inspector.internals import present as present_internals
from playground.presenters.inspector.node import chosen
from playground.presenters.inspector.preempted import preemptions
from playground.presenters.journey import journey
from playground.presenters.look import Look
from playground.presenters.scene import short
from scheduler_core.world.readonly import WorldView

SHOWN = 12
EVENTS = 8
LOOKED_THROUGH = 2_000  # attempts


def present(sim: WorldView, look: Look, key: str) -> dict[str, Any]:
    """The newest entries first; of a node the pods that were placed on it."""
    if look.about == "node" and (name := chosen(sim, look)):
        return {**_node(sim, name), "internals": present_internals(sim, look, key)}
    story: dict[str, Any] = journey(sim, key) if key else {"known": False}
    internals = present_internals(sim, look, key)
    if not story["known"]:
        return {"kind": "gone" if key else "none", "internals": internals}
    entries = story["entries"]
    return {
        "kind": "journey",
        "internals": internals,
        **{name: story[name] for name in ("key", "name", "namespace", "bare", "place", "colour", "why")},
        **{name: story[name] for name in ("attempts", "total", "places")},
        "entries": entries[: -SHOWN - 1 : -1],
        "more": max(len(entries) - SHOWN, 0),
        "events": story["events"][: -EVENTS - 1 : -1],
        "claims": story["claims"],
        "preemptions": preemptions(sim, key),
        "at": look.at,
    }


def _node(sim: WorldView, name: str) -> dict[str, Any]:
    """The last attempts that chose the node, as far back as is quickly looked through."""
    attempts = sim.journal.attempts
    placed = []
    for index in range(len(attempts) - 1, max(len(attempts) - LOOKED_THROUGH, 0) - 1, -1):
        attempt = attempts[index]
        if attempt.node == name:
            at = attempt.last_position
            placed.append(
                {"key": attempt.pod, "name": short(attempt.pod), "t": clock(attempt.started), "at": at}
            )
            if len(placed) == SHOWN:
                break
    return {"kind": "node", "node": name, "placed": placed}
