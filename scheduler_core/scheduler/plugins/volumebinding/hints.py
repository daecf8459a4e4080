"""Which events may help a pod that VolumeBinding refused; helper/hints.py has the one about claims.

kube: plugins/volumebinding/volume_binding.go @ v1.34.1
"""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.quantity import nanos
from scheduler_core.apimachinery.objects.storage.csi_migration import MIGRATED_PLUGINS
from scheduler_core.apimachinery.objects.storage.volumes import annotation, name_of


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
    return _reports_capacity(old) and not _reports_capacity(new)


def _reports_capacity(driver: Manifest) -> bool:
    return bool((driver.get("spec") or {}).get("storageCapacity"))


def after_capacity_change(plugin: Any, pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """kube: isSchedulableAfterCSIStorageCapacityChange"""
    if old is None:
        return True
    before, after = _limit(old), _limit(new)
    return after is not None and (before is None or after > before)


def _limit(capacity: Manifest) -> int | None:
    """Return the limit in whole bytes, rounded up."""
    limit = capacity.get("maximumVolumeSize")
    if limit is None:
        limit = capacity.get("capacity")
    return None if limit is None else -(-nanos(limit) // 10**9)
