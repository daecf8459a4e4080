"""The inspector: one pod or one node looked at closely, one module for each tab (presenters/look.py lists them)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

from playground.presenters.look import TABS, Look
from playground.presenters.panel import Panel
from playground.presenters.scene import cycle_of, find_pod, short, subject
from scheduler_core.view import WorldView

Body = Callable[[WorldView, Look, str], dict[str, Any]]
_BODIES: dict[str, Body] = {name: import_module(f"{__name__}.{name}").present for name in TABS}


def present(sim: WorldView, look: Look) -> Panel:
    """The chosen tab, about the chosen pod or the one of the present cycle."""
    key = subject(sim, look.pod)
    context = {
        "tab": look.tab,
        "tabs": _tabs(look),
        "pod": _heading(sim, look, key),
        "node": look.node,
        "body": _BODIES[look.tab](sim, look, key),
    }
    return Panel("inspector", context)


@lru_cache(maxsize=256)
def _tabs(look: Look) -> list[dict[str, str]]:
    return [{"name": name, "title": title, "href": look.href(tab=name)} for name, title in TABS.items()]


def _heading(sim: WorldView, look: Look, key: str) -> dict[str, Any] | None:
    if not key:
        return None
    inspected, cycle = find_pod(sim, key), cycle_of(sim)
    return {
        "key": key,
        "name": short(key),
        "priority": inspected.priority if inspected is not None else None,
        "gone": inspected is None,
        "pinned": bool(look.pod),
        "present": cycle is not None and cycle.pod.key == key,
        "place": sim.journal.place(key),
        "waits": _waits(sim, key),
    }


def _waits(sim: WorldView, key: str) -> bool:
    """Whether the pod waits on Permit, so that somebody may decide."""
    bindings = (binding for scheduler in sim.schedulers for binding in scheduler.bindings.values())
    return any(binding.pod.key == key and bool(binding.waiting) for binding in bindings)
