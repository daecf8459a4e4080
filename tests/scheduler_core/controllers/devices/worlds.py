"""Worlds with devices, to test controllers with: no scheduler has to be asked, as claims come allocated."""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.world.commands import SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.clusters import make

CONTROLLER = "resourceclaim-controller"
FINALIZER = "resource.kubernetes.io/delete-protection"


def with_devices(*others: str, **settings: Any) -> Simulation:
    """A world with devices in which this controller, and others, run; gates are settings."""
    sim = Simulation(seed=1)
    cluster = {"controllers": [CONTROLLER, *others]}
    sim.apply(SetSettings({"cluster": cluster, **settings}))
    return sim


def request(name: str = "gpu", **exactly: Any) -> dict[str, Any]:
    return {"name": name, "exactly": {"deviceClassName": "gpu.example.com", **exactly}}


def template(name: str = "one-gpu", *requests: Manifest, **meta: Any) -> dict[str, Any]:
    """A template for claims of one device, or of these requests."""
    devices = {"requests": list(requests or (request(),))}
    spec = {"metadata": meta, "spec": {"devices": devices}}
    return about_devices("ResourceClaimTemplate", name, spec)


def claim(name: str = "c", *requests: Manifest) -> dict[str, Any]:
    """A claim for one device, or of these requests."""
    return about_devices("ResourceClaim", name, {"devices": {"requests": list(requests or (request(),))}})


def about_devices(kind: str, name: str, spec: Manifest, namespace: str = "default") -> dict[str, Any]:
    return {**make(kind, name, namespace, spec=spec), "apiVersion": "resource.k8s.io/v1"}


def allocated(sim: Simulation, name: str, *pods: str, device: str = "gpu-0", **result: Any) -> None:
    """Allocates a claim and reserves it for pods, as a scheduler does."""
    found = sim.store.get("ResourceClaim", "default", name)
    assert found is not None
    results = [{"request": "gpu", "driver": "gpu.example.com", "pool": "node-a", "device": device, **result}]
    reserved = [{"resource": "pods", "name": pod, "uid": uid_of(sim, pod)} for pod in pods]

    def write() -> None:
        meta = {**found["metadata"], "finalizers": [FINALIZER]}
        stored = sim.api.update({**found, "metadata": meta})
        allocation = {"devices": {"results": results}}
        status = {"allocation": allocation, **({"reservedFor": reserved} if reserved else {})}
        sim.api.update({**stored, "status": status}, "status")

    sim.change(write)


def uid_of(sim: Simulation, pod: str) -> str:
    found = sim.store.pod("default", pod)
    return "gone" if found is None else found.uid


def status_of(sim: Simulation, name: str = "c") -> Manifest | None:
    """A claim's status; None where it is not there."""
    found = sim.store.get("ResourceClaim", "default", name)
    return None if found is None else found.get("status") or {}


def claims_of(sim: Simulation) -> list[str]:
    return [each["metadata"]["name"] for each in sim.store.list("ResourceClaim")]
