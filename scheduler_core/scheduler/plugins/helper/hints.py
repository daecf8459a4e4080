"""Queueing hints of several plugins, and what they ask.

A hint is called as `hint(plugin, waiting pod, object before, object after)`; the plugin that refused the pod is given, so that its
arguments and listers are at hand. Where kube's hint fails with an error the answer is yes, as the queue treats it. A hint's name is
recorded with the moves that it causes.
"""

from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apimachinery.objects.storage.volumes import name_of, volumes_of


def was_placed(pod: Pod) -> bool:
    """Return whether a deleted pod had a node or a nominated node."""
    return bool(pod.node_name or pod.nominated_node_name)


def after_own_change(plugin: Any, pod: Pod, old: Pod, new: Pod) -> bool:
    """A change of the waiting pod itself, and of no other, may help. kube: isSchedulableAfterPodTolerationChange and others"""
    return new.uid == pod.uid


def after_claim_change(plugin: Any, pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """A claim of the pod was made or changed. kube: isSchedulableAfterPersistentVolumeClaimChange of VolumeBinding, NodeVolumeLimits"""
    return _uses(pod, new, ephemeral=True)


def after_named_claim_change(plugin: Any, pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """A claim that the pod names was made or changed. kube: the same of VolumeRestrictions, VolumeZone"""
    return _uses(pod, new, ephemeral=False)


def _uses(pod: Pod, claim: Manifest, ephemeral: bool) -> bool:
    """Return whether a volume of the pod uses this claim; `ephemeral`: include claims made for the pod."""
    if (claim["metadata"].get("namespace") or "") != pod.namespace:
        return False
    uses = volumes_of(pod.spec).claims
    return any(use.name(pod) == name_of(claim) for use in uses if ephemeral or not use.ephemeral)
