"""A small cluster as kubectl prints it: a node, a Deployment's pods, one that waits for its victim to end, one that is being deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation, in_creation_order, plan_import, take_in
from tests.scheduler_core.worlds import node, pod

TAKEN = "2025-11-20T10:00:00Z"
SELECTOR = {"matchLabels": {"app": "web"}}


def owner(kind: str, name: str) -> list[dict[str, Any]]:
    return [{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}]


def of(manifest: Mapping[str, Any], created: str, **metadata: Any) -> dict[str, Any]:
    """An object as a cluster keeps it."""
    meta = manifest["metadata"]
    stamp = {"uid": f"uid-{meta['name']}", "creationTimestamp": created, "resourceVersion": "4711"}
    return {**manifest, "metadata": {**meta, "namespace": "default", **stamp, **metadata}}


def running(name: str, started: str, cpu: str = "1", **metadata: Any) -> dict[str, Any]:
    made = pod(name, cpu=cpu, nodeName="n1", **metadata.pop("spec", {}))
    ready = [{"type": kind, "status": "True", "lastTransitionTime": started} for kind in ("Ready", "PodScheduled")]
    status = {"phase": "Running", "startTime": started, "conditions": ready}
    return of({**made, "status": status}, started, **metadata)


def workload(kind: str, name: str, replicas: int, **metadata: Any) -> dict[str, Any]:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": pod("x")["spec"]}
    spec = {"replicas": replicas, "selector": SELECTOR, "template": template}
    made = {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "labels": labels}, "spec": spec}
    return of(made, "2025-11-20T08:00:00Z", **metadata)


def snapshot() -> list[Manifest]:
    refused = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/1 nodes are available: 1 Insufficient cpu.",
        "lastTransitionTime": TAKEN,
    }
    n1 = {**of(node("n1", cpu="5"), "2025-11-20T07:00:00Z"), "spec": {}}
    del n1["metadata"]["namespace"]
    web = [
        running(
            f"web-{letter}",
            f"2025-11-20T08:0{minute}:00Z",
            labels={"app": "web"},
            ownerReferences=owner("ReplicaSet", "web-1"),
        )
        for letter, minute in (("a", 3), ("b", 1), ("c", 2))
    ]
    waits = of(pod("waits", cpu="2", priority=100), "2025-11-20T09:59:00Z")
    waits["status"] = {"phase": "Pending", "nominatedNodeName": "n1", "conditions": [refused]}
    ends = running(
        "ends", "2025-11-20T08:30:00Z", cpu="2", deletionTimestamp="2025-11-20T10:00:20Z", deletionGracePeriodSeconds=30
    )
    return [
        n1,
        workload("Deployment", "web", 3),
        workload("ReplicaSet", "web-1", 3, ownerReferences=owner("Deployment", "web")),
        *web,
        ends,
        waits,
    ]


def opened(*more: Manifest) -> Simulation:
    """A world into which the snapshot was imported."""
    sim = Simulation()
    bring(sim, *more)
    return sim


def bring(sim: Simulation, *more: Manifest) -> None:
    """Import the snapshot into a world."""
    intake = take_in(sim.store, sim.now, [*snapshot(), *more])
    plan = plan_import(sim.api, intake.objects)
    assert [item for item in plan.items if item.errors] == []
    sim.apply(ApplyObjects(tuple(in_creation_order(plan.accepted)), taken=intake.taken or UNSET))
