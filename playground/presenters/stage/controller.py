"""Controller: what happened around the scheduler. What controllers, kubelets and people did to the cluster's objects."""

from __future__ import annotations

from playground.presenters.look import Look
from playground.presenters.stage.shape import Stage
from playground.presenters.words import gettext_noop, message
from scheduler_core.view import WorldView


def present(sim: WorldView, look: Look, key: str) -> Stage:
    """What the last transition changed."""
    return Stage(
        question=message(gettext_noop("What happened in the cluster?")),
        forms={"changes": gettext_noop("Changes"), "nodes": gettext_noop("Nodes")},
        map=True,
    )
