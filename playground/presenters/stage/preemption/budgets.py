"""Disruption budgets: what the PodDisruptionBudgets said of the pods that preemption might have to evict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.world.readonly import Evidence, SchedulingCycleView, WorldView, budgets_of

SHOWN = 4
LOOKED_THROUGH = 200  # candidates and budgets


def budgets(sim: WorldView, cycle: SchedulingCycleView, evidence: Evidence) -> dict[str, Any]:
    """The budgets that cover a pod of some candidate, those that would be violated first; and whether other pods have none."""
    nodes = cycle.nodes
    pods = {
        pod.key: pod
        for candidate in evidence.candidates[:LOOKED_THROUGH]
        for pod in nodes.pods[nodes.rows[candidate.node]]
        if pod.priority < cycle.pod.priority
    }
    covered: set[str] = set()
    rows = []
    for manifest in sim.store.list("PodDisruptionBudget")[:LOOKED_THROUGH]:
        mine = [pod.key for budget in budgets_of([manifest]) for pod in pods.values() if budget.covers(pod)]
        if mine:
            covered.update(mine)
            rows.append({**_row(manifest), "pods": len(mine)})
    rows.sort(key=lambda row: (row["allowed"], row["name"]))
    return {
        "rows": rows[:SHOWN],
        "more": max(len(rows) - SHOWN, 0),
        "without": len(pods) - len(covered),
        "pods": len(pods),
    }


def _row(manifest: Mapping[str, Any]) -> dict[str, Any]:
    metadata, spec, status = (manifest.get(part) or {} for part in ("metadata", "spec", "status"))
    asked = next((name for name in ("minAvailable", "maxUnavailable") if spec.get(name) is not None), "")
    return {
        "name": metadata.get("name", ""),
        "namespace": metadata.get("namespace", ""),
        "at": f"PodDisruptionBudget/{metadata.get('namespace', '')}/{metadata.get('name', '')}",
        "allowed": int(status.get("disruptionsAllowed") or 0),
        "healthy": status.get("currentHealthy"),
        "desired": status.get("desiredHealthy"),
        "asked": f"{asked} {spec[asked]}" if asked else "",
    }
