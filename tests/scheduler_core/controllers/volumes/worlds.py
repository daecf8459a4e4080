"""Claims and volumes to test with, as short as in kube's own tables."""

from __future__ import annotations

from typing import Any

from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.clusters import cluster
from tests.support.storage import make_claim, make_volume

BINDER = "persistentvolume-binder-controller"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"


def volume(
    name: str, size: str = "1Gi", uid: str = "", claim: str = "", phase: str = "Available", *marks: str, **spec: Any
) -> dict[str, Any]:
    """A volume without a class; with `claim` it is meant for that one, with `uid` too it is bound to it."""
    manifest = make_volume(name, "", size, **{"hostPath": {"path": "/data"}, **spec})
    if claim:
        ref = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": claim}
        manifest["spec"]["claimRef"] = {**ref, "uid": uid} if uid else ref
    annotations = {mark: "csi.x" if mark == PROVISIONED_BY else "yes" for mark in marks}
    manifest["metadata"] |= {"annotations": annotations, "finalizers": ["kubernetes.io/pv-protection"]}
    manifest["status"] = {"phase": phase}
    return manifest


def claim(name: str = "c", size: str = "1Gi", volume: str = "", phase: str = "Pending", **spec: Any) -> dict[str, Any]:
    """A claim with the class ""; its uid is "uid-NAME"."""
    bound = spec.pop("bound", bool(volume))
    manifest = make_claim(name, spec.pop("storageClassName", ""), size, volume, **spec)
    if not bound:
        manifest["metadata"]["annotations"] = {}
    manifest["metadata"]["finalizers"] = ["kubernetes.io/pvc-protection"]
    manifest["status"] = {"phase": phase}
    return manifest


def binding(*objects: dict[str, Any], others: tuple[str, ...] = (), **settings: Any) -> Simulation:
    """A world in which the binder runs."""
    return cluster(*objects, controllers=[BINDER, *others], **settings)


def of_claim(sim: Simulation, name: str = "c") -> tuple[str, str]:
    """A claim's phase, and its volume."""
    manifest = sim.store.get("PersistentVolumeClaim", "default", name)
    if manifest is None:
        return "gone", ""
    return manifest["status"]["phase"], manifest["spec"].get("volumeName", "")


def of_volume(sim: Simulation, name: str = "v") -> tuple[str, str]:
    """A volume's phase, and the claim of its reference with its uid."""
    manifest = sim.store.get("PersistentVolume", "", name)
    if manifest is None:
        return "gone", ""
    ref = manifest["spec"].get("claimRef") or {}
    return manifest["status"]["phase"], " ".join(filter(None, (ref.get("name"), ref.get("uid"))))


def reasons(sim: Simulation) -> list[str]:
    """Reasons of the Events that were recorded."""
    return [event.reason for event in sim.store.events]
