"""The transport's readouts: virtual time, attempt, step."""

from __future__ import annotations

from playground.presenters.amounts import clock
from playground.presenters.look import Look
from playground.presenters.panel import Panel
from playground.presenters.scene import cycle_of, profile_of
from scheduler_core.world.readonly import WorldView


def present(sim: WorldView, look: Look) -> Panel:
    """Return the viewer's position. The position of the head, and what runs, come with the delta itself."""
    cycle = cycle_of(sim)
    return Panel(
        "transport",
        {
            "position": sim.position,
            "now": clock(sim.now),
            "attempt": cycle.number if cycle is not None else 0,
            "profile": profile_of(sim),
            "idle": sim.idle and not sim.outside,
            "empty": not sim.store.count("Node") and not sim.store.count("Pod"),
        },
    )
