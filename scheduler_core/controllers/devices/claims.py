"""The resource claim controller: creates claims from templates, reserves them for pods bound without the scheduler, releases unused ones.

| state of a claim | action |
|---|---|
| a pod in reservedFor has ended, does not exist, or was deleted before it was bound | remove the pod |
| the last pod was removed | clear the allocation, remove the finalizer |
| being deleted, and reservedFor is empty | clear the allocation, remove the finalizer |
| created for a pod that will not run, and reservedFor is empty | delete the claim |

DEVIATION: two bugs of v1.34.1 that cause endless writes are left out. An ended pod gets no reservation again (kube adds and removes it in
turn, kubernetes/kubernetes#141274), and no claim; and status.resourceClaimStatuses keeps the names of a pod's other claims when one of
them is created again (kube writes the new one alone, then the others alone, kubernetes/kubernetes#138408).

kube: pkg/controller/resourceclaim/controller.go @ v1.34.1
"""

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.dra.claims import FINALIZER, ClaimError, check_owner, claim_name
from scheduler_core.apimachinery.dra.claims import KIND as CLAIM
from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apiserver import WARNING, Answer, Refused, WatchEvent, with_section
from scheduler_core.apiserver.eviction import set_condition
from scheduler_core.apiserver.validation.devices.status import device_key
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.devices.templates import CannotMake, claim_for, owning_pod
from scheduler_core.controllers.memory.devices import uses_devices

# A driver's report about an allocated device: a condition in the claim's status. There are no drivers here: users set it instead.
# kube: api/resource/v1/types.go (AllocatedDeviceStatus) @ v1.34.1


def results_named(claim: Manifest, device: str) -> list[Manifest]:
    """Return the allocated devices that match `device` (driver/pool/device; "": all)."""
    allocation = (claim.get("status") or {}).get("allocation") or {}
    results = (allocation.get("devices") or {}).get("results") or ()
    return [each for each in results if device in ("", "/".join(device_key(each)[:3]))]


def set_device_conditions(
    claim: Manifest, results: list[Manifest], condition: Manifest, timestamp: str
) -> dict[str, Any]:
    """Return the claim with a condition set for these devices. The transition time changes only with the condition's status."""
    status = dict(claim.get("status") or {})
    devices = [dict(each) for each in status.get("devices") or ()]
    for result in results:
        entry = next((each for each in devices if device_key(each) == device_key(result)), None)
        if entry is None:
            entry = {name: result[name] for name in ("driver", "pool", "device", "shareID") if name in result}
            devices.append(entry)
        entry["conditions"] = set_condition(entry, condition, timestamp)
    return {**claim, "status": {**status, "devices": devices}}


_POD, _CLAIM = "pod:", "claim:"
FAILED = "FailedResourceClaimCreation"


