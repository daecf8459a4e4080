"""The inspector: one pod or one node looked at closely, one module for each tab (presenters/look.py lists them)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

from playground.presenters.inspector.heading import heading
from playground.presenters.look import TABS, Look
from playground.presenters.panel import Panel
from playground.presenters.scene import subject
from scheduler_core.world.readonly import WorldView

Body = Callable[[WorldView, Look, str], dict[str, Any]]
_BODIES: dict[str, Body] = {name: import_module(f"{__name__}.{name}").present for name in TABS}


def present(sim: WorldView, look: Look) -> Panel:
    """The chosen tab, about what was chosen last, or the pod of the present cycle."""
    key = subject(sim, look.pod)
    context = {
        "tab": look.tab,
        "tabs": _tabs(look),
        "subject": heading(sim, look, key),
        "node": look.node,
        "body": _BODIES[look.tab](sim, look, key),
    }
    return Panel("inspector", context)


@lru_cache(maxsize=256)
def _tabs(look: Look) -> list[dict[str, str]]:
    return [{"name": name, "title": title, "href": look.href(tab=name)} for name, title in TABS.items()]
