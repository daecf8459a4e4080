"""Queueing hints: which events may help a pod that DynamicResources rejected.

kube: plugins/dynamicresources/dynamicresources.go (isSchedulableAfterClaimChange, isSchedulableAfterPodChange) @ v1.34.1
"""

from typing import Any

from scheduler_core.apimachinery.dra.claims import ClaimError
from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.scheduler.plugins.dynamicresources.pod_claims import allocation_of, pod_claims, problem, uid_of


def after_claim_change(plugin: Any, pod: Pod, old: Manifest | None, new: Manifest | None) -> bool:
    """Return whether a claim of the pod was created or changed its status, or any claim was deallocated (its devices may be free)."""
    if new is None:
        return old is not None and allocation_of(old) is not None
    try:
        used = [uid_of(claim) for claim in pod_claims(plugin.handle.claims, pod)]
    except ClaimError:
        return False
    if old is not None and allocation_of(old) is not None and allocation_of(new) is None:
        return True
    if uid_of(new) not in used:
        return False
    return old is None or (old.get("status") or {}) != (new.get("status") or {})


def after_pod_change(plugin: Any, pod: Pod, old: Pod | None, new: Pod) -> bool:
    """Return whether the pod itself was updated and can use all its claims now."""
    return pod.uid == new.uid and not problem(plugin.handle.claims, new)
