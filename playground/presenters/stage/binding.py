"""Binding: does the decision hold. What was assumed, reserved, permitted, written and bound, one lane for each pod."""

from __future__ import annotations

from playground.presenters.look import Look
from playground.presenters.stage.shape import Stage
from playground.presenters.words import gettext_noop, message
from scheduler_core.view import WorldView


def present(sim: WorldView, look: Look, key: str) -> Stage:
    """The binding cycles beside the scheduling cycle."""
    return Stage(
        question=message(gettext_noop("Does the decision hold?")),
        forms={"lanes": gettext_noop("Lanes"), "nodes": gettext_noop("Nodes")},
        map=True,
    )
