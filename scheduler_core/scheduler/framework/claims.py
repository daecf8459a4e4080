"""A scheduler's claims: the informer's versions, the results of its own writes, and its allocations in flight; and calls that write.

```
 informer ──> observe ──┐                    a claim's latest version is the assumed one until the informer has
                        ├──> latest version ──> queue (hints), allocated devices        one that is as new
 PreBind ──> assume ────┘
 Reserve ──> signal_pending_allocation ─────> allocated devices
```

kube: plugins/dynamicresources/{dra_manager,allocateddevices}.go, scheduler/util/assumecache/assume_cache.go, framework/interface.go
(ResourceClaimTracker), client-go/kubernetes/typed/resource/v1/resourceclaim.go @ v1.34.1
DEVIATION: a device that was allocated to two claims manually stays allocated until both are deleted; kube frees it with the first.
DEVIATION: a version that the informer brings and that was assumed already counts as the informer's; kube keeps the one before for Restore.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from scheduler_core.apimachinery.dra import results
from scheduler_core.apimachinery.dra.claims import KIND, ResourceClaim
from scheduler_core.apimachinery.dra.slices import DeviceId
from scheduler_core.apimachinery.objects.manifest import Manifest, version_of
from scheduler_core.base.state import Copied, Derived, Shared, State

Manifests = list[Manifest]
Key = tuple[str, str]
Listener = Callable[[Manifest | None, Manifest | None], None]


@dataclass(frozen=True, slots=True)
class Reply:
    """The API server's reply: the object as stored now, or an error text.

    `conflict`: the stored version differs from the one sent.
    """

    manifest: Manifest | None = None
    error: str = ""
    conflict: bool = False


class ObjectCalls(Protocol):
    """Calls on behalf of one pod. Objects are sent whole; a resourceVersion that is not the stored one is a conflict."""

    def read(self, kind: str, namespace: str, name: str) -> Reply: ...

    def create(self, manifest: Manifest) -> Reply: ...

    def update(self, manifest: Manifest, subresource: str = "") -> Reply: ...

    def change(self, kind: str, namespace: str, name: str, how: Callable[[Manifest], Manifest | None]) -> Reply:
        """Patch the status of the stored version with the result of `how`; None leaves the object unchanged."""

    def delete(self, kind: str, namespace: str, name: str) -> Reply: ...

    def patch_pod_status(self, fields: Manifest) -> Reply:
        """Set fields in the status of the pod itself."""


class Informer(Protocol):
    """The objects of a scheduler's informer."""

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None: ...

    def list(self, kind: str) -> list[Manifest]: ...


class AllocatedDevices:
    """The allocated devices, counted from claims. A returned state is immutable: a change leads to a new one.

    `consumable`: the gate DRAConsumableCapacity.
    """

    __slots__ = ("_capacity", "_consumable", "_given", "_taken")

    def __init__(self, consumable: bool) -> None:
        self._consumable = consumable
        # Counted, not just marked: PreBind assumes a claim while it is still in flight, and its devices
        # must stay taken when the claim leaves one of the two.
        self._taken: dict[DeviceId, int] = {}
        self._capacity: dict[DeviceId, dict[str, int]] = {}
        self._given: results.AllocatedState | None = None

    def add(self, claim: ResourceClaim) -> None:
        for result in claim.results:
            if results.is_share(result, self._consumable):
                results.add_consumed(self._capacity, result.device, results.get_consumed_nanos(result))
            elif not result.admin:
                self._taken[result.device] = self._taken.get(result.device, 0) + 1
        self._forget(claim)

    def remove(self, claim: ResourceClaim) -> None:
        for result in claim.results:
            if results.is_share(result, self._consumable):
                results.remove_consumed(self._capacity, result.device, results.get_consumed_nanos(result))
            elif not result.admin:
                self._release(result.device)
        self._forget(claim)

    def state(self) -> results.AllocatedState:
        """Return the current state."""
        if self._given is None:
            capacity: dict[DeviceId, results.Consumed] = {
                device: dict(amounts) for device, amounts in self._capacity.items()
            }
            self._given = results.AllocatedState(frozenset(self._taken), capacity)
        return self._given

    def _release(self, device: DeviceId) -> None:
        left = self._taken.get(device, 0) - 1
        if left > 0:
            self._taken[device] = left
        else:
            self._taken.pop(device, None)

    def _forget(self, claim: ResourceClaim) -> None:
        if claim.results:
            self._given = None


