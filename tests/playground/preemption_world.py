"""A cluster in which one important pod has three candidates to choose from, and each criterion has something to say."""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.manifest import MutableManifest
from tests.scheduler_core.worlds import node, pod

ZONE = "topology.kubernetes.io/zone"


def priority_class(name: str, value: int, **fields: Any) -> MutableManifest:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        **fields,
    }


def running(name: str, on: str, cpu: str, priority: int = 0, **labels: str) -> MutableManifest:
    """A pod that has been running on a node."""
    made = pod(name, cpu=cpu, nodeName=on, priority=priority)
    made["metadata"]["labels"] = labels
    return {**made, "status": {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}}


def budget(name: str, **labels: str) -> MutableManifest:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}},
        "status": {"disruptionsAllowed": 0},
    }


def tainted(name: str) -> MutableManifest:
    taints = [{"key": "dedicated", "value": "infra", "effect": "NoSchedule"}]
    return {**node(name, cpu="8", labels={ZONE: "zone-b"}), "spec": {"taints": taints}}


def objects(**important: Any) -> list[MutableManifest]:
    """Three candidates (a budget, a higher victim, the best one), a node that is too small, one that is tainted, and the important pod."""
    return [
        priority_class("high", 2000),
        node("node-a1", cpu="8", labels={ZONE: "zone-a"}),
        node("node-a2", cpu="2", labels={ZONE: "zone-a"}),
        node("node-b2", cpu="8", labels={ZONE: "zone-b"}),
        tainted("node-b3"),
        node("node-c3", cpu="8", labels={ZONE: "zone-c"}),
        running("web-1", "node-a1", "2", 3000),
        running("api-1", "node-a1", "4", 100),
        running("web-2", "node-b2", "2", 1000),
        running("batch-7", "node-b2", "3"),
        running("batch-8", "node-b2", "3"),
        running("db-3", "node-c3", "6", 0, app="db"),
        budget("db", app="db"),
        pod("ml-train-0", cpu="6", priorityClassName="high", **important),
    ]
