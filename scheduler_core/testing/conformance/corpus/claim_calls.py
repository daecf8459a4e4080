"""The API server as the corpus of devices has it: it refuses stale versions and too many consumers, and takes all else.

README-dra.md, "Applying the outcome".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scheduler_core.apimachinery.dra.claims import FINALIZER, KIND, MAX_CONSUMERS
from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.scheduler.framework.claims import Reply

_RESOURCE = "resourceclaims.resource.k8s.io"
_CHANGED = "the object has been modified; please apply your changes to the latest version and try again"


class Objects(Protocol):
    """The live objects; `created` counts claims for extended resources, `device_conditions` are what drivers answer, by device."""

    created: int
    device_conditions: Mapping[str, Any]

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None: ...

    def list(self, kind: str) -> list[Manifest]: ...

    def put(self, manifest: Manifest) -> Manifest: ...

    def remove(self, kind: str, namespace: str, name: str) -> None: ...

    def patch_pod(self, pod: Pod, status: Manifest) -> Manifest: ...


@dataclass(frozen=True, slots=True)
class ClaimCalls:
    """Calls of one pod."""

    world: Objects
    pod: Pod

    def read(self, kind: str, namespace: str, name: str) -> Reply:
        found = self.world.get(kind, namespace, name)
        return Reply(error=f'{_RESOURCE} "{name}" not found') if found is None else Reply(found)

    def create(self, manifest: Manifest) -> Reply:
        self.world.created += 1
        metadata = manifest["metadata"]
        name = f"{metadata['generateName']}{self.world.created}"
        uid = f"claim-{metadata['namespace']}-{name}"
        return Reply(self.world.put({**manifest, "metadata": {**metadata, "name": name, "uid": uid}}))

    def update(self, manifest: Manifest, subresource: str = "") -> Reply:
        metadata = manifest["metadata"]
        found = self.read(manifest["kind"], metadata["namespace"], metadata["name"])
        stored = found.manifest
        if stored is None:
            return found
        if metadata.get("resourceVersion") != stored["metadata"]["resourceVersion"]:
            refused = f'Operation cannot be fulfilled on {_RESOURCE} "{metadata["name"]}": {_CHANGED}'
            return Reply(error=refused, conflict=True)
        if not subresource:
            return Reply(self.world.put({**manifest, "status": stored.get("status") or {}}))
        status = manifest.get("status") or {}
        consumers = len(status.get("reservedFor") or ())
        if consumers > MAX_CONSUMERS:
            why = f"Too many: {consumers}: must have at most {MAX_CONSUMERS} items"
            text = f'ResourceClaim.resource.k8s.io "{metadata["name"]}" is invalid: status.reservedFor: {why}'
            return Reply(error=text)
        return Reply(self.world.put({**stored, "status": self._driven(status)}))

    def change(self, kind: str, namespace: str, name: str, how: Callable[[Manifest], Manifest | None]) -> Reply:
        found = self.read(kind, namespace, name)
        wanted = None if found.manifest is None else how(found.manifest)
        return found if wanted is None else self.update(wanted, "status")

    def delete(self, kind: str, namespace: str, name: str) -> Reply:
        self.world.remove(kind, namespace, name)
        return Reply()

    def patch_pod_status(self, fields: Manifest) -> Reply:
        return Reply(self.world.patch_pod(self.pod, fields))

    def _driven(self, status: Manifest) -> Manifest:
        """Return the status with the drivers' immediate answers: conditions of the allocated devices."""
        devices = list(status.get("devices") or ())
        results = ((status.get("allocation") or {}).get("devices") or {}).get("results") or ()
        for result in results:
            device = {name: result[name] for name in ("driver", "pool", "device")}
            conditions = self.world.device_conditions.get("/".join(device.values()))
            said = any(all(each[name] == device[name] for name in device) for each in devices)
            if conditions and not said:
                devices.append({**device, "conditions": conditions})
        return {**status, "devices": devices} if devices else status


def release(world: Objects, victims: tuple[Pod, ...]) -> dict[str, Manifest | None]:
    """The claim controller after a preemption: what became of the claims of pods that have gone, by claim."""
    gone = {pod.uid for pod in victims}
    released: dict[str, Manifest | None] = {}
    for claim in world.list(KIND):
        metadata, status = claim["metadata"], claim.get("status") or {}
        key = f"{metadata['namespace']}/{metadata['name']}"
        consumers = status.get("reservedFor") or ()
        left = [consumer for consumer in consumers if consumer["uid"] not in gone]
        owned = any(owner.get("controller") and owner["uid"] in gone for owner in metadata.get("ownerReferences") or ())
        if not left and owned:
            world.remove(KIND, metadata["namespace"], metadata["name"])
            released[key] = None
        elif len(left) < len(consumers):
            world.put(_release_claim(claim, left))
            released[key] = _without_empty({**status, "reservedFor": left} if left else _free(claim))
    return released


def _release_claim(claim: Manifest, left: list[Manifest]) -> Manifest:
    if left:
        return {**claim, "status": {**claim["status"], "reservedFor": left}}
    finalizers = [each for each in claim["metadata"].get("finalizers") or () if each != FINALIZER]
    metadata = {**claim["metadata"], "finalizers": finalizers}
    return {**claim, "metadata": metadata, "status": _free(claim)}


def _free(claim: Manifest) -> dict[str, Any]:
    """The status of a claim that nobody uses any more; one without the finalizer keeps its allocation."""
    status = {name: value for name, value in claim["status"].items() if name != "reservedFor"}
    if FINALIZER in (claim["metadata"].get("finalizers") or ()):
        return {name: value for name, value in status.items() if name not in ("allocation", "devices")}
    return status


def _without_empty(status: Manifest) -> Manifest:
    return {name: value for name, value in status.items() if value not in (None, [], {})}