class ResourceClaims(Controller):
    """Makes, reserves and releases claims for devices."""

    name = "resourceclaim-controller"
    component = "resource_claim"
    watches = ("Pod", CLAIM)
    of_devices = True

    def on_start(self, world: World) -> None:
        for pod in world.store.pods():
            self._ask_pod(world, pod, gone=False)
        for claim in world.store.list(CLAIM):
            self.enqueue(world, _CLAIM + key_of(claim))

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == "Pod":
            pod = event.new_pod or event.old_pod
            if pod is None or not uses_devices(pod):
                return
            world.surroundings.devices.users.follow(event.old_pod, event.new_pod)
            if event.new_pod is None:
                world.surroundings.devices.said.pop(pod.key, None)
            if pod.spec.resource_claims:
                self._ask_pod(world, pod, gone=event.new_pod is None)
            return
        key = f"{event.namespace}/{event.name}"
        if event.new is not None:
            self.enqueue(world, _CLAIM + key)
        for pod in world.surroundings.devices.users.of(world.store, key):
            if pod.spec.resource_claims:
                self._ask_pod(world, pod, gone=False)

    def _ask_pod(self, world: World, pod: Pod, gone: bool) -> None:
        """Enqueue the claims of a pod that has ended or is gone; enqueue a pod that needs a claim or a reservation."""
        if gone or _is_done(pod):
            for entry in pod.spec.resource_claims:
                name = _name(pod, entry)
                if name is not None:
                    self.enqueue(world, f"{_CLAIM}{pod.namespace}/{name}")
        if not gone and _needs_work(world, pod):
            self.enqueue(world, _POD + pod.key)

    def sync(self, world: World, key: str) -> str:
        prefix, _, rest = key.partition(":")
        return self._sync_pod(world, rest) if f"{prefix}:" == _POD else self._sync_claim(world, rest)

    # pods

    def _sync_pod(self, world: World, key: str) -> str:
        pod = world.store.pod_at(key)
        if pod is None or pod.deleting or pod.terminal:
            return ""
        made: dict[str, str] = {}
        for entry in pod.spec.resource_claims:
            name = str(entry.get("name") or "")
            try:
                claim = claim_for(world, pod, entry)
            except CannotMake as problem:
                self._say(world, pod, f"PodResourceClaim {name}: {problem}")
                why = f"pod {key}, PodResourceClaim {name}: {problem}"
                raise Refused.because(Answer("InternalError", why)) from None
            if claim is not None:
                made[name] = claim
        texts = []
        if made:
            world.surroundings.devices.said.pop(key, None)
            pod = _note_made(world, pod, made)
            texts.append(f"created {', '.join(made.values())} for {key}")
        if pod.node_name:
            texts += _reserve(world, pod)
        return "; ".join(texts)

    def _say(self, world: World, pod: Pod, text: str) -> None:
        said = world.surroundings.devices.said
        if said.get(pod.key) != text:
            said[pod.key] = text
            self.event(world, WARNING, FAILED, "Pod", pod.key, text)

    # claims

    def _sync_claim(self, world: World, key: str) -> str:
        claim = world.store.get(CLAIM, *key.split("/", 1))
        if claim is None:
            return ""
        reserved = list_consumers(claim)
        valid = [ref for ref in reserved if _holds(world, claim, ref)]
        texts = []
        if len(valid) < len(reserved):
            gone = ", ".join(str(ref.get("name")) for ref in reserved if ref not in valid)
            texts.append(f"released {key} from {gone}" + ("" if valid else ", and deallocated it"))
            claim = _release(world, claim, valid)
        elif not valid and FINALIZER in _finalizers(claim) and claim["metadata"].get("deletionTimestamp") is not None:
            texts.append(f"allowed the deletion of {key}: the claim is deleted and reserved for no pod")
            claim = _release(world, claim, [])
        if not valid and (text := _delete_unused(world, key)):
            texts.append(text)
        return "; ".join(texts)


def key_of(claim: Manifest) -> str:
    """Return namespace/name of a claim."""
    return f"{claim['metadata'].get('namespace') or ''}/{claim['metadata']['name']}"


def list_consumers(claim: Manifest) -> list[Manifest]:
    """Return the consumers of a claim."""
    return list((claim.get("status") or {}).get("reservedFor") or ())


def _is_done(pod: Pod) -> bool:
    """Return True if no container of the pod will run anymore."""
    return pod.terminal or (pod.deleting and not pod.node_name)


def _name(pod: Pod, entry: Manifest) -> str | None:
    """Return the name of the claim behind an entry, or None if there is none (yet)."""
    try:
        return claim_name(pod, entry)[0]
    except ClaimError:
        return None


def _needs_work(world: World, pod: Pod) -> bool:
    """Return whether a claim of the pod must be created or reserved."""
    if pod.deleting or pod.terminal:
        return False
    for entry in pod.spec.resource_claims:
        try:
            name, own = claim_name(pod, entry)
        except ClaimError:
            return True
        if name is None:
            return False
        claim = world.store.get(CLAIM, pod.namespace, name)
        if claim is None:
            return entry.get("resourceClaimTemplateName") is not None
        if own and _is_foreign(pod, claim):
            return False
        if pod.node_name and _lacks(claim, pod):
            return True
    return False


