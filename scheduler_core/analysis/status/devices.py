"""The stock of devices at one moment: each device with its state and its holders.

A stock is computed on demand, and again only after a slice, a claim, a class, or a taint rule has changed.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, is_
from typing import NamedTuple

from scheduler_core.apimachinery.dra import classes, taints
from scheduler_core.apimachinery.dra.amounts import Amount
from scheduler_core.apimachinery.dra.claims import KIND as CLAIMS
from scheduler_core.apimachinery.dra.claims import ResourceClaim
from scheduler_core.apimachinery.dra.classes import DeviceClass
from scheduler_core.apimachinery.dra.features import AllocationError
from scheduler_core.apimachinery.dra.selectors import CelSelectors
from scheduler_core.apimachinery.dra.slices import KIND as SLICES
from scheduler_core.apimachinery.dra.slices import Device, DeviceId, PoolId, ResourceSlice, scope_matches
from scheduler_core.apimachinery.dra.taints import track_slices
from scheduler_core.apimachinery.objects import Manifest, Node
from scheduler_core.scheduler.framework.features import Features
from scheduler_core.world.readonly import StoreView

# Holders of devices: the claims that a device is allocated to, with the pods that the claims are reserved for.


@dataclass(frozen=True, slots=True, eq=False)
class Holder:
    """A claim that has a device, or a share of it.

    `claim` and `pods` are namespace/name; `consumed` is the share of the device's capacity, or None for the whole device. `admin`: admin
    access, which does not occupy the device.
    """

    claim: str
    request: str
    pods: tuple[str, ...]
    admin: bool
    consumed: Mapping[str, Amount] | None


Holders = Mapping[DeviceId, tuple[Holder, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Holdings:
    """`by_device`: by the claims' keys. Holdings are immutable: `after` derives the next ones, because few claims change per step."""

    claims: Sequence[Manifest] = ()
    by_device: Holders = field(default_factory=dict)

    def holders(self, device: DeviceId) -> tuple[Holder, ...]:
        return self.by_device.get(device, ())

    def after(self, claims: Sequence[Manifest]) -> Holdings:
        """Return the holdings with the given claims instead of the current ones."""
        gone, come = _differences(self.claims, claims)
        if not gone and not come:
            return self
        found = dict(self.by_device)
        for manifest in gone:
            claim = ResourceClaim.of(manifest)
            for device in dict.fromkeys(result.device for result in claim.results):
                left = tuple(holder for holder in found.get(device, ()) if holder.claim != claim.key)
                if left:
                    found[device] = left
                else:
                    found.pop(device, None)
        for manifest in come:
            for device, holder in _list_holders(ResourceClaim.of(manifest)):
                others = found.get(device, ())
                found[device] = tuple(sorted((*others, holder), key=attrgetter("claim")))
        return Holdings(claims, found)


def _differences(before: Sequence[Manifest], after: Sequence[Manifest]) -> tuple[list[Manifest], list[Manifest]]:
    """Return the removed manifests and the new ones."""
    if len(before) == len(after):
        pairs = [(old, new) for old, new in zip(before, after, strict=True) if old is not new]
        if all(_key(old) == _key(new) for old, new in pairs):
            return [old for old, _ in pairs], [new for _, new in pairs]
    known, wanted = {id(each) for each in before}, {id(each) for each in after}
    gone = [each for each in before if id(each) not in wanted]
    return gone, [each for each in after if id(each) not in known]


def _key(claim: Manifest) -> tuple[str, str]:
    metadata = claim["metadata"]
    return str(metadata.get("namespace")), str(metadata.get("name"))


def _list_holders(claim: ResourceClaim) -> Iterator[tuple[DeviceId, Holder]]:
    pods = pods_of(claim)
    for result in claim.results:
        share = None if result.share_id is None else (result.consumed or {})
        yield result.device, Holder(claim.key, result.request, pods, result.admin, share)


def pods_of(claim: ResourceClaim) -> tuple[str, ...]:
    """Return the pods that a claim is reserved for, as namespace/name."""
    return tuple(f"{claim.namespace}/{each.name}" for each in claim.reserved_for if each.resource == "pods")


# Devices that drivers publish, over all nodes: pools with their newest generation, and their problems.
# kube: dynamic-resource-allocation/structured/internal/experimental/pools_experimental.go @ v1.34.1


