"""Queueing hints of several plugins, and their helpers.

A hint is called as `hint(plugin, waiting pod, old object, new object)`; `plugin` is the one that rejected the pod, with its arguments and
listers. If kube's hint fails with an error, the answer is True, as the queue treats an error. Moves in the queue are recorded with the
name of their hint.
"""

from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apimachinery.objects.storage.volumes import name_of, volumes_of


def was_placed(pod: Pod) -> bool:
    """Return whether a deleted pod had a node or a nominated node."""
    return bool(pod.node_name or pod.nominated_node_name)


def after_own_change(plugin: Any, pod: Pod, old: Pod, new: Pod) -> bool:
    """Return whether the changed pod is the waiting pod itself. kube: isSchedulableAfterPodTolerationChange and others"""
    return new.uid == pod.uid


def after_claim_change(plugin: Any, pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Return whether the claim is the pod's. kube: isSchedulableAfterPersistentVolumeClaimChange of VolumeBinding, NodeVolumeLimits"""
    return _uses(pod, new, ephemeral=True)


def after_named_claim_change(plugin: Any, pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Return whether the pod names the new or changed claim. kube: the same of VolumeRestrictions, VolumeZone"""
    return _uses(pod, new, ephemeral=False)


def _uses(pod: Pod, claim: Manifest, ephemeral: bool) -> bool:
    """Return whether a volume of the pod uses this claim; `ephemeral`: include claims made for the pod."""
    if (claim["metadata"].get("namespace") or "") != pod.namespace:
        return False
    uses = volumes_of(pod.spec).claims
    return any(use.name(pod) == name_of(claim) for use in uses if ephemeral or not use.ephemeral)
