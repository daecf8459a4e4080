"""Summary: the subject at a glance, a pod or a node."""

from __future__ import annotations

from typing import Any

from playground.presenters.inspector import node, pod
from playground.presenters.look import Look
from scheduler_core.view import WorldView


def present(sim: WorldView, look: Look, key: str) -> dict[str, Any]:
    """What the subject's own module says of it, under `about`."""
    about = "node" if look.about == "node" else "pod"
    body = node.present(sim, look, key) if about == "node" else pod.present(sim, look, key)
    return {"about": about, **body}
