"""Census: how many objects there are of each kind."""

from __future__ import annotations

from typing import TypedDict

from playground.presenters.look import Look
from playground.presenters.panel import Panel
from playground.presenters.words import gettext_noop
from scheduler_core.world.readonly import WorldView

_TITLES = {"Node": gettext_noop("Nodes"), "Pod": gettext_noop("Pods")}


class CensusContext(TypedDict):
    pass


class CensusCard(TypedDict):
    title: str
    count: int


def present(sim: WorldView, look: Look) -> Panel[CensusContext, CensusCard]:
    """A card for each kind."""
    cards: dict[str, CensusCard] = {
        f"census-{kind.lower()}": {"title": title, "count": len(list(sim.store.list(kind)))}
        for kind, title in _TITLES.items()
    }
    return Panel("census", {}, cards)
