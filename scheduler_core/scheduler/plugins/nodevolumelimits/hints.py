"""Which events may help a pod that NodeVolumeLimits refused; helper/hints.py has the one about claims.

kube: plugins/nodevolumelimits/csi.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.storage.csi_migration import handle_of, in_tree_plugin
from scheduler_core.apimachinery.objects.storage.volumes import volumes_of
from scheduler_core.scheduler.plugins.helper.hints import was_placed


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
