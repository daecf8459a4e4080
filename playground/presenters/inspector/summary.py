"""Summary: the subject at a glance, a pod, a node, a claim or a controller."""

from __future__ import annotations

from typing import Any

from playground.presenters.inspector import node, objects, pod
from playground.presenters.look import Look
from scheduler_core.world.readonly import WorldView


def present(sim: WorldView, look: Look, key: str) -> dict[str, Any]:
    """Return the panel data of the selected object, with its type under `about`."""
    if look.about in ("claim", "controller") and getattr(look, look.about):
        return {"about": "object", **objects.present(sim, look, key)}
    if look.about == "node":
        return {"about": "node", **node.present(sim, look, key)}
    return {"about": "pod", **pod.present(sim, look, key)}