@dataclass(slots=True, eq=False)
class ClaimTracker(State):
    """kube: claimTracker. Call `connect` first, also for a copy."""

    _assumed: Copied[dict[Key, Shared[Manifest]]] = field(default_factory=dict)
    _in_flight: Copied[dict[str, Shared[Manifest]]] = field(default_factory=dict)  # by the claim's UID
    _allocated: Derived[AllocatedDevices | None] = field(init=False)
    _consumable: Derived[bool] = field(init=False)
    _informer: Derived[Callable[[], Informer]] = field(init=False)
    version: Derived[int] = field(init=False)
    _announce: Derived[Listener] = field(init=False)

    def connect(self, informer: Callable[[], Informer], consumable: bool, announce: Listener) -> None:
        """Connect to an informer. `announce` is called for the tracker's own changes, with the latest version before and after."""
        self._informer, self._consumable, self._announce = informer, consumable, announce
        self._allocated, self.version = None, 0

    def disconnect(self) -> None:
        """Drop the references that `connect` sets."""
        del self._informer, self._announce

    def list_anew(self) -> None:
        """Drop all assumptions because the informer has listed all objects again."""
        self._assumed, self._allocated = {}, None
        self.version += 1

    def note_device_change(self) -> None:
        """Increase the version because a slice, a class, or a taint rule has changed."""
        self.version += 1

    # Claims

    def get(self, namespace: str, name: str) -> Manifest | None:
        known = self._informer().get(KIND, namespace, name)
        if known is None or not self._assumed:
            return known
        return self._assumed.get((namespace, name), known)

    def list(self) -> Manifests:
        known = self._informer().list(KIND)
        if not self._assumed:
            return known
        return [self._assumed.get(_key(claim), claim) for claim in known]

    def observe(self, old: Manifest | None, new: Manifest | None) -> tuple[Manifest | None, Manifest | None]:
        """Apply a change from the informer. Return the latest version before and after; both are equal if nothing is new."""
        before = old
        if self._assumed and (present := new or old) is not None:
            assumed = self._assumed.get(_key(present))
            if assumed is not None:
                before = assumed
                # The informer may lag behind the scheduler's own write: an older
                # version must not replace the assumed one.
                if new is not None and version_of(new) < version_of(assumed):
                    return assumed, assumed
                del self._assumed[_key(present)]
                if new is not None and version_of(new) == version_of(assumed):
                    return new, new
        self._count(before, new)
        return before, new

    def assume(self, claim: Manifest) -> str:
        """Assume the result of a write as the latest version. Return an error text, or "". kube: AssumeClaimAfterAPICall"""
        namespace, name = key = _key(claim)
        latest = self.get(namespace, name)
        if latest is None:
            return f'could not find {KIND} "{namespace}/{name}"'
        if version_of(claim) < version_of(latest):
            versions = f"stored: {version_of(latest)}, assume: {version_of(claim)}"
            return f'{KIND} "{namespace}/{name}" is out of sync ({versions})'
        if version_of(claim) > version_of(latest):
            self._assumed[key] = claim
            self._count(latest, claim)
            self._announce(latest, claim)
        return ""

    def restore(self, namespace: str, name: str) -> None:
        """Drop an assumed version. kube: AssumedClaimRestore"""
        assumed = self._assumed.pop((namespace, name), None)
        if assumed is not None:
            known = self.get(namespace, name)
            self._count(assumed, known)
            self._announce(assumed, known)

    # Allocations in flight

    def pending(self) -> Manifests:
        """Return the claims with allocations in flight."""
        return [*self._in_flight.values()]

    def has_pending_allocation(self, uid: str) -> bool:
        return uid in self._in_flight

    def signal_pending_allocation(self, uid: str, claim: Manifest) -> None:
        """Record an allocation in flight, which PreBind has not written yet."""
        self.remove_pending_allocation(uid)
        self._in_flight[uid] = claim
        self._count(None, claim)

    def remove_pending_allocation(self, uid: str) -> bool:
        """Remove an allocation in flight. Return whether one existed."""
        claim = self._in_flight.pop(uid, None)
        if claim is None:
            return False
        self._count(claim, None)
        return True

    # Allocated devices

    def allocated(self) -> results.AllocatedState:
        """Return the devices allocated now, including allocations in flight. A returned value never changes.

        kube: ListAllAllocatedDevices, GatherAllocatedState
        """
        if self._allocated is None:
            self._allocated = AllocatedDevices(self._consumable)
            for claim in (*self.list(), *self._in_flight.values()):
                self._allocated.add(ResourceClaim.of(claim))
        return self._allocated.state()

    def _count(self, old: Manifest | None, new: Manifest | None) -> None:
        """Update the allocated devices after a change of a claim. An allocation never changes while it exists."""
        if self._allocated is None:
            return
        had, has = _allocation(old), _allocation(new)
        if old is not None and had is not None and had != has:
            self._allocated.remove(ResourceClaim.of(old))
        if new is not None and has is not None and had != has:
            self._allocated.add(ResourceClaim.of(new))


def _key(claim: Manifest) -> Key:
    metadata = claim["metadata"]
    return str(metadata.get("namespace") or ""), str(metadata["name"])


def _allocation(claim: Manifest | None) -> Manifest | None:
    return None if claim is None else (claim.get("status") or {}).get("allocation")
