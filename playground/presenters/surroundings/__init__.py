"""What the components around the schedulers do, made ready for a page; one module for each kind of thing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from playground.presenters.amounts import clock
from playground.presenters.surroundings.budgets import budgets
from playground.presenters.surroundings.controllers import controllers
from playground.presenters.surroundings.nodes import drains, node, nodes, zones
from playground.presenters.surroundings.replicas import replicas
from playground.presenters.surroundings.rollouts import rollouts
from playground.presenters.words import gettext_noop

PARTS = {
    "controllers": gettext_noop("Controllers"),
    "nodes": gettext_noop("Nodes"),
    "budgets": gettext_noop("Disruption budgets"),
    "rollouts": gettext_noop("Rollouts"),
    "replicas": gettext_noop("Schedulers"),
    "devices": gettext_noop("Devices"),
    "claims": gettext_noop("Device claims"),
}
_ROWS: Mapping[str, Callable[[list[dict[str, Any]], int], list[dict[str, Any]]]] = {
    "controllers": controllers,
    "nodes": nodes,
    "budgets": budgets,
    "rollouts": rollouts,
    "replicas": replicas,
}


def present(reading: Mapping[str, Any], part: str, name: str) -> dict[str, Any]:
    """Present the data of sessions/worker/answers/cluster.py; `name` is the name of one node."""
    now = reading["now"]
    return {
        "position": reading["position"],
        "clock": clock(now),
        "parts": [{"name": key, "title": title} for key, title in PARTS.items()],
        "part": part,
        "name": name,
        "rows": _ROWS[part](reading["rows"], now) if part in _ROWS else [],
        "found": reading.get("found"),
        "node": node(reading["node"], now) if reading["node"] else None,
        "zones": zones(reading.get("zones", ()), now),
        "drains": drains(reading.get("drains", ())),
        "troubles": reading.get("troubles", ()),
    }
