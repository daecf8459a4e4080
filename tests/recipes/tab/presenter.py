"""Labels: those of the chosen pod."""

from __future__ import annotations

from typing import Any

from playground.presenters.look import Look
from playground.presenters.scene import find_pod
from scheduler_core.world.readonly import WorldView


def present(sim: WorldView, look: Look, key: str) -> dict[str, Any]:
    """The labels in their order."""
    pod = find_pod(sim, key) if key else None
    return {"labels": sorted(pod.labels.items()) if pod is not None else []}
