"""Census: how many objects there are of each kind."""

from __future__ import annotations

from playground.presenters.look import Look
from playground.presenters.panel import Panel
from playground.presenters.words import gettext_noop
from scheduler_core.world.readonly import WorldView

_TITLES = {"Node": gettext_noop("Nodes"), "Pod": gettext_noop("Pods")}


def present(sim: WorldView, look: Look) -> Panel:
    """A card for each kind."""
    cards = {
        f"census-{kind.lower()}": {"title": title, "count": len(list(sim.store.list(kind)))}
        for kind, title in _TITLES.items()
    }
    return Panel("census", {}, cards)
