"""The panels in the page's order, each with the function that presents it.

To add a panel, write its module with `present(sim, look)`, add it here, and add templates/panels/<name>.html (and <name>_card.html if it
has cards).
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypedDict

import orjson

from playground import presenters
from playground.lessons.own import PlayedLesson
from playground.presenters import cluster_map, inspector, narrator, pipeline, queues, stage, story, timeline
from playground.presenters.look import CLUSTER, Look
from playground.presenters.names import names_of
from playground.presenters.panel import AnyPanel, Delta, Panel, PanelChange, SeenPage, ShownPanels
from playground.presenters.scene import profile_of
from playground.presenters.stage.aim import aim_of
from playground.presenters.words import clock
from scheduler_core.world.readonly import WorldView

# The transport's readouts: virtual time, attempt, step.


class TransportContext(TypedDict):
    position: int
    now: str
    date: str
    profile: str
    idle: bool
    release: str


def present_transport(sim: WorldView, look: Look) -> Panel[TransportContext, Any]:
    """Return the viewer's position. The delta itself has the head's position and the running state."""
    settings = sim.settings
    own = {scheduler.name: settings.release_of(scheduler.name) for scheduler in sim.schedulers}
    others = [f"{name} {release}" for name, release in own.items() if release != settings.release]
    return Panel(
        "transport",
        {
            "position": sim.position,
            "now": clock(sim.now),
            "date": sim.store.timestamp(sim.now) if sim.store.is_dated else "",
            "profile": profile_of(sim),
            "idle": sim.idle and not sim.outside,
            "release": ", ".join([settings.release, *others]),
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
    """Return one panel for an aimed look. `story_name` is the session's story, which is not part of the world.

    `past` is the world at `past_of(sim, look)`, for panels that show a finished attempt.
    """
    if name == "story":
        return story.present(sim, look, story_name)
    if name == "stage":
        return stage.present(sim, look, past)
    if name == "map":
        return cluster_map.present(past or sim, look, plain=aim_of(sim, look).stage == CLUSTER)
    return PANELS[name](sim, look)


SEEN = 64
MOVED = 40


class PanelDigest(NamedTuple):
    """`whole` covers the context, the short names, and the order of the cards."""

    whole: bytes
    cards: dict[str, bytes]


Digests = Mapping[str, PanelDigest]


class Panels:
    """Presents the panels of worlds and keeps digests of the latest ones. `story` is the session's, not part of the world.

    `own`: the story's lesson if a user wrote it; the reference keeps it loaded.
    """

    def __init__(self, story: str, own: PlayedLesson | None = None) -> None:
        self.story, self.own = story, own
        self._seen: OrderedDict[tuple[int, Look], Digests] = OrderedDict()

    def view(self, world: WorldView, look: Look, names: list[str] | None, past: WorldView | None = None) -> ShownPanels:
        """Return panels by name. `past` as in presenters.present."""
        shown = self._present(world, look, past, names)
        if names is None:
            self._remember((world.position, look), digests(shown))
        return ShownPanels(world.position, {panel.name: panel for panel in shown})

    def delta(self, world: WorldView, look: Look, before: SeenPage | None, past: WorldView | None = None) -> Delta:
        """Return the difference to a page that shows `before`, or the whole page if its digests are no longer kept."""
        shown = self._present(world, look, past)
        new = digests(shown)
        old = self._seen.get((before.position, before.look)) if before is not None else None
        self._remember((world.position, look), new)
        return Delta(list(compare(shown, new, old or {})), _list_moved_pods(world, before))

    def cut(self, position: int) -> None:
        """Forget the panels shown after a position."""
        self._seen = OrderedDict((key, value) for key, value in self._seen.items() if key[0] <= position)

    def _present(
        self, world: WorldView, look: Look, past: WorldView | None, only: list[str] | None = None
    ) -> list[AnyPanel]:
        """Return the panels of a world, in the page's order."""
        wanted = [name for name in presenters.PANELS if only is None or name in only]
        look = presenters.aim_look(world, look)
        names = names_of(world)
        return [replace(presenters.present(name, world, look, self.story, past), names=names) for name in wanted]

    def _remember(self, key: tuple[int, Look], value: Digests) -> None:
        self._seen[key] = value
        self._seen.move_to_end(key)
        while len(self._seen) > SEEN:
            self._seen.popitem(last=False)


def digests(panels: Iterable[AnyPanel]) -> Digests:
    """Return digests by panel name."""
    return {
        panel.name: PanelDigest(
            _digest([panel.context, list(panel.cards), panel.names]),
            {name: _digest(card) for name, card in panel.cards.items()},
        )
        for panel in panels
    }


def compare(panels: Iterable[AnyPanel], new: Digests, old: Digests) -> Iterator[PanelChange]:
    """Yield a change for each panel that differs: the whole panel, or the changed cards."""
    for panel in panels:
        before, after = old.get(panel.name), new[panel.name]
        if before is None or before.whole != after.whole:
            yield PanelChange(panel.name, panel)
            continue
        changed = {name: panel.cards[name] for name, digest in after.cards.items() if before.cards.get(name) != digest}
        if changed:
            yield PanelChange(panel.name, cards=changed, names=panel.names)


def _digest(value: Any) -> bytes:
    return hashlib.blake2b(orjson.dumps(value), digest_size=12).digest()


def _list_moved_pods(world: WorldView, before: SeenPage | None) -> list[str]:
    """Return the pods that changed place since a page was shown, latest first, at most MOVED."""
    moved: dict[str, None] = {}
    if before is None or before.position >= world.position:
        return []
    for move in reversed(world.journal.moves):
        if move.position <= before.position or len(moved) >= MOVED:
            break
        if move.place not in ("running", "deleted"):
            moved[move.pod] = None
    return list(moved)
