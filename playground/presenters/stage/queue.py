"""Queue: which pod is next. The pools that pods wait in, and what moves them."""

from __future__ import annotations

from playground.presenters.look import Look
from playground.presenters.stage.shape import Stage
from playground.presenters.words import gettext_noop, message
from scheduler_core.view import WorldView


def present(sim: WorldView, look: Look, key: str) -> Stage:
    """The pools of the scheduler's queue."""
    return Stage(
        question=message(gettext_noop("Which pod is next?")),
        forms={"flow": gettext_noop("Flow"), "nodes": gettext_noop("Nodes")},
        map=True,
    )
