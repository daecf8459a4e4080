"""Shared counters: what is left of a slice's counter sets for devices that are made of the same hardware.

kube: dynamic-resource-allocation/structured/internal/experimental/allocator_experimental.go (checkAvailableCounters) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from scheduler_core.apimachinery.dra.slices import Device, DeviceId, ResourceSlice

Amounts = dict[tuple[str, str], int]  # nanos by counter set and counter


def available_counters(each: ResourceSlice, allocated: AbstractSet[DeviceId]) -> Amounts:
    """Return the slice's counters less those of allocated devices; negative if the devices take more than there is."""
    left: Amounts = {}
    for shared in each.counters:
        for stale in [key for key in left if key[0] == shared.name]:
            del left[stale]
        left.update({(shared.name, name): amount for name, amount in shared.amounts})
    for device in each.devices:
        if device.counters and device.id in allocated:
            for key, amount in list_consumed_counters(device):
                if key in left:
                    left[key] -= amount
    return left


def list_consumed_counters(device: Device) -> Iterator[tuple[tuple[str, str], int]]:
    for counters in device.counters:
        for name, amount in counters.amounts:
            yield (counters.name, name), amount


class CounterBook:
    """The counters consumed by devices that are being allocated, by slice."""

    __slots__ = ("_consumed",)

    def __init__(self) -> None:
        self._consumed: dict[str, Amounts] = {}

    def take(self, each: ResourceSlice, device: Device, available: Amounts) -> tuple[str, str] | None:
        """Takes what the device needs; if that is too much of any counter of the slice it takes nothing and names the first."""
        taken = self._consumed.setdefault(each.name, {})
        for key, amount in list_consumed_counters(device):
            taken[key] = taken.get(key, 0) + amount
        for key, amount in available.items():
            if amount < taken.get(key, 0):
                self.give_back(each, device)
                return key
        return None

    def give_back(self, each: ResourceSlice, device: Device) -> None:
        taken = self._consumed[each.name]
        for key, amount in list_consumed_counters(device):
            taken[key] -= amount

    def taken(self, each: ResourceSlice, key: tuple[str, str]) -> int:
        return self._consumed.get(each.name, {}).get(key, 0)
