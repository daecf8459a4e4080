"""Which devices are allocated, kept up to date claim by claim.

What is given out never changes: it is made anew where something has changed since.

kube: plugins/dynamicresources/allocateddevices.go @ v1.34.1
DEVIATION: where two claims were given the same device by hand, it stays taken until both have gone; kube frees it with the first.
"""

from __future__ import annotations

from scheduler_core.devices.allocated import (
    AllocatedState,
    Consumed,
    add_consumed,
    consumed_nanos,
    is_share,
    remove_consumed,
)
from scheduler_core.devices.claims import ResourceClaim
from scheduler_core.devices.slices import DeviceId


class AllocatedDevices:
    """Counts what claims hold; `consumable`: the gate DRAConsumableCapacity."""

    __slots__ = ("_capacity", "_consumable", "_given", "_taken")

    def __init__(self, consumable: bool) -> None:
        self._consumable = consumable
        self._taken: dict[DeviceId, int] = {}
        self._capacity: dict[DeviceId, dict[str, int]] = {}
        self._given: AllocatedState | None = None

    def add(self, claim: ResourceClaim) -> None:
        for result in claim.results:
            if is_share(result, self._consumable):
                add_consumed(self._capacity, result.device, consumed_nanos(result))
            elif not result.admin:
                self._taken[result.device] = self._taken.get(result.device, 0) + 1
        self._changed(claim)

    def remove(self, claim: ResourceClaim) -> None:
        for result in claim.results:
            if is_share(result, self._consumable):
                remove_consumed(self._capacity, result.device, consumed_nanos(result))
            elif not result.admin:
                self._release(result.device)
        self._changed(claim)

    def state(self) -> AllocatedState:
        """As it is now."""
        if self._given is None:
            capacity: dict[DeviceId, Consumed] = {
                device: dict(amounts) for device, amounts in self._capacity.items()
            }
            self._given = AllocatedState(frozenset(self._taken), capacity)
        return self._given

    def _release(self, device: DeviceId) -> None:
        left = self._taken.get(device, 0) - 1
        if left > 0:
            self._taken[device] = left
        else:
            self._taken.pop(device, None)

    def _changed(self, claim: ResourceClaim) -> None:
        if claim.results:
            self._given = None
