"""The stock of devices at one moment: each device with its state and its holders.

It is made where somebody looks, and again only where a slice, a claim, a class or a taint rule is another one.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import is_
from typing import NamedTuple, Protocol

from scheduler_core.analysis.status.devices.holdings import Holder, Holdings
from scheduler_core.analysis.status.devices.published import Published, PublishedPool
from scheduler_core.apimachinery.dra import classes, taints
from scheduler_core.apimachinery.dra.claims import KIND as CLAIMS
from scheduler_core.apimachinery.dra.classes import DeviceClass
from scheduler_core.apimachinery.dra.selectors import CelSelectors
from scheduler_core.apimachinery.dra.slices import KIND as SLICES
from scheduler_core.apimachinery.dra.slices import Device, DeviceId, ResourceSlice
from scheduler_core.apimachinery.dra.taints import track_slices
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.scheduler.framework.features import Features

Said = tuple[Sequence[Manifest], Sequence[Manifest], Sequence[Manifest]]
MOST_KEPT = 8


class Objects(Protocol):
    """The objects of the API server."""

    def count(self, kind: str) -> int: ...

    def list(self, kind: str) -> Sequence[Manifest]: ...


class DeviceState(enum.StrEnum):
    """ASSUMED: a scheduler has chosen it for a claim, and has not written that yet.

    SHORT: nobody has it, but other partitions have taken what it needs of the hardware that they share.
    """

    FREE = "free"
    ASSUMED = "assumed"
    SHARED = "shared"
    TAKEN = "taken"
    SHORT = "short"


class CounterUse(NamedTuple):
    """A counter of a set, such as the memory of one GPU. `uses`: what each device that is held takes of it (nanos)."""

    set: str
    counter: str
    total: int
    uses: tuple[tuple[Device, int], ...]

    @property
    def used(self) -> int:
        return sum(amount for _, amount in self.uses)


@dataclass(frozen=True, slots=True, eq=False)
class NodeDevices:
    """The devices that a node can reach. `states` are those of `devices`, one by one."""

    devices: tuple[tuple[ResourceSlice, Device], ...]
    states: tuple[DeviceState, ...]

    def count(self, *states: DeviceState) -> int:
        return sum(state in states for state in self.states)

    @property
    def slices(self) -> tuple[ResourceSlice, ...]:
        return tuple(dict.fromkeys(each for each, _ in self.devices))


class Stock:
    """`taints`: whether the scheduler heeds taints of devices (the gate DRADeviceTaints)."""

    def __init__(
        self, published: Published, holdings: Holdings, features: Features, pending: Sequence[Manifest] = ()
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
            if device.counters and self._takes(device)
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

    def _takes(self, device: Device) -> bool:
        return any(not holder.admin for holder in self.holders(device.id))

    def _is_short(self, each: ResourceSlice, device: Device) -> bool:
        left = self._left.get(each.name)
        if left is None:
            left = self._left[each.name] = {(use.set, use.counter): use.total - use.used for use in self.counters(each)}
        return any(
            amount > left.get((consumed.name, counter), 0)
            for consumed in device.counters
            for counter, amount in consumed.amounts
        )


def stock_of(store: Objects, features: Features, pending: Sequence[Manifest] = ()) -> Stock | None:
    """None where no driver has published anything. `pending`: claims whose allocation is in flight."""
    if not store.count(SLICES):
        return None
    rules = store.list(taints.KIND) if features.dra_device_taints else ()
    said = (store.list(SLICES), rules, store.list(classes.KIND) if rules else ())
    claims = store.list(CLAIMS)
    key = (*(id(each) for part in said for each in (*part, None)), 0, *map(id, claims), 0, *map(id, pending), features)
    known = _KNOWN.pop(key, None)
    if known is None:
        published, holdings = _find_published_devices(said), _holdings(claims)
        known = _Known(said, pending, published, holdings, Stock(published, holdings, features, pending))
    _KNOWN[key] = known
    if len(_KNOWN) > MOST_KEPT:
        del _KNOWN[next(iter(_KNOWN))]
    return known.stock


class _Known(NamedTuple):
    """A cached stock with its inputs, so that ids stay unique. `said`: slices, and with taint rules these and classes."""

    said: Said
    pending: Sequence[Manifest]
    published: Published
    holdings: Holdings
    stock: Stock


def _find_published_devices(said: Said) -> Published:
    """Return the published devices, from a cached moment with the same inputs if there is one."""
    for known in reversed(_KNOWN.values()):
        if all(map(_same, known.said, said)):
            return known.published
    slices, rules, known_classes = said
    by_name = {each.name: each for each in map(DeviceClass.of, known_classes)}
    return Published.of(track_slices(slices, rules, by_name, CelSelectors()))


def _same(one: Sequence[Manifest], other: Sequence[Manifest]) -> bool:
    return len(one) == len(other) and all(map(is_, one, other))


def _holdings(claims: Sequence[Manifest]) -> Holdings:
    """Return the holdings of the claims, starting from the cached holdings of the last moment."""
    last = next(reversed(_KNOWN.values()), None)
    return (Holdings() if last is None else last.holdings).after(claims)


_KNOWN: dict[object, _Known] = {}
