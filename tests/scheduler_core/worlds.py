"""Worlds to test with, and ways to run them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.base.trace.records import Record
from scheduler_core.scheduler.config.cluster import ClusterSettings
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation


def node(name: str, cpu: str = "4", **metadata: Any) -> dict[str, Any]:
    """A node manifest as a person writes it."""
    labels = {"kubernetes.io/hostname": name, **metadata.pop("labels", {})}
    capacity = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, **metadata},
        "status": {"capacity": capacity, "allocatable": capacity},
    }


def pod(name: str, cpu: str = "1", annotations: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """A pending pod manifest as a person writes it."""
    container = {"name": "c", "image": "app:v1", "resources": {"requests": {"cpu": cpu}}}
    metadata = {"name": name, "annotations": dict(annotations or {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **spec}}


def configuration(**fields: Any) -> dict[str, Any]:
    """A KubeSchedulerConfiguration with these fields."""
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **fields}


def world(*objects: Mapping[str, Any], seed: int = 1) -> Simulation:
    """A world with these objects in it, nothing scheduled yet."""
    sim = Simulation(seed=seed)
    sim.apply(ApplyObjects(objects))
    return sim


def scheduler_alone(*objects: Mapping[str, Any], seed: int = 1) -> Simulation:
    """A world with these objects in which no controller acts."""
    sim = Simulation(seed, WorldSettings(cluster=ClusterSettings(controllers=())))
    sim.apply(ApplyObjects(objects))
    return sim


def settle(sim: Simulation, steps: int = 5_000) -> list[Record]:
    """Runs until nothing is left to do; returns what happened."""
    result = sim.run(steps=steps)
    assert result.reason == "idle", f"still busy after {steps} transitions"
    return result.records


def scheduler_of(sim: Simulation) -> Scheduler:
    return sim.schedulers[0]


def cycle_of(sim: Simulation) -> SchedulingCycle:
    cycle = scheduler_of(sim).cycle
    assert cycle is not None
    return cycle


def nodes_of(sim: Simulation) -> dict[str, str]:
    """pod key -> node name, of all pods."""
    return {pod.key: pod.node_name for pod in sim.store.pods()}


def of_kind(records: list[Record], kind: str) -> list[dict[str, Any]]:
    return [dict(record.data) for record in records if record.kind == kind]


def everything(sim: Simulation) -> list[dict[str, Any]]:
    """What a world did from its start, as JSON data, by running it on until it is idle."""
    return [record.to_json() for record in settle(sim)]
