"""The transport's readouts: virtual time, attempt, step."""

from __future__ import annotations

from typing import Any, TypedDict

from playground.presenters.amounts import clock
from playground.presenters.look import Look
from playground.presenters.panel import Panel
from playground.presenters.scene import profile_of
from scheduler_core.world.readonly import WorldView


class TransportContext(TypedDict):
    position: int
    now: str
    profile: str
    idle: bool
    release: str


def present(sim: WorldView, look: Look) -> Panel[TransportContext, Any]:
    """Return the viewer's position. The position of the head, and what runs, come with the delta itself."""
    return Panel(
        "transport",
        {
            "position": sim.position,
            "now": clock(sim.now),
            "profile": profile_of(sim),
            "idle": sim.idle and not sim.outside,
            "release": sim.settings.release,
        },
    )
