"""The binder's sync of one volume: its claim, and its reclaim policy when the claim no longer exists.

DEVIATION: a volume is recycled at once, without a pod that empties it.

kube: pkg/controller/volume/persistentvolume/pv_controller.go (syncVolume, reclaimVolume) @ v1.34.1
"""

import re
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.storage import volumes
from scheduler_core.apiserver import NORMAL, WARNING, KubeEvent, with_section
from scheduler_core.controllers.contract import World

# The binder's writes: a binding, on both sides; phases; Events.
#
# A binding is four writes: the volume's claimRef, its phase, the claim's volumeName with its marks, the claim's status.
# kube: pkg/controller/volume/persistentvolume/pv_controller.go (bind, unbindVolume, updateClaimStatus) @ v1.34.1

COMPONENT = "persistentvolume-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"


def bind(world: World, volume: Manifest, claim: Manifest) -> bool:
    """Bind a volume and a claim to each other. Return whether anything was written."""
    reserved = volumes.bind_volume_to_claim(volume, claim)
    bound = world.api.update(reserved) if reserved is not volume else volume
    bound = set_phase(world, bound, "Bound")
    marked = _mark_bound(claim, volumes.name_of(volume))
    taken = world.api.update(marked) if marked is not claim else claim
    return set_claim_status(world, taken, "Bound", bound) is not claim or bound is not volume


def _mark_bound(claim: Manifest, volume: str) -> Manifest:
    if volumes.volume_name(claim) != volume:
        claim = with_section(claim, "spec", {"volumeName": volume})
        if volumes.annotation(claim, volumes.BOUND_BY_CONTROLLER) is None:
            claim = volumes.with_annotation(claim, volumes.BOUND_BY_CONTROLLER, "yes")
    if volumes.annotation(claim, volumes.BIND_COMPLETED) is None:
        claim = volumes.with_annotation(claim, volumes.BIND_COMPLETED, "yes")
    return claim


def unbind(world: World, volume: Manifest) -> None:
    """Undo a binding. A volume that a user reserved for a claim stays reserved."""
    spec = dict(volume.get("spec") or {})
    meta = dict(volume["metadata"])
    if volumes.annotation(volume, volumes.BOUND_BY_CONTROLLER) is not None:
        del spec["claimRef"]
        marks = {k: v for k, v in (meta.get("annotations") or {}).items() if k != volumes.BOUND_BY_CONTROLLER}
        meta["annotations"] = marks
    else:
        spec["claimRef"] = {k: v for k, v in spec["claimRef"].items() if k != "uid"}
    set_phase(world, world.api.update({**volume, "metadata": meta, "spec": spec}), "Available")


def set_phase(world: World, volume: Manifest, to: str, message: str = "") -> Manifest:
    """Set a volume's phase if it differs. Return the volume."""
    if volumes.phase(volume) == to:
        return volume
    status = {**(volume.get("status") or {}), "phase": to, "message": message or None}
    return world.api.patch_status((volumes.VOLUME, "", volumes.name_of(volume)), status)


def set_claim_status(world: World, claim: Manifest, to: str, volume: Manifest | None = None) -> Manifest:
    """Set a claim's phase, and its volume's access modes and capacity, if they differ. Return the claim."""
    old = claim.get("status") or {}
    status: dict[str, Any] = {**old, "phase": to}
    if volume is None:
        status |= dict.fromkeys(("accessModes", "capacity", "currentVolumeAttributesClassName"))
    else:
        spec = volume.get("spec") or {}
        status["accessModes"] = list(spec.get("accessModes") or ())
        if old.get("phase") != to:
            status["capacity"] = dict(spec.get("capacity") or {})
        if old.get("phase") == "Pending" and volumes.attributes_class(volume):
            status["currentVolumeAttributesClassName"] = volumes.attributes_class(volume)
    return world.api.patch_status((volumes.CLAIM, *_place(claim)), status)


def say(world: World, about: Manifest, type_: str, reason: str, message: str) -> None:
    """Record an Event about a claim or a volume, unless it repeats the last one."""
    said, kind = world.surroundings.volumes.said, str(about["kind"])
    namespace, name = _place(about)
    key, text = f"{kind}/{namespace}/{name}", f"{reason}: {message}"
    if said.get(key) != text:
        said[key] = text
        world.store.record(KubeEvent(world.now, type_, reason, kind, namespace, name, message, COMPONENT))


def forget(world: World, kind: str, namespace: str, name: str) -> None:
    """Forget the last Event about a deleted object."""
    world.surroundings.volumes.said.pop(f"{kind}/{namespace}/{name}", None)


def _place(manifest: Manifest) -> tuple[str, str]:
    return str(manifest["metadata"].get("namespace") or ""), volumes.name_of(manifest)


_NO_DELETER = "no volume plugin matched"
_RECYCLABLE = ("hostPath", "nfs")
_DELETED_ON_HOST = re.compile(r"/tmp/.+")  # noqa: S108 - kube's rule, no file of ours


