"""Devices of a pod are made ready on its node before its containers start: what keeps the kubelet from it.

DEVIATION: there are no drivers here; preparing a device takes no time, and never fails. The Event is recorded once, though kube tries again
with a pause that grows.

kube: pkg/kubelet/cm/dra/manager.go (prepareResources), pkg/kubelet/kuberuntime/kuberuntime_manager.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.dra.claims import KIND as DEVICE_CLAIM
from scheduler_core.apimachinery.dra.claims import ClaimError, check_owner, claim_name
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.kube_events import WARNING, KubeEvent
from scheduler_core.controllers.contract import World

FAILED = "FailedPrepareDynamicResources"


def find_prepare_error(world: World, pod: Pod) -> str:
    """Return the error of the first of a pod's claims that can't be prepared, in kube's words; "" if all can."""
    for entry in _claims(world, pod):
        try:
            name, own = claim_name(pod, entry)
            if name is None:
                continue
            claim = world.store.get(DEVICE_CLAIM, pod.namespace, name)
            if claim is None:
                missing = f'resourceclaims.resource.k8s.io "{name}" not found'
                return f"prepare dynamic resources: fetch ResourceClaim {name}: {missing}"
            if own:
                check_owner(pod, claim)
        except ClaimError as problem:
            return f"prepare dynamic resources: {problem}"
        status = claim.get("status") or {}
        if all(ref.get("uid") != pod.uid for ref in status.get("reservedFor") or ()):
            uid = claim["metadata"].get("uid")
            why = f"pod {pod.name} ({pod.uid}) is not allowed to use ResourceClaim {name} ({uid})"
            return f"prepare dynamic resources: {why}"
        if status.get("allocation") is None:
            return f"prepare dynamic resources: ResourceClaim {name}: not allocated"
    return ""


def _claims(world: World, pod: Pod) -> list[Mapping[str, Any]]:
    """The pod's claims, and the one for its extended resources."""
    claims = list(pod.spec.resource_claims)
    extended = (pod.manifest.get("status") or {}).get("extendedResourceClaimStatus")
    if world.settings.dra_extended_resource and extended is not None:
        claims.append({"resourceClaimName": extended.get("resourceClaimName") or ""})
    return claims


def report(world: World, pod: Pod, problem: str, component: str) -> None:
    """Records that a pod's devices can't be made ready."""
    if problem.startswith("prepare dynamic resources"):
        text = f"Failed to prepare dynamic resources: {problem}"
        world.store.record(KubeEvent(world.now, WARNING, FAILED, "Pod", pod.namespace, pod.name, text, component))
