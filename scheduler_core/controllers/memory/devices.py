"""The state of the device controllers: which pods use which claims, and the planned evictions of pods."""

from dataclasses import dataclass, field

from scheduler_core.apimachinery.dra.claims import ClaimError, claim_name
from scheduler_core.apimachinery.dra.slices import KIND as SLICE
from scheduler_core.apimachinery.dra.slices import PoolId, ResourceSlice
from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apiserver.store import Store
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.base.state import Copied, Derived, State
from scheduler_core.controllers.memory.nodes import PlannedEviction
from scheduler_core.controllers.memory.volumes import ClaimUsers

MOST_MADE = 100
REMEMBERED = 3600 * SECOND


@dataclass(frozen=True, slots=True)
class MadeClaim:
    """A claim created from a template: the pod's UID, the entry in the pod's spec, and the time (ns) until which it is cached."""

    pod: str
    entry: str
    until: int


def list_named_claims(pod: Pod) -> list[str]:
    """Return the keys of the claims that a pod names, and of those created from templates for it."""
    keys = []
    for entry in pod.spec.resource_claims:
        try:
            name, _ = claim_name(pod, entry)
        except ClaimError:
            continue
        if name is not None:
            keys.append(f"{pod.namespace}/{name}")
    return keys


def claims_of(pod: Pod) -> list[str]:
    """Return the keys of the claims that a pod names or that were created for it."""
    keys = list_named_claims(pod)
    extended = (pod.manifest.get("status") or {}).get("extendedResourceClaimStatus") or {}
    if extended.get("resourceClaimName"):
        keys.append(f"{pod.namespace}/{extended['resourceClaimName']}")
    return keys


def uses_devices(pod: Pod) -> bool:
    """Return whether a pod has claims for devices, including one for its extended resources."""
    if pod.spec.resource_claims:
        return True
    return (pod.manifest.get("status") or {}).get("extendedResourceClaimStatus") is not None


@dataclass(slots=True)
class DeviceClaimUsers(ClaimUsers):
    """An index of pods by their claims for devices."""

    def claims_of(self, pod: Pod) -> list[str]:
        return claims_of(pod) if uses_devices(pod) else []


@dataclass(slots=True)
class PoolSlices(State):
    """An index of slices by pool, built from the store at the first use and updated afterwards."""

    by_pool: Derived[dict[PoolId, dict[str, None]]] = field(default_factory=dict)
    made: Derived[int] = 0

    def of(self, store: Store, pool: PoolId) -> list[ResourceSlice]:
        """Return the slices of a pool, by name."""
        if not self.made:
            self.made = 1
            for manifest in store.list(SLICE):
                self.follow(manifest["metadata"]["name"], None, manifest)
        found = [store.get(SLICE, "", name) for name in sorted(self.by_pool.get(pool, ()))]
        return [ResourceSlice.of(manifest) for manifest in found if manifest is not None]

    def follow(self, name: str, old: Manifest | None, new: Manifest | None) -> None:
        """Update the index after a change of a slice. The slice's pool never changes."""
        manifest = new if new is not None else old
        if not self.made or manifest is None:
            return
        pool = ResourceSlice.of(manifest).pool
        if new is not None:
            self.by_pool.setdefault(pool, {})[name] = None
            return
        slices = self.by_pool.get(pool, {})
        slices.pop(name, None)
        if not slices:
            self.by_pool.pop(pool, None)


@dataclass(slots=True)
class Devices(State):
    """The state of the device controllers. `pools` has the slices by pool; `made` the claims created from templates by key, the oldest
    first; `evictions` the planned evictions by pod (namespace/name); `said` the last Event about each pod, so that it is not repeated.
    """

    users: Copied[DeviceClaimUsers] = field(default_factory=DeviceClaimUsers)
    pools: Copied[PoolSlices] = field(default_factory=PoolSlices)
    made: Copied[dict[str, MadeClaim]] = field(default_factory=dict)
    evictions: Copied[dict[str, PlannedEviction]] = field(default_factory=dict)
    said: Copied[dict[str, str]] = field(default_factory=dict)

    def note_made(self, key: str, claim: MadeClaim) -> None:
        """Remember a created claim. Only the newest are kept."""
        self.made.pop(key, None)
        self.made[key] = claim
        while len(self.made) > MOST_MADE:
            del self.made[next(iter(self.made))]
