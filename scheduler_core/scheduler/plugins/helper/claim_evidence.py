"""Evidence about a pod's claims: the class and whether it exists, the bound volume, and candidate volumes."""

from itertools import islice
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apimachinery.objects.labels import IN, LabelSelector, NodeSelector, Requirement
from scheduler_core.apimachinery.objects.storage import volumes
from scheduler_core.scheduler.framework import Handle, Reason

# Reasons about a pod's claim that several plugins share.

CLAIM_NOT_FOUND = Reason("ClaimNotFound", volumes.claim_not_found("<claim>"), waits_for_claim=True)

BILLION = 1_000_000_000
SHOWN_VOLUMES = 20
SHOWN_OTHERS = 3


def claims_evidence(handle: Handle, pod: Pod) -> list[dict[str, Any]]:
    """Return the evidence for each claim in the pod's spec, in its order."""
    return [_claim(handle, pod, use.name(pod)) for use in volumes.volumes_of(pod.spec).claims]


def candidates(handle: Handle, claim: Manifest) -> list[Manifest]:
    """Return the claim's bound volume; else the volumes of its class and those reserved for the claim, free volumes first."""
    name = volumes.volume_name(claim)
    if name:
        bound = handle.get(volumes.VOLUME, "", name)
        return [] if bound is None else [bound]
    mine = [
        v
        for v in handle.list(volumes.VOLUME)
        if volumes.class_of(v) == volumes.class_of(claim) or volumes.is_for(v, claim)
    ]
    return sorted(
        mine, key=lambda v: (volumes.claim_ref(v) is not None and not volumes.is_for(v, claim), volumes.name_of(v))
    )


def _claim(handle: Handle, pod: Pod, name: str) -> dict[str, Any]:
    claim = handle.get(volumes.CLAIM, pod.namespace, name)
    if claim is None:
        return {"claim": f"{pod.namespace}/{name}", "exists": False}
    of_class = volumes.class_of(claim)
    storage_class = handle.get("StorageClass", "", of_class) if of_class else None
    found = candidates(handle, claim)
    return {
        "claim": f"{pod.namespace}/{name}",
        "exists": True,
        "phase": volumes.phase(claim) or "Pending",
        "requested": volumes.get_requested_storage(claim) // BILLION,
        "accessModes": list(volumes.access_modes(claim)),
        "volumeMode": volumes.volume_mode(claim),
        "deleting": volumes.deleting(claim),
        "selector": ", ".join(map(_format_requirement, _selector(claim).requirements)),
        "class": of_class,
        "namesClass": (claim.get("spec") or {}).get("storageClassName") is not None,
        "classExists": storage_class is not None,
        "bindingMode": str((storage_class or {}).get("volumeBindingMode") or ""),
        "provisioner": str((storage_class or {}).get("provisioner") or ""),
        "capacities": sum(each.get("storageClassName") == of_class for each in handle.list("CSIStorageCapacity")),
        "volume": volumes.volume_name(claim),
        "bound": volumes.fully_bound(claim),
        "candidates": [_volume(volume, claim, handle) for volume in found[:SHOWN_VOLUMES]],
        "candidateCount": len(found),
        "ofOtherClasses": _of_other_classes(handle, claim),
    }


def _of_other_classes(handle: Handle, claim: Manifest) -> list[dict[str, str]]:
    """Return free volumes that the claim can't bind because their class differs."""
    if volumes.volume_name(claim):
        return []
    free = (
        v
        for v in handle.list(volumes.VOLUME)
        if volumes.claim_ref(v) is None and volumes.class_of(v) != volumes.class_of(claim)
    )
    return [{"volume": volumes.name_of(v), "class": volumes.class_of(v)} for v in islice(free, SHOWN_OTHERS)]


def is_held(volume: Manifest, claim: Manifest, handle: Handle) -> bool:
    """Return whether another existing claim holds the volume."""
    ref = volumes.claim_ref(volume)
    if ref is None or volumes.is_for(volume, claim):
        return False
    other = handle.get(volumes.CLAIM, str(ref.get("namespace") or ""), str(ref.get("name") or ""))
    # A claimRef without a uid binds to any claim of the name; another uid belongs to a former claim of this name.
    return other is not None and ref.get("uid") in (None, "", other["metadata"].get("uid"))


def _volume(volume: Manifest, claim: Manifest, handle: Handle) -> dict[str, Any]:
    ref = volumes.claim_ref(volume)
    other = ref is not None and not volumes.is_for(volume, claim)
    return {
        "volume": volumes.name_of(volume),
        "capacity": volumes.capacity(volume) // BILLION,
        "accessModes": list(volumes.access_modes(volume)),
        "volumeMode": volumes.volume_mode(volume),
        "phase": volumes.phase(volume) or "Available",
        "selected": _selector(claim).matches(volume["metadata"].get("labels") or {}),
        "class": volumes.class_of(volume),
        "affinity": affinity_text(volume),
        "held": is_held(volume, claim, handle),
        "claimedBy": f"{ref.get('namespace', '')}/{ref.get('name', '')}" if ref is not None and other else "",
    }


def _selector(claim: Manifest) -> LabelSelector:
    """Return the claim's label selector for volumes; a claim without one selects all volumes."""
    return LabelSelector.of((claim.get("spec") or {}).get("selector") or {})


def _format_requirement(requirement: Requirement) -> str:
    """Return the requirement as a key=value label if possible."""
    if requirement.op == IN and len(requirement.values) == 1:
        return f"{requirement.key}={requirement.values[0]}"
    return str(requirement)


def affinity_text(volume: Manifest) -> str:
    """Return the volume's required node affinity as text; "" if every node may use the volume."""
    required = ((volume.get("spec") or {}).get("nodeAffinity") or {}).get("required")
    if required is None:
        return ""
    terms = NodeSelector.of(required).terms
    return " or ".join(", ".join(map(str, (*term.expressions, *term.fields))) for term in terms)
