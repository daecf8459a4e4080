"""The claims of a StatefulSet's pods: created from templates, and owned according to the retention policy.

kube: pkg/controller/statefulset/{stateful_pod_control,stateful_set_utils}.go @ v1.34.1
"""

from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Pod, controller_reference
from scheduler_core.apiserver import NORMAL, WARNING, Answer, Refused
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.workloads.owners import Owner
from scheduler_core.controllers.workloads.pods import Work
from scheduler_core.controllers.workloads.statefulsets.identity import claim_name, claim_templates, ordinal_of, ordinals

_KIND = "PersistentVolumeClaim"
CONFLICT = "ConflictingController"


def create_claims(work: Work, name: str, ordinal: int) -> None:
    """Create the missing claims of a pod. Raise Refused if one cannot be created or is being deleted."""
    world, owner = work.world, work.owner
    for template in claim_templates(owner):
        claim = claim_name(owner, template, ordinal)
        there = world.store.get(_KIND, owner.namespace, claim)
        if there is None:
            meta = template["metadata"]
            matched = (owner.spec.get("selector") or {}).get("matchLabels") or {}
            manifest = {
                **template,
                "apiVersion": "v1",
                "kind": _KIND,
                "metadata": {
                    **meta,
                    "name": claim,
                    "namespace": owner.namespace,
                    "labels": {**(meta.get("labels") or {}), **matched},
                },
            }
            try:
                world.api.create(manifest)
            except Refused as refused:
                why = refused.answer.message
                text = f"create Claim {claim} for Pod {name} in StatefulSet {owner.name} failed error: {why}"
                work.event(WARNING, "FailedCreate", text)
                raise
            work.event(
                NORMAL, "SuccessfulCreate", f"create Claim {claim} Pod {name} in StatefulSet {owner.name} success"
            )
        elif there["metadata"].get("deletionTimestamp"):
            raise Refused.because(Answer("Conflict", f"pvc {claim} is being deleted"))


def is_stale(world: World, owner: Owner, name: str, ordinal: int) -> bool:
    """Return whether a claim of a pod to be created still belongs to a former pod of the same name."""
    if not _deletes_claims(owner, "whenScaled"):
        return False
    return any(
        ref.get("kind") == "Pod" and ref.get("name") == name
        for claim in _claims(world, owner, ordinal)
        for ref in _references(claim)
    )


def has_retention_applied(world: World, owner: Owner, pod: Pod) -> bool:
    """Return whether the owners of a pod's claims match the retention policy."""
    return all(_is_up_to_date(owner, pod, claim) for claim in _claims(world, owner, ordinal_of(pod)))


def retain(work: Work, pod: Pod) -> None:
    """Set the owners of a pod's claims according to the retention policy."""
    world, owner = work.world, work.owner
    for claim in _claims(world, owner, ordinal_of(pod)):
        name = claim["metadata"]["name"]
        if _has_other_controller(owner, pod, claim):
            text = (  # "manging" is kube's spelling
                f"PersistentVolumeClaim {name} has a conflicting OwnerReference that acts as a manging controller, "
                "the retention policy is ignored for this claim"
            )
            work.event(WARNING, CONFLICT, text)
        if not _is_up_to_date(owner, pod, claim):
            refs = _build_references(owner, pod, claim)
            patch = {"metadata": {"ownerReferences": refs or None}}
            world.api.patch((_KIND, owner.namespace, name), patch)


def _claims(world: World, owner: Owner, ordinal: int) -> list[Manifest]:
    found = (
        world.store.get(_KIND, owner.namespace, claim_name(owner, template, ordinal))
        for template in claim_templates(owner)
    )
    return [claim for claim in found if claim is not None]


def _references(claim: Manifest) -> list[Manifest]:
    return list(claim["metadata"].get("ownerReferences") or ())


def _deletes_claims(owner: Owner, when: str) -> bool:
    """Return whether the policy deletes claims in a case: whenScaled or whenDeleted."""
    policy = owner.spec.get("persistentVolumeClaimRetentionPolicy") or {}
    return bool(policy.get(when) == "Delete")


def _pod_reference(pod: Pod) -> dict[str, Any]:
    return controller_reference("v1", "Pod", pod.name, pod.uid)


def _names(ref: Manifest, other: Manifest) -> bool:
    return all(ref.get(field) == other[field] for field in ("apiVersion", "kind", "name"))


def _has_other_controller(owner: Owner, pod: Pod, claim: Manifest) -> bool:
    if not _deletes_claims(owner, "whenScaled") and not _deletes_claims(owner, "whenDeleted"):
        return False
    for ref in _references(claim):
        own = next((one for one in (owner.reference(), _pod_reference(pod)) if _names(ref, one)), None)
        if own is not None and ref.get("uid") != own["uid"]:
            return True
        if own is None and ref.get("controller"):
            return True
    return False


def _is_up_to_date(owner: Owner, pod: Pod, claim: Manifest) -> bool:
    """Return whether a claim's owners match the retention policy. kube: isClaimOwnerUpToDate"""
    refs = _references(claim)
    own = (owner.reference(), _pod_reference(pod))
    if any(_names(ref, one) and ref.get("uid") != one["uid"] for ref in refs for one in own):
        return True  # a former owner of the name: the claim is deleted with it
    mine = [ref for ref in refs if ref.get("uid") in (owner.uid, pod.uid)]
    if _has_other_controller(owner, pod, claim):
        return not mine
    if any(not ref.get("controller") for ref in mine):
        return False
    owned = {ref.get("uid") for ref in mine}
    return owned == {ref["uid"] for ref in _policy_references(owner, pod)}


def _policy_references(owner: Owner, pod: Pod) -> list[dict[str, Any]]:
    beyond = ordinal_of(pod) not in ordinals(owner)
    if beyond and _deletes_claims(owner, "whenScaled"):
        return [_pod_reference(pod)]
    return [owner.reference()] if _deletes_claims(owner, "whenDeleted") else []


def _build_references(owner: Owner, pod: Pod, claim: Manifest) -> list[Manifest]:
    own = (owner.reference(), _pod_reference(pod))
    kept = [ref for ref in _references(claim) if not any(_names(ref, one) for one in own)]
    if _has_other_controller(owner, pod, claim):
        return kept
    return [*kept, *_policy_references(owner, pod)]
