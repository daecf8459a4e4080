"""The panels in the order in which they stand on the page, and what presents each.

To add a panel: write its module with `present(sim, look)`, name it here, and add templates/panels/<name>.html (and <name>_card.html where
it has cards).
"""

from collections.abc import Callable
from typing import Any, TypedDict

from playground.presenters import cluster_map, inspector, narrator, pipeline, queues, stage, story, timeline
from playground.presenters.amounts import clock
from playground.presenters.look import CLUSTER, Look
from playground.presenters.panel import AnyPanel, Panel
from playground.presenters.scene import profile_of
from playground.presenters.stage.aim import aim_of
from scheduler_core.world.readonly import WorldView

# The transport's readouts: virtual time, attempt, step.


class TransportContext(TypedDict):
    position: int
    now: str
    profile: str
    idle: bool
    release: str


def present_transport(sim: WorldView, look: Look) -> Panel[TransportContext, Any]:
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


PANELS: dict[str, Callable[..., AnyPanel]] = {
    "transport": present_transport,
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
