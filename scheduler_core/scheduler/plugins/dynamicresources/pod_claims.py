"""The claims of a pod, and the reasons why the pod can't use them.

kube: plugins/dynamicresources/dynamicresources.go (foreachPodResourceClaim) @ v1.34.1
"""

from collections.abc import Iterator
from typing import Any

from scheduler_core.apimachinery.dra.claims import ClaimError, check_owner, claim_name
from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.scheduler.framework.claims import ClaimTracker
from scheduler_core.scheduler.plugins.dynamicresources import reasons


def pod_claims(claims: ClaimTracker, pod: Pod) -> Iterator[Manifest]:
    """Yield the pod's claims in spec order, except entries that need no claim. Raise ClaimError at the first unusable claim."""
    for entry in pod.spec.resource_claims:
        name, own = claim_name(pod, entry)
        if name is None:
            continue
        claim = claims.get(pod.namespace, name)
        if claim is None:
            raise ClaimError(reasons.NOT_FOUND(claim=f"{pod.namespace}/{name}"))
        if claim["metadata"].get("deletionTimestamp"):
            raise ClaimError(reasons.DELETED(claim=name))
        if own:
            check_owner(pod, claim)
        yield claim


def problem(claims: ClaimTracker, pod: Pod) -> str:
    """Return the reason why the pod can't use its claims; "" if the pod can."""
    try:
        for _ in pod_claims(claims, pod):
            pass
    except ClaimError as wrong:
        return str(wrong)
    return ""


def with_status(claim: Manifest, **fields: Any) -> Manifest:
    """Return the claim with changed fields of its status; None removes a field."""
    status = {**(claim.get("status") or {}), **fields}
    return {**claim, "status": {name: value for name, value in status.items() if value is not None}}


def allocation_of(claim: Manifest) -> Manifest | None:
    found: Manifest | None = (claim.get("status") or {}).get("allocation")
    return found


def is_reserved_for(claim: Manifest, pod: Pod) -> bool:
    """Return whether the claim is reserved for the pod. kube: resourceclaim.IsReservedForPod"""
    consumers = (claim.get("status") or {}).get("reservedFor") or ()
    return any(consumer.get("uid") == pod.uid for consumer in consumers)


def uid_of(claim: Manifest) -> str:
    return str(claim["metadata"].get("uid") or "")


def key_of(claim: Manifest) -> str:
    """Return namespace/name, as in kube's messages."""
    metadata = claim["metadata"]
    return f"{metadata.get('namespace') or ''}/{metadata['name']}"
