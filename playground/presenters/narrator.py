"""The narrator: the present step in one sentence, and what comes next."""

from __future__ import annotations

from typing import Any

from playground.presenters.look import Look
from playground.presenters.panel import Panel
from playground.presenters.sentences.coming import coming
from playground.presenters.sentences.kinds import RecordLine
from playground.presenters.sentences.present import sentence
from playground.presenters.words import Message
from scheduler_core.world.readonly import WorldView


class NarratorContext(RecordLine):
    idle: bool
    timers: bool
    outside: bool
    next: Message | None


def present(sim: WorldView, look: Look) -> Panel[NarratorContext, Any]:
    """Return the panel that tells what happened to which object, and why."""
    return Panel(
        "narrator",
        {
            "idle": sim.idle and not sim.outside and sim.position > 0,
            "timers": sim.idle and not sim.over,
            "outside": sim.outside,
            "next": coming(sim),
            **sentence(sim),
        },
    )