def policy_of(volume: Manifest) -> str:
    """Return the reclaim policy of a volume: Retain, Delete or Recycle."""
    return str((volume.get("spec") or {}).get("persistentVolumeReclaimPolicy") or "Retain")


def sync(world: World, volume: Manifest) -> tuple[str, str]:
    """Reconcile a volume. Return a description, and the key of a claim to reconcile next or ""."""
    ref, name = volumes.claim_ref(volume), volumes.name_of(volume)
    if ref is None or not ref.get("uid"):
        done = set_phase(world, volume, "Available") is not volume
        return (f"{name} is available" if done else ""), ""
    claim = world.store.get(volumes.CLAIM, str(ref.get("namespace") or ""), str(ref.get("name") or ""))
    if claim is None or claim["metadata"].get("uid") != ref["uid"]:
        return _release(world, volume, "its claim no longer exists"), ""
    if not volumes.volume_name(claim):
        # The volume refers to a claim without volumeName: reconcile the claim next.
        namespace, name = str(claim["metadata"].get("namespace") or ""), volumes.name_of(claim)
        if volumes.volume_mode(volume) == volumes.volume_mode(claim):
            return "", f"{namespace}/{name}"
        to_volume = (
            f'Cannot bind PersistentVolume to requested PersistentVolumeClaim "{name}" due to incompatible volumeMode.'
        )
        to_claim = (
            f'Cannot bind PersistentVolume "{volumes.name_of(volume)}" to requested PersistentVolumeClaim '
            "due to incompatible volumeMode."
        )
        say(world, volume, WARNING, "VolumeMismatch", to_volume)
        say(world, claim, WARNING, "VolumeMismatch", to_claim)
        return f"left {volumes.name_of(volume)}: its volumeMode is not that of {namespace}/{name}", ""
    if volumes.volume_name(claim) == name:
        done = set_phase(world, volume, "Bound") is not volume
        return (f"{name} is bound" if done else ""), ""
    if volumes.annotation(volume, PROVISIONED_BY) is not None and policy_of(volume) == "Delete":
        return _release(world, volume, f"its claim is bound to {volumes.volume_name(claim)}"), ""
    unbind(world, volume)
    return f"released {name} from its claim, which is bound to {volumes.volume_name(claim)}", ""


def _release(world: World, volume: Manifest, why: str) -> str:
    first = volumes.phase(volume) not in ("Released", "Failed")
    if first:
        volume = set_phase(world, volume, "Released")
    done = _reclaim(world, volume)
    said = f"released {volumes.name_of(volume)}: {why}" if first else ""
    return "; ".join(text for text in (said, done) if text)


def _reclaim(world: World, volume: Manifest) -> str:
    policy = policy_of(volume)
    if policy == "Retain":
        return "its reclaim policy retains it"
    if policy == "Recycle":
        ref = volumes.claim_ref(volume) or {}
        key = f"{ref.get('namespace') or ''}/{ref.get('name') or ''}"
        users = [p.key for p in world.surroundings.volumes.users.of(world.store, key) if not p.terminal]
        if users and world.store.get(volumes.CLAIM, *key.split("/", 1)) is None:
            text = f"Volume is used by pods: {','.join(users)}"
            say(world, volume, NORMAL, "VolumeFailedRecycle", text)
            return f"not recycled: {text}"
        if not any(source in (volume.get("spec") or {}) for source in _RECYCLABLE):
            return _fail(world, volume, "VolumeFailedRecycle", "No recycler plugin found for the volume!")
        say(world, volume, NORMAL, "VolumeRecycled", "Volume recycled")
        unbind(world, volume)
        return f"recycled {volumes.name_of(volume)}"
    if policy == "Delete":
        return _delete(world, volume)
    return _fail(world, volume, "VolumeUnknownReclaimPolicy", "Volume has unrecognized PersistentVolumeReclaimPolicy")


def _delete(world: World, volume: Manifest) -> str:
    """Delete a released volume, unless its driver's provisioner deletes it. Return a description."""
    spec, name = volume.get("spec") or {}, volumes.name_of(volume)
    provisioner = volumes.annotation(volume, PROVISIONED_BY) or ""
    if spec.get("csi") is not None or (provisioner and not provisioner.startswith("kubernetes.io/")):
        return "its provisioner deletes it"
    path = (spec.get("hostPath") or {}).get("path")
    if path is not None and _DELETED_ON_HOST.match(path):
        world.api.delete((volumes.VOLUME, "", name))
        return f"deleted {name}"
    if path is not None:
        why = f"host_path deleter only supports /tmp/.+ but received provided {path}"
    else:
        known = "no deletable volume plugin matched" if spec.get("nfs") is not None else _NO_DELETER
        why = f'error getting deleter volume plugin for volume "{name}": {known}'
    return _fail(world, volume, "VolumeFailedDelete", why)


def _fail(world: World, volume: Manifest, reason: str, message: str) -> str:
    if volumes.phase(volume) != "Failed":
        set_phase(world, volume, "Failed", message)
        say(world, volume, WARNING, reason, message)
    return f"failed: {message}"