@dataclass(frozen=True, slots=True, eq=False)
class PublishedPool:
    """`slices` are those of the newest `generation`, `older` the names of others; `expected` is the driver's number of slices.

    `twice`: a device name that occurs twice, which makes the pool invalid ("": none).
    """

    id: PoolId
    generation: int
    expected: int
    slices: tuple[ResourceSlice, ...]
    older: tuple[str, ...]
    twice: str

    @property
    def incomplete(self) -> bool:
        return len(self.slices) != self.expected

    @property
    def size(self) -> int:
        """The number of devices in the pool."""
        return sum(len(each.devices) for each in self.slices)


@dataclass(frozen=True, slots=True, eq=False)
class PublishedSlices:
    """Slices of the newest generations. `local`: slices of one node, by its name; `shared`: slices that may be for any node."""

    pools: tuple[PublishedPool, ...]
    local: dict[str, list[ResourceSlice]] = field(default_factory=dict)
    shared: list[ResourceSlice] = field(default_factory=list)

    @classmethod
    def of(cls, slices: Iterable[ResourceSlice]) -> PublishedSlices:
        by_pool: dict[PoolId, list[ResourceSlice]] = {}
        for each in slices:
            by_pool.setdefault(each.pool, []).append(each)
        found = cls(tuple(_pool(id_, by_pool[id_]) for id_ in sorted(by_pool)))
        for pool in found.pools:
            for each in pool.slices:
                name = each.scope.node_name
                (found.local.setdefault(name, []) if name else found.shared).append(each)
        return found

    def reaching(self, node: Node) -> list[tuple[ResourceSlice, Device]]:
        """Return the devices that a node reaches, slice by slice."""
        slices = [*self.local.get(node.name, ()), *self.shared]
        return [(each, device) for each in slices for device in each.devices if _reaches(each, device, node)]


def _pool(id_: PoolId, members: Sequence[ResourceSlice]) -> PublishedPool:
    newest = max(each.generation for each in members)
    slices = tuple(each for each in members if each.generation == newest)
    older = tuple(each.name for each in members if each.generation != newest)
    return PublishedPool(id_, newest, slices[0].slice_count, slices, older, _twice(slices))


def _twice(slices: Iterable[ResourceSlice]) -> str:
    seen: set[str] = set()
    for each in slices:
        for device in each.devices:
            if device.name in seen:
                return device.name
            seen.add(device.name)
    return ""


def _reaches(each: ResourceSlice, device: Device, node: Node) -> bool:
    """Return whether a device's scope includes a node. A selector that can't be parsed includes no node."""
    scope = device.scope if each.per_device and device.scope is not None else each.scope
    try:
        return scope_matches(scope, node)
    except AllocationError:
        return False


Said = tuple[Sequence[Manifest], Sequence[Manifest], Sequence[Manifest]]
MOST_KEPT = 8


class DeviceState(enum.StrEnum):
    """ASSUMED: a scheduler has chosen the device for a claim, and has not written the allocation yet.

    SHORT: no claim has the device, but other partitions have consumed its needs of the shared hardware.
    """

    FREE = "free"
    ASSUMED = "assumed"
    SHARED = "shared"
    TAKEN = "taken"
    SHORT = "short"


class CounterUse(NamedTuple):
    """A counter of a set, such as the memory of one GPU. `uses`: the consumption of each allocated device (nanos)."""

    set: str
    counter: str
    total: int
    uses: tuple[tuple[Device, int], ...]

    @property
    def used(self) -> int:
        return sum(amount for _, amount in self.uses)


@dataclass(frozen=True, slots=True, eq=False)
class NodeDevices:
    """The devices that a node can reach. `states` has the state of each of `devices`."""

    devices: tuple[tuple[ResourceSlice, Device], ...]
    states: tuple[DeviceState, ...]

    def count(self, *states: DeviceState) -> int:
        return sum(state in states for state in self.states)


