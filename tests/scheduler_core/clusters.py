"""Worlds to test controllers with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.world.commands import (
    DEFAULT_SCHEDULER_NAME,
    ApplyObjects,
    DeleteObjects,
    PatchObject,
    Ref,
    SetKubelet,
    SetSettings,
)
from scheduler_core.world.simulation import Simulation

SECOND = 10**9


def cluster(*objects: Manifest, controllers: Sequence[str] | None = None, **settings: Any) -> Simulation:
    """A world with these controllers and these objects in it, nothing done yet."""
    sim = Simulation(seed=1)
    chosen = None if controllers is None else list(controllers)
    sim.apply(SetSettings({"cluster": {"controllers": chosen, **settings}}))
    for manifest in objects:
        sim.apply(ApplyObjects((manifest,)))
    return sim


def wait(sim: Simulation, seconds: float) -> None:
    """Lets all happen that is due up to a time since the world was made, and sets the clock to it."""
    until = round(seconds * SECOND)
    while sim.due(until):
        sim.advance()
    sim.agenda.now = max(sim.now, until)


def make(kind: str, name: str, namespace: str = "default", **fields: Any) -> dict[str, Any]:
    """A manifest; `metadata` among the fields adds to its name and namespace."""
    versions = {"ReplicaSet": "apps/v1", "Deployment": "apps/v1", "Job": "batch/v1"}
    placed = {"namespace": namespace} if namespace else {}
    meta = {"name": name, **placed, **fields.pop("metadata", {})}
    return {"apiVersion": versions.get(kind, "v1"), "kind": kind, "metadata": meta, **fields}


def delete(sim: Simulation, kind: str, name: str, namespace: str = "default", **options: Any) -> None:
    sim.apply(DeleteObjects((Ref(kind, namespace, name),), **options))


def patch(sim: Simulation, kind: str, name: str, change: Manifest, namespace: str = "default") -> None:
    sim.apply(PatchObject(Ref(kind, namespace, name), change))


def meta_of(sim: Simulation, kind: str, name: str, namespace: str = "default") -> Manifest | None:
    """The metadata of an object; None where it is not there."""
    manifest = sim.store.get(kind, namespace, name)
    return None if manifest is None else manifest["metadata"]


def silent(*objects: Manifest, controllers: Sequence[str], kubelets: bool = False, **settings: Any) -> Simulation:
    """As `cluster`, without a scheduler, and with kubelets that do nothing: the test writes what they would."""
    sim = cluster(controllers=controllers, **settings)
    sim.change(lambda: sim.stop_scheduler(DEFAULT_SCHEDULER_NAME))
    for manifest in objects:
        sim.apply(ApplyObjects((manifest,)))
        if manifest["kind"] == "Node" and not kubelets:
            sim.apply(SetKubelet(manifest["metadata"]["name"], False))
    return sim


def set_status(sim: Simulation, kind: str, name: str, namespace: str = "default", **fields: Any) -> None:
    """Writes fields of a status as a component would."""
    sim.change(lambda: (sim.api.patch_status((kind, namespace, name), fields), None)[1])


def messages(sim: Simulation, reason: str) -> list[str]:
    """The texts of all Events of a reason."""
    return [event.message for event in sim.store.events if event.reason == reason]
