"""The inspector: one pod or one node looked at closely, one module for each tab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playground.presenters.inspector import (
    fix,
    internals,
    journey,
    node,
    pod,
    preemption,
    scores,
    why,
    yaml_tab,
)
from playground.presenters.look import TABS, Look
from playground.presenters.panel import Panel
from playground.presenters.scene import cycle_of, find_pod, short, subject
from playground.presenters.words import gettext_noop
from scheduler_core.view import WorldView

_TITLES = {
    "why": gettext_noop("Why"),
    "scores": gettext_noop("Scores"),
    "preemption": gettext_noop("Preemption"),
    "pod": gettext_noop("Pod"),
    "node": gettext_noop("Node"),
    "yaml": gettext_noop("YAML"),
    "journey": gettext_noop("Journey"),
    "fix": gettext_noop("Fix"),
    "internals": gettext_noop("Internals"),
}
_PRESENT: dict[str, Callable[[Any, Look, str], dict[str, Any]]] = {
    "why": why.present,
    "scores": scores.present,
    "preemption": preemption.present,
    "pod": pod.present,
    "node": node.present,
    "yaml": yaml_tab.present,
    "journey": journey.present,
    "fix": fix.present,
    "internals": internals.present,
}


def present(sim: WorldView, look: Look) -> Panel:
    """The chosen tab, about the chosen pod or the one of the present cycle."""
    key = subject(sim, look.pod)
    context = {
        "tab": look.tab,
        "tabs": [{"name": name, "title": _TITLES[name], "href": look.href(tab=name)} for name in TABS],
        "pod": _heading(sim, look, key),
        "node": look.node,
        "body": _PRESENT[look.tab](sim, look, key),
    }
    return Panel("inspector", context)


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
