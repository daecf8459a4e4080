"""Which devices are taken: exclusively, or in shares that consume a device's capacity.

Devices of claims with admin access are taken by nobody.

kube: plugins/dynamicresources/{allocateddevices,dra_manager}.go,
dynamic-resource-allocation/structured/internal/allocatedstate.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from scheduler_core.apimachinery.dra.claims import Allocated, ResourceClaim
from scheduler_core.apimachinery.dra.slices import DeviceId

Consumed = Mapping[str, int]  # nanos by capacity
_NOTHING: dict[DeviceId, dict[str, int]] = {}


@dataclass(frozen=True, slots=True)
class AllocatedState:
    """`devices` are taken whole; `capacity` is what shares of a device consume of it."""

    devices: AbstractSet[DeviceId] = frozenset()
    capacity: Mapping[DeviceId, Consumed] = field(default_factory=dict)

    @classmethod
    def of(cls, claims: Iterable[ResourceClaim], consumable: bool = False) -> AllocatedState:
        """Collect the state from all claims. `consumable`: the gate DRAConsumableCapacity."""
        devices: set[DeviceId] = set()
        capacity: dict[DeviceId, dict[str, int]] = {}
        for claim in claims:
            for result in claim.results:
                if is_share(result, consumable):
                    add_consumed(capacity, result.device, get_consumed_nanos(result))
                elif not result.admin:
                    devices.add(result.device)
        return cls(devices, capacity)


def is_share(result: Allocated, consumable: bool) -> bool:
    """Return whether a result takes only a share of its device."""
    return consumable and not result.admin and result.share_id is not None


def get_consumed_nanos(result: Allocated) -> Consumed | None:
    consumed = result.consumed
    return None if consumed is None else {name: amount.nanos for name, amount in consumed.items()}


def add_consumed(capacity: dict[DeviceId, dict[str, int]], device: DeviceId, consumed: Consumed | None) -> None:
    if consumed is None:
        return
    known = capacity.setdefault(device, {})
    for name, amount in consumed.items():
        known[name] = known.get(name, 0) + amount


def remove_consumed(capacity: dict[DeviceId, dict[str, int]], device: DeviceId, consumed: Consumed | None) -> None:
    """Names that are not there are left alone; a device with nothing consumed is forgotten."""
    known = capacity.get(device)
    if known is None or consumed is None:
        return
    for name, amount in consumed.items():
        if name in known:
            known[name] -= amount
    if not any(known.values()):
        del capacity[device]
