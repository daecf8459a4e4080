"""What one panel shows: pure functions from a state to plain data, tested without Django.

`PANELS` names them in the order in which they stand on the page. To add a panel: write its module with `present(sim, look)`, name it here,
and add templates/panels/<name>.html (and <name>_card.html where it has cards).
"""

from __future__ import annotations

from collections.abc import Callable

from playground.presenters import (
    cluster_map,
    inspector,
    narrator,
    pipeline,
    queues,
    stage,
    story,
    timeline,
    transport,
)
from playground.presenters.look import Look
from playground.presenters.panel import Panel
from scheduler_core.view import WorldView

PANELS: dict[str, Callable[..., Panel]] = {
    "transport": transport.present,
    "pipeline": pipeline.present,
    "queues": queues.present,
    "stage": stage.present,
    "map": cluster_map.present,
    "narrator": narrator.present,
    "inspector": inspector.present,
    "timeline": timeline.present,
    "story": story.present,
}

__all__ = ["PANELS", "Look", "Panel", "present"]


def present(name: str, sim: WorldView, look: Look, story_name: str = "") -> Panel:
    """One panel; `story_name` is the session's story, which is no part of the world."""
    if name == "story":
        return story.present(sim, look, story_name)
    return PANELS[name](sim, look)
