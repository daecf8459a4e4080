"""What the controllers of devices remember: which pods use which claims, and which pods are to be evicted when."""

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
    """A claim that was made of a template: for which pod, by its uid, and which of its entries, and until when (ns) that is remembered."""

    pod: str
    entry: str
    until: int


def list_named_claims(pod: Pod) -> list[str]:
    """Return the keys of the claims that a pod names, and of those that were made of templates for it."""
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
    """Keys of the claims that a pod names, or that were made for it."""
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
    """Pods by their claims for devices."""

    def claims_of(self, pod: Pod) -> list[str]:
        return claims_of(pod) if uses_devices(pod) else []


@dataclass(slots=True)
class PoolSlices(State):
    """Slices by pool. It is made of the store when it is first asked for, and kept up with then."""

    by_pool: Derived[dict[PoolId, dict[str, None]]] = field(default_factory=dict)
    made: Derived[int] = 0

    def of(self, store: Store, pool: PoolId) -> list[ResourceSlice]:
        """The slices of a pool, by name."""
        if not self.made:
            self.made = 1
            for manifest in store.list(SLICE):
                self.follow(manifest["metadata"]["name"], None, manifest)
        found = [store.get(SLICE, "", name) for name in sorted(self.by_pool.get(pool, ()))]
        return [ResourceSlice.of(manifest) for manifest in found if manifest is not None]

    def follow(self, name: str, old: Manifest | None, new: Manifest | None) -> None:
        """Keeps up with a change of a slice, whose pool stays the same."""
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
    """All of it. `pools` know the slices of each pool. `made`: claims made of templates, by key, the oldest first. `evictions` by pod
    (namespace/name); `said`: the last Event about a pod, so that it is said once.
    """

    users: Copied[DeviceClaimUsers] = field(default_factory=DeviceClaimUsers)
    pools: Copied[PoolSlices] = field(default_factory=PoolSlices)
    made: Copied[dict[str, MadeClaim]] = field(default_factory=dict)
    evictions: Copied[dict[str, PlannedEviction]] = field(default_factory=dict)
    said: Copied[dict[str, str]] = field(default_factory=dict)

    def note_made(self, key: str, claim: MadeClaim) -> None:
        """Remembers a claim, of the newest so many."""
        self.made.pop(key, None)
        self.made[key] = claim
        while len(self.made) > MOST_MADE:
            del self.made[next(iter(self.made))]
