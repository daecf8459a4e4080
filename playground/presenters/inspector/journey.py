"""Journey: where the pod is and why, its latest moves and attempts in short, and its Kubernetes Events. The page has the rest."""

from __future__ import annotations

from typing import Any

from playground.presenters.inspector.preempted import preemptions
from playground.presenters.journey import journey
from playground.presenters.look import Look
from scheduler_core.view import WorldView

SHOWN = 12
EVENTS = 8


def present(sim: WorldView, look: Look, key: str) -> dict[str, Any]:
    """The newest entries first."""
    story: dict[str, Any] = journey(sim, key) if key else {"known": False}
    if not story["known"]:
        return {"kind": "gone" if key else "none"}
    entries = story["entries"]
    return {
        "kind": "journey",
        **{name: story[name] for name in ("key", "name", "namespace", "bare", "place", "colour", "why")},
        **{name: story[name] for name in ("attempts", "total", "places")},
        "entries": entries[: -SHOWN - 1 : -1],
        "more": max(len(entries) - SHOWN, 0),
        "events": story["events"][: -EVENTS - 1 : -1],
        "claims": story["claims"],
        "preemptions": preemptions(sim, key),
        "at": look.at,
    }
