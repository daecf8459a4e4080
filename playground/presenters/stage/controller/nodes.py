"""Nodes that changed: conditions that are not as they should be, taints, a drain, and evictions that taints have planned."""

from __future__ import annotations

from typing import TypedDict

from playground.presenters.draining import Draining, PlannedEviction, draining, list_planned_evictions
from playground.presenters.stage.controller.changed import AllChanged
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.base.trace.kinds import Reconciled
from scheduler_core.world.readonly import WorldView

MOST, PLANNED = 6, 6


def nodes(sim: WorldView, rows: AllChanged) -> list[ChangedNode]:
    """Return the nodes that changed, and one that a controller reconciled by its name."""
    names = {each.name: each.what for each in rows.of("Node")}
    for record in sim.last[-1:]:
        facts = record.of(Reconciled)
        if facts is not None and facts.did and sim.store.get("Node", "", facts.key) is not None:
            names.setdefault(facts.key, "")
    return [_node(sim, name, what) for name, what in list(names.items())[:MOST]]


class ChangedNode(TypedDict):
    name: str
    gone: bool
    added: bool
    cordoned: bool
    conditions: list[Condition]
    taints: list[str]
    drain: Draining | None
    planned: list[PlannedEviction]


def _node(sim: WorldView, name: str, what: str) -> ChangedNode:
    manifest = sim.store.get("Node", "", name)
    spec = (manifest or {}).get("spec") or {}
    return {
        "name": name,
        "gone": manifest is None,
        "added": what == "ADDED",
        "cordoned": bool(spec.get("unschedulable")),
        "conditions": _conditions(manifest),
        "taints": [_taint(taint) for taint in spec.get("taints") or ()],
        "drain": draining(sim, name),
        "planned": list_planned_evictions(sim, _pods_on(sim, name))[:PLANNED],
    }


class Condition(TypedDict):
    type: str
    status: str
    reason: str
    bad: bool


def _conditions(manifest: Manifest | None) -> list[Condition]:
    """Ready always, the others where they are not False."""
    found = ((manifest or {}).get("status") or {}).get("conditions") or ()
    return [
        {
            "type": str(c.get("type")),
            "status": str(c.get("status")),
            "reason": str(c.get("reason") or ""),
            "bad": c.get("status") != ("True" if c.get("type") == "Ready" else "False"),
        }
        for c in found
        if c.get("type") == "Ready" or c.get("status") != "False"
    ]


def _taint(taint: Manifest) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key')}{value}:{taint.get('effect')}"


def _pods_on(sim: WorldView, name: str) -> list[str]:
    """Pods of the node whose eviction is planned."""
    return [
        key
        for key in sim.surroundings.nodes.evictions
        if (pod := sim.store.pod_at(key)) is not None and pod.node_name == name
    ]
