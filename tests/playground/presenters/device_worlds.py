"""Worlds with devices: manifests as drivers and people write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.playground.presenters.worlds import empty_world

API = "resource.k8s.io/v1"
DRIVER = "gpu.example.com"


def world(*objects: Mapping[str, Any], **settings: Any) -> Simulation:
    """A world with devices; `settings` are gates."""
    sim = empty_world(**settings)
    sim.apply(ApplyObjects(objects))
    return sim


def slice_of(node: str, devices: Sequence[str | Mapping[str, Any]], **spec: Any) -> dict[str, Any]:
    """The only slice of a node's pool; a device is a name, or as the manifest has it."""
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1, **spec.pop("pool", {})}
    each = [{"name": device} if isinstance(device, str) else dict(device) for device in devices]
    return {
        "apiVersion": API,
        "kind": "ResourceSlice",
        "metadata": {"name": spec.pop("name", f"{node}-gpu")},
        "spec": {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": each, **spec},
    }


def device_class(name: str = "gpu", *selectors: str) -> dict[str, Any]:
    cel = selectors or (f'device.driver == "{DRIVER}"',)
    spec = {"selectors": [{"cel": {"expression": expression}} for expression in cel]}
    return {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def claim(
    name: str,
    given: Sequence[str | Mapping[str, Any]] = (),
    node: str = "n1",
    pods: Sequence[str] = (),
    count: int = 1,
    **spec: Any,
) -> dict[str, Any]:
    """A claim for `count` devices; `given`: what it has been allocated of the node's pool, `pods`: for whom it is reserved."""
    exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
    manifest: dict[str, Any] = {
        "apiVersion": API,
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"devices": {"requests": [{"name": "gpus", "exactly": exactly}], **spec}},
    }
    if given:
        manifest["status"] = {"allocation": _allocation(given, node)}
        if pods:
            consumers = [{"resource": "pods", "name": pod, "uid": f"uid-{pod}"} for pod in pods]
            manifest["status"]["reservedFor"] = consumers
    return manifest


def _allocation(given: Sequence[str | Mapping[str, Any]], node: str) -> dict[str, Any]:
    common = {"request": "gpus", "driver": DRIVER, "pool": node}
    results = [{**common, **({"device": each} if isinstance(each, str) else each)} for each in given]
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    return {"devices": {"results": results}, "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]}}


def partition(name: str, memory: str, of: str = "gpu-0") -> dict[str, Any]:
    """A part of a physical GPU, which shares its memory with others."""
    return {"name": name, "consumesCounters": [{"counterSet": of, "counters": {"memory": {"value": memory}}}]}


def counter_set(name: str = "gpu-0", memory: str = "40Gi") -> dict[str, Any]:
    return {"name": name, "counters": {"memory": {"value": memory}}}
