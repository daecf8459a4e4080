"""Hints of the volume plugins.

kube: plugins/{volumebinding/volume_binding,volumerestrictions/volume_restrictions,volumezone/volume_zone,nodevolumelimits/csi}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduler_core.objects.pod import Pod
from scheduler_core.objects.quantity import nanos
from scheduler_core.objects.storage.csi_migration import MIGRATED_PLUGINS, handle_of, in_tree_plugin
from scheduler_core.objects.storage.volumes import (
    WAIT_FOR_FIRST_CONSUMER,
    Manifest,
    annotation,
    name_of,
    volumes_of,
)
from scheduler_core.plugins.hints.nodes import was_placed


def _uses(pod: Pod, claim: Manifest, ephemeral: bool) -> bool:
    """Whether a volume of the pod is this claim; `ephemeral`: those made for the pod count."""
    if (claim["metadata"].get("namespace") or "") != pod.namespace:
        return False
    uses = volumes_of(pod.spec).claims
    return any(use.name(pod) == name_of(claim) for use in uses if ephemeral or not use.ephemeral)


def after_claim_change(plugin: Any, pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Of VolumeBinding and NodeVolumeLimits: a claim of the pod was made or changed."""
    return _uses(pod, new, ephemeral=True)


def after_named_claim_change(plugin: Any, pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Of VolumeRestrictions and VolumeZone: a claim that the pod names was made or changed."""
    return _uses(pod, new, ephemeral=False)


# VolumeBinding


def after_class_change(plugin: Any, pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """kube: isSchedulableAfterStorageClassChange"""
    return old is None or (old.get("allowedTopologies") or []) != (new.get("allowedTopologies") or [])


def after_csi_node_migration(plugin: Any, pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """kube: isSchedulableAfterCSINodeChange"""
    if old is None:
        return True
    return (annotation(old, MIGRATED_PLUGINS) or "") != (annotation(new, MIGRATED_PLUGINS) or "")


def after_driver_change(plugin: Any, pod: Pod, old: Manifest, new: Manifest) -> bool:
    """A driver of an inline volume of the pod no longer says how much it has. kube: isSchedulableAfterCSIDriverChange"""
    inline = [volume["csi"] for volume in pod.spec.volumes if volume.get("csi")]
    if not any(source.get("driver") == name_of(new) for source in inline):
        return False
    return _tells_capacity(old) and not _tells_capacity(new)


def _tells_capacity(driver: Manifest) -> bool:
    return bool((driver.get("spec") or {}).get("storageCapacity"))


def after_capacity_change(plugin: Any, pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """kube: isSchedulableAfterCSIStorageCapacityChange"""
    if old is None:
        return True
    before, after = _limit(old), _limit(new)
    return after is not None and (before is None or after > before)


def _limit(capacity: Manifest) -> int | None:
    """In whole bytes, rounded up."""
    found = capacity.get("maximumVolumeSize")
    if found is None:
        found = capacity.get("capacity")
    return None if found is None else -(-nanos(found) // 10**9)


# VolumeRestrictions


def after_disk_freed(conflicts: Callable[[Sequence[Manifest], Sequence[Pod]], bool]) -> Callable[..., bool]:
    """Of VolumeRestrictions, which knows when two disks clash. kube: isSchedulableAfterPodDeleted"""

    def after_pod_with_disk_deleted(plugin: Any, pod: Pod, old: Pod, new: None) -> bool:
        if old.namespace != pod.namespace:
            return False
        if conflicts(volumes_of(pod.spec).disks, (old,)):
            return True
        mine = {use.claim for use in volumes_of(pod.spec).claims if not use.ephemeral}
        return any(use.claim in mine for use in volumes_of(old.spec).claims if not use.ephemeral)

    return after_pod_with_disk_deleted


# VolumeZone


def after_waiting_class_added(plugin: Any, pod: Pod, old: None, new: Manifest) -> bool:
    """kube: isSchedulableAfterStorageClassAdded"""
    return bool(new.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER)


def after_volume_topology_change(
    topologies: Callable[[Manifest], object],
) -> Callable[..., bool]:
    """Of VolumeZone, which reads a volume's zones. kube: isSchedulableAfterPersistentVolumeChange"""

    def after_volume_change(plugin: Any, pod: Pod, old: Manifest | None, new: Manifest) -> bool:
        return old is None or topologies(old) != topologies(new)

    return after_volume_change


# NodeVolumeLimits


def after_limits_change(plugin: Any, pod: Pod, old: Manifest, new: Manifest) -> bool:
    """kube: isSchedulableAfterCSINodeUpdated"""
    before = _limits(old)
    return any(limit > before.get(name, 0) for name, limit in _limits(new).items())


def _limits(csi_node: Manifest) -> Mapping[str, int]:
    drivers = (csi_node.get("spec") or {}).get("drivers") or ()
    return {d.get("name") or "": int((d.get("allocatable") or {}).get("count") or 0) for d in drivers}


def after_pod_with_volumes_deleted(plugin: Any, pod: Pod, old: Pod, new: None) -> bool:
    """kube: isSchedulableAfterPodDeleted"""
    volumes = volumes_of(old.spec)
    return was_placed(old) and bool(volumes.claims or volumes.in_tree)


def after_attachment_deleted(plugin: Any, pod: Pod, old: Manifest, new: None) -> bool:
    """kube: isSchedulableAfterVolumeAttachmentDeleted"""
    attacher = (old.get("spec") or {}).get("attacher")
    for volume in pod.spec.volumes:
        if volume.get("persistentVolumeClaim") is not None:
            return True
        in_tree = in_tree_plugin(volume)
        if in_tree is None:
            continue
        try:
            handle_of(in_tree, volume[in_tree.source], {})
        except ValueError:
            return True
        if in_tree.driver == attacher:
            return True
    return False
