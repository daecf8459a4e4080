"""What the binder writes: a binding, on both sides; phases; Events.

A binding is four writes: the volume's claimRef, its phase, the claim's volumeName with its marks, the claim's status.

kube: pkg/controller/volume/persistentvolume/pv_controller.go (bind, unbindVolume, updateClaimStatus) @ v1.34.1
"""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.storage.volumes import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    CLAIM,
    VOLUME,
    annotation,
    attributes_class,
    bind_volume_to_claim,
    name_of,
    phase,
    volume_name,
    with_annotation,
)
from scheduler_core.apiserver.kube_events import KubeEvent
from scheduler_core.apiserver.rewriting import with_section
from scheduler_core.controllers.contract import World

COMPONENT = "persistentvolume-controller"


def bind(world: World, volume: Manifest, claim: Manifest) -> bool:
    """Binds both to each other; whether anything was left to write."""
    reserved = bind_volume_to_claim(volume, claim)
    bound = world.api.update(reserved) if reserved is not volume else volume
    bound = set_phase(world, bound, "Bound")
    marked = _mark_bound(claim, name_of(volume))
    taken = world.api.update(marked) if marked is not claim else claim
    return set_claim_status(world, taken, "Bound", bound) is not claim or bound is not volume


def _mark_bound(claim: Manifest, volume: str) -> Manifest:
    if volume_name(claim) != volume:
        claim = with_section(claim, "spec", {"volumeName": volume})
        if annotation(claim, BOUND_BY_CONTROLLER) is None:
            claim = with_annotation(claim, BOUND_BY_CONTROLLER, "yes")
    if annotation(claim, BIND_COMPLETED) is None:
        claim = with_annotation(claim, BIND_COMPLETED, "yes")
    return claim


def unbind(world: World, volume: Manifest) -> None:
    """Takes a binding back; a volume that a user meant for a claim stays meant for it."""
    spec = dict(volume.get("spec") or {})
    meta = dict(volume["metadata"])
    if annotation(volume, BOUND_BY_CONTROLLER) is not None:
        del spec["claimRef"]
        marks = {k: v for k, v in (meta.get("annotations") or {}).items() if k != BOUND_BY_CONTROLLER}
        meta["annotations"] = marks
    else:
        spec["claimRef"] = {k: v for k, v in spec["claimRef"].items() if k != "uid"}
    set_phase(world, world.api.update({**volume, "metadata": meta, "spec": spec}), "Available")


def set_phase(world: World, volume: Manifest, to: str, message: str = "") -> Manifest:
    """A volume in a phase; written where it is in another."""
    if phase(volume) == to:
        return volume
    status = {**(volume.get("status") or {}), "phase": to, "message": message or None}
    return world.api.patch_status((VOLUME, "", name_of(volume)), status)


def set_claim_status(world: World, claim: Manifest, to: str, volume: Manifest | None = None) -> Manifest:
    """A claim in a phase, with what its volume offers; written where it says something else."""
    old = claim.get("status") or {}
    status: dict[str, Any] = {**old, "phase": to}
    if volume is None:
        status |= dict.fromkeys(("accessModes", "capacity", "currentVolumeAttributesClassName"))
    else:
        spec = volume.get("spec") or {}
        status["accessModes"] = list(spec.get("accessModes") or ())
        if old.get("phase") != to:
            status["capacity"] = dict(spec.get("capacity") or {})
        if old.get("phase") == "Pending" and attributes_class(volume):
            status["currentVolumeAttributesClassName"] = attributes_class(volume)
    return world.api.patch_status((CLAIM, *_place(claim)), status)


def say(world: World, about: Manifest, type_: str, reason: str, message: str) -> None:
    """Records an Event about a claim or a volume, where it was not the last one said of it."""
    said, kind = world.surroundings.volumes.said, str(about["kind"])
    namespace, name = _place(about)
    key, text = f"{kind}/{namespace}/{name}", f"{reason}: {message}"
    if said.get(key) != text:
        said[key] = text
        world.store.record(KubeEvent(world.now, type_, reason, kind, namespace, name, message, COMPONENT))


def forget(world: World, kind: str, namespace: str, name: str) -> None:
    """Forgets what was said of an object that is gone."""
    world.surroundings.volumes.said.pop(f"{kind}/{namespace}/{name}", None)


def _place(manifest: Manifest) -> tuple[str, str]:
    return str(manifest["metadata"].get("namespace") or ""), name_of(manifest)