class Stock:
    """`taints`: whether the scheduler respects taints of devices (the gate DRADeviceTaints)."""

    def __init__(
        self, published: PublishedSlices, holdings: Holdings, features: Features, pending: Sequence[Manifest] = ()
    ) -> None:
        self.taints = features.dra_device_taints
        self._published = published
        self._holdings = holdings
        self._assumed = Holdings().after(pending)
        self._left: dict[str, dict[tuple[str, str], int]] = {}
        self._nodes: dict[str, tuple[Node, NodeDevices]] = {}

    @property
    def pools(self) -> tuple[PublishedPool, ...]:
        """The pools, by driver and name."""
        return self._published.pools

    def holders(self, device: DeviceId) -> tuple[Holder, ...]:
        return (*self._holdings.holders(device), *self._assumed.holders(device))

    def state(self, each: ResourceSlice, device: Device) -> DeviceState:
        holders = [holder for holder in self.holders(device.id) if not holder.admin]
        if holders and not self._holdings.holders(device.id):
            return DeviceState.ASSUMED
        if any(holder.consumed is None for holder in holders):
            return DeviceState.TAKEN
        if holders:
            return DeviceState.SHARED
        return DeviceState.SHORT if device.counters and self._is_short(each, device) else DeviceState.FREE

    def on(self, node: Node) -> NodeDevices:
        """Return the devices that a node can reach."""
        known = self._nodes.get(node.name)
        if known is None or known[0] is not node:
            devices = tuple(self._published.reaching(node))
            states = tuple(self.state(each, device) for each, device in devices)
            known = self._nodes[node.name] = (node, NodeDevices(devices, states))
        return known[1]

    def counters(self, each: ResourceSlice) -> Iterator[CounterUse]:
        """Yield the use of a slice's shared counters, set by set."""
        held = [
            (device, consumed)
            for device in each.devices
            if device.counters and any(not holder.admin for holder in self.holders(device.id))
            for consumed in device.counters
        ]
        for shared in each.counters:
            for name, total in shared.amounts:
                uses = tuple(
                    (device, amount)
                    for device, consumed in held
                    if consumed.name == shared.name
                    for counter, amount in consumed.amounts
                    if counter == name
                )
                yield CounterUse(shared.name, name, total, uses)

    def _is_short(self, each: ResourceSlice, device: Device) -> bool:
        left = self._left.get(each.name)
        if left is None:
            left = self._left[each.name] = {(use.set, use.counter): use.total - use.used for use in self.counters(each)}
        return any(
            amount > left.get((consumed.name, counter), 0)
            for consumed in device.counters
            for counter, amount in consumed.amounts
        )


def stock_of(store: StoreView, features: Features, pending: Sequence[Manifest] = ()) -> Stock | None:
    """Return the stock, or None if no driver has published anything. `pending`: claims whose allocation is in flight."""
    if not store.count(SLICES):
        return None
    rules = store.list(taints.KIND) if features.dra_device_taints else ()
    said = (store.list(SLICES), rules, store.list(classes.KIND) if rules else ())
    claims = store.list(CLAIMS)
    key = (*(id(each) for part in said for each in (*part, None)), 0, *map(id, claims), 0, *map(id, pending), features)
    known = _KNOWN.pop(key, None)
    if known is None:
        published, holdings = _find_published_devices(said), _holdings(claims)
        known = _CachedStock(said, pending, published, holdings, Stock(published, holdings, features, pending))
    _KNOWN[key] = known
    if len(_KNOWN) > MOST_KEPT:
        del _KNOWN[next(iter(_KNOWN))]
    return known.stock


class _CachedStock(NamedTuple):
    """A cached stock with its inputs, so that ids stay unique. `said`: slices, and with taint rules also rules and classes."""

    said: Said
    pending: Sequence[Manifest]
    published: PublishedSlices
    holdings: Holdings
    stock: Stock


def _find_published_devices(said: Said) -> PublishedSlices:
    """Return the published devices, from a cached moment with the same inputs if there is one."""
    for known in reversed(_KNOWN.values()):
        if all(map(_same, known.said, said)):
            return known.published
    slices, rules, known_classes = said
    by_name = {each.name: each for each in map(DeviceClass.of, known_classes)}
    return PublishedSlices.of(track_slices(slices, rules, by_name, CelSelectors()))


def _same(one: Sequence[Manifest], other: Sequence[Manifest]) -> bool:
    return len(one) == len(other) and all(map(is_, one, other))


def _holdings(claims: Sequence[Manifest]) -> Holdings:
    """Return the holdings of the claims, derived from the last cached ones."""
    last = next(reversed(_KNOWN.values()), None)
    return (Holdings() if last is None else last.holdings).after(claims)


_KNOWN: dict[object, _CachedStock] = {}
