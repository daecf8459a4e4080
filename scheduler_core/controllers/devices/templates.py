"""Claims created from a template for one pod: their names and contents.

The controller caches the last 100 created claims for an hour, as kube's does (its mutation cache), and treats them as existing: a claim
that is deleted while its pod waits is created again only after its cache entry has expired.

kube: pkg/controller/resourceclaim/controller.go (handleClaim, findPodResourceClaim, owningPod), client-go/tools/cache/mutation_cache.go @
v1.34.1
"""

from scheduler_core.apimachinery.dra.claims import KIND as CLAIM
from scheduler_core.apimachinery.dra.claims import POD_CLAIM_NAME, ClaimError, claim_name
from scheduler_core.apimachinery.objects import Manifest, Pod, controller_of, controller_reference, is_owned_by
from scheduler_core.apiserver import Refused, Store
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.memory.devices import REMEMBERED, MadeClaim
from scheduler_core.scheduler.config.settings import WorldSettings

TEMPLATE = "ResourceClaimTemplate"
_LONGEST_BASE = 57


class CannotMake(Exception):
    """The reason for a missing claim, in kube's words."""


def claim_for(world: World, pod: Pod, entry: Manifest) -> str | None:
    """Create or find the claim for an entry of the pod's claims. Return its name, or None if there is none to record. Raise CannotMake."""
    template = entry.get("resourceClaimTemplateName")
    if _is_there(world.store, pod, entry) or template is None:
        return None
    name = str(entry.get("name") or "")
    found = _find_existing_claim(world.store, pod, name) or _find_recent_claim(world, pod, name)
    if not found:
        found = str(_make(world, pod, entry, str(template))["metadata"]["name"])
        claim = MadeClaim(pod.uid, name, world.now + REMEMBERED)
        world.surroundings.devices.note_made(f"{pod.namespace}/{found}", claim)
    return found


def _is_there(store: Store, pod: Pod, entry: Manifest) -> bool:
    """Return True if the claim exists or none is needed. Raise CannotMake."""
    try:
        name, own = claim_name(pod, entry)
    except ClaimError:
        if entry.get("resourceClaimTemplateName") is None:
            raise CannotMake("checking for claim before creating it: none of the supported fields are set") from None
        return False
    if not name:
        return name is None
    claim = store.get(CLAIM, pod.namespace, name)
    return claim is not None and (not own or is_owned_by(claim, pod))


def _find_recent_claim(world: World, pod: Pod, name: str) -> str:
    """Return the name of a claim recently created for the entry, or ""."""
    for key, claim in world.surroundings.devices.made.items():
        if (claim.pod, claim.entry) == (pod.uid, name) and world.now < claim.until:
            return key.partition("/")[2]
    return ""


def _find_existing_claim(store: Store, pod: Pod, name: str) -> str:
    """Return the name of a claim that was created for the entry but is missing in the pod's status, or ""."""
    for namespace, claim in store.controlled(CLAIM, pod.uid):
        found = store.get(CLAIM, namespace, claim)
        annotations = {} if found is None else found["metadata"].get("annotations") or {}
        if annotations.get(POD_CLAIM_NAME) == name:
            return claim
    return ""


def _make(world: World, pod: Pod, entry: Manifest, template_name: str) -> Manifest:
    template = world.store.get(TEMPLATE, pod.namespace, template_name)
    if template is None:
        missing = f'resourceclaimtemplate.resource.k8s.io "{template_name}" not found'
        raise CannotMake(f'resource claim template "{template_name}": {missing}')
    if problem := _explain_disabled(template, world.settings):
        raise CannotMake(problem)
    name = str(entry.get("name") or "")
    spec = template.get("spec") or {}
    meta = spec.get("metadata") or {}
    owner = controller_reference("v1", "Pod", pod.name, pod.uid)
    manifest = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": CLAIM,
        "metadata": {
            "generateName": base_name(pod.name, name),
            "namespace": pod.namespace,
            **({"labels": meta["labels"]} if meta.get("labels") else {}),
            "annotations": {**(meta.get("annotations") or {}), POD_CLAIM_NAME: name},
            "ownerReferences": [owner],
        },
        "spec": spec.get("spec") or {},
    }
    try:
        return world.api.create(manifest)
    except Refused as refused:
        raise CannotMake(f"create ResourceClaim : {refused.answer.message}") from refused


def _explain_disabled(template: Manifest, settings: WorldSettings) -> str:
    """Return why the feature gates disable a template, or ""."""
    claim = (template.get("spec") or {}).get("spec") or {}
    requests = (claim.get("devices") or {}).get("requests") or ()
    if not settings.dra_admin_access and any((request.get("exactly") or {}).get("adminAccess") for request in requests):
        return "admin access is requested, but the feature is disabled"
    if not settings.dra_prioritized_list and any(request.get("firstAvailable") for request in requests):
        return "template includes a prioritized list of subrequests, but the feature is disabled"
    return ""


def base_name(pod: str, claim: str) -> str:
    """Return the prefix of a generated claim's name: both names, shortened in proportion if they are too long."""
    base = f"{pod}-{claim}-"
    if len(base) <= _LONGEST_BASE:
        return base
    share = len(base)
    return f"{pod[: len(pod) * _LONGEST_BASE // share]}-{claim[: len(claim) * _LONGEST_BASE // share]}"


def owning_pod(claim: Manifest) -> tuple[str, str]:
    """Return name and UID of the pod for which a claim was created, or "" for both."""
    owner = controller_of(claim)
    if owner is None or owner.get("apiVersion") != "v1" or owner.get("kind") != "Pod":
        return "", ""
    return str(owner.get("name") or ""), str(owner.get("uid") or "")
