"""The panels in the order in which they stand on the page, and what presents each.

To add a panel: write its module with `present(sim, look)`, name it here, and add templates/panels/<name>.html (and <name>_card.html where
it has cards).
"""

from __future__ import annotations

from collections.abc import Callable

from playground.presenters import cluster_map, inspector, narrator, pipeline, queues, stage, story, timeline, transport
from playground.presenters.look import CLUSTER, Look
from playground.presenters.panel import AnyPanel
from playground.presenters.stage.aim import aim_of
from scheduler_core.world.readonly import WorldView

PANELS: dict[str, Callable[..., AnyPanel]] = {
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


def present(name: str, sim: WorldView, look: Look, story_name: str = "", past: WorldView | None = None) -> AnyPanel:
    """One panel for an aimed look; `story_name` is the session's story, which is no part of the world.

    `past` is the world at `past_of(sim, look)`, for the panels that show an attempt that is over.
    """
    if name == "story":
        return story.present(sim, look, story_name)
    if name == "stage":
        return stage.present(sim, look, past)
    if name == "map":
        return cluster_map.present(past or sim, look, plain=aim_of(sim, look).stage == CLUSTER)
    return PANELS[name](sim, look)