def _is_foreign(pod: Pod, claim: Manifest) -> bool:
    try:
        check_owner(pod, claim)
    except ClaimError:
        return True
    return False


def _lacks(claim: Manifest, pod: Pod) -> bool:
    """Return whether an allocated claim is not reserved for the pod."""
    allocated = (claim.get("status") or {}).get("allocation") is not None
    return allocated and all(ref.get("uid") != pod.uid for ref in list_consumers(claim))


def _note_made(world: World, pod: Pod, made: Mapping[str, str]) -> Pod:
    """Write the names of the created claims to the pod's status. Return the updated pod."""
    statuses = list((pod.manifest.get("status") or {}).get("resourceClaimStatuses") or ())
    kept = [status for status in statuses if status.get("name") not in made]
    new = [{"name": name, "resourceClaimName": claim} for name, claim in made.items()]
    world.api.patch_status(("Pod", pod.namespace, pod.name), {"resourceClaimStatuses": [*kept, *new]})
    return world.store.pod_at(pod.key) or pod


def _reserve(world: World, pod: Pod) -> list[str]:
    """Reserve allocated claims for a bound pod. Raise Refused if a claim of the pod is invalid."""
    texts: list[str] = []
    for entry in pod.spec.resource_claims:
        try:
            name, own = claim_name(pod, entry)
            claim = None if name is None else world.store.get(CLAIM, pod.namespace, name)
            if claim is not None and own:
                check_owner(pod, claim)
        except ClaimError as problem:
            raise Refused.because(Answer("InternalError", str(problem))) from None
        if name is None:
            continue
        if claim is None:
            return texts
        if _lacks(claim, pod):
            ref = {"resource": "pods", "name": pod.name, "uid": pod.uid}
            _write(world, with_section(claim, "status", {"reservedFor": [*list_consumers(claim), ref]}))
            texts.append(f"reserved {key_of(claim)} for {pod.key}, which has a node")
    return texts


def _holds(world: World, claim: Manifest, ref: Manifest) -> bool:
    """Return whether a consumer still needs the claim. Raise Refused if it is not a pod."""
    if ref.get("apiGroup") or ref.get("resource") != "pods":
        said = f"{{{ref.get('apiGroup') or ''} {ref.get('resource')} {ref.get('name')} {ref.get('uid')}}}"
        raise Refused.because(Answer("InternalError", f"unsupported ReservedFor entry: {said}"))
    pod = world.store.pod(claim["metadata"].get("namespace") or "", str(ref.get("name") or ""))
    return pod is not None and pod.uid == ref.get("uid") and not _is_done(pod)


def _release(world: World, claim: Manifest, valid: list[Manifest]) -> Manifest:
    """Remove consumers that no longer exist. If none is left, deallocate the claim and remove its finalizer."""
    ours = FINALIZER in _finalizers(claim)
    status = {**(claim.get("status") or {}), "reservedFor": valid}
    if not valid:
        del status["reservedFor"]
        if ours:
            status.pop("allocation", None)
    claim = _write(world, {**claim, "status": status})
    if ours and (claim.get("status") or {}).get("allocation") is None:
        kept = [name for name in _finalizers(claim) if name != FINALIZER]
        claim = world.api.update(with_section(claim, "metadata", {"finalizers": kept}))
    return claim


def _write(world: World, claim: Manifest) -> Manifest:
    return world.api.update(claim, "status")


def _delete_unused(world: World, key: str) -> str:
    """Delete a claim that was created for a pod which will not run or was replaced."""
    claim = world.store.get(CLAIM, *key.split("/", 1))
    if claim is None:
        return ""
    name, uid = owning_pod(claim)
    pod = world.store.pod(claim["metadata"].get("namespace") or "", name) if name else None
    if pod is None or (pod.uid == uid and not _is_done(pod)):
        return ""
    world.api.delete((CLAIM, pod.namespace, claim["metadata"]["name"]))
    return f"deleted {key}: the pod for which it was created will not run"


def _finalizers(claim: Manifest) -> list[str]:
    return list(claim["metadata"].get("finalizers") or ())
