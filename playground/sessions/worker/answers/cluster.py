"""What the components around the schedulers do, inside a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from playground.presenters.devices.node import node_devices
from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol.base import Data
from playground.sessions.protocol.errors import SessionGone
from playground.sessions.protocol.looking import Cluster
from playground.sessions.worker.answers.devices import devices_of, life_of
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps
from scheduler_core.analysis.status import (
    read_budgets,
    read_controllers,
    read_covered,
    read_drains,
    read_node,
    read_nodes,
    read_replicas,
    read_rollouts,
    read_troubles,
    read_zones,
)

_PARTS: Mapping[str, Callable[[Any], list[Data]]] = {
    "controllers": read_controllers,
    "nodes": read_nodes,
    "budgets": read_budgets,
    "rollouts": read_rollouts,
    "replicas": read_replicas,
}


def cluster(engine: Engine, request: Cluster) -> Steps[Data]:
    """One part of the cluster."""
    if request.part == "claims" and request.name:
        return (yield from life_of(engine, request))
    world = yield from engine.at(request.position)
    if request.part in ("devices", "claims"):
        return devices_of(world, request)
    return cluster_of(world, request.part, request.name)


def cluster_of(world: Any, part: str, name: str) -> Data:
    """Raises SessionGone where there is no node of that name."""
    answer: Data = {
        "position": world.position,
        "now": world.now,
        "rows": [],
        "node": None,
    }
    if name:
        node = read_node(world, name)
        if node is None:
            raise SessionGone(message(gettext_noop("There is no node %(name)s at this step."), name=name))
        return {**answer, "node": {**node, "devices": node_devices(world, name)}}
    rows = _PARTS[part](world)
    if part == "controllers":
        return {**answer, "rows": rows, "troubles": read_troubles(world)}
    if part == "nodes":
        return {**answer, "rows": rows, "zones": read_zones(world), "drains": read_drains(world)}
    if part == "budgets":
        rows = [{**row, "covered": read_covered(world, f"{row['namespace']}/{row['name']}")} for row in rows]
    return {**answer, "rows": rows}
