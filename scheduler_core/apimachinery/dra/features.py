"""The feature gates that the allocator asks for, and which of kube's three allocators they pick.

kube: dynamic-resource-allocation/structured/allocator.go (NewAllocator), internal/types.go @ v1.34.1
"""

from __future__ import annotations

from dataclasses import dataclass

# What ends an allocation, in kube's words; a scheduling cycle ends with it at the first such node.


class AllocationError(Exception):
    """The claims can't be handled: something about them, their classes or the slices is wrong."""


class AllocationTimeout(AllocationError):
    """The search took longer than it may."""

    def __init__(self) -> None:
        super().__init__("filter operation aborted: context deadline exceeded")


class SelectorError(Exception):
    """A CEL selector failed: at all (`compile`), or at one device (`runtime`)."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


STABLE, INCUBATING, EXPERIMENTAL = "stable", "incubating", "experimental"


@dataclass(frozen=True, slots=True)
class DeviceFeatures:
    """kube's defaults of v1.34."""

    admin_access: bool = True  # DRAAdminAccess
    prioritized_list: bool = True  # DRAPrioritizedList
    device_status: bool = True  # DRAResourceClaimDeviceStatus
    partitionable: bool = False  # DRAPartitionableDevices
    taints: bool = False  # DRADeviceTaints
    consumable: bool = False  # DRAConsumableCapacity
    binding: bool = False  # DRADeviceBindingConditions

    @property
    def allocator(self) -> str:
        """The first of kube's allocators that supports all gates that are on: with the defaults the experimental one."""
        if self.device_status or self.consumable or self.binding:
            return EXPERIMENTAL
        if self.admin_access or self.prioritized_list or self.partitionable or self.taints:
            return INCUBATING
        return STABLE

    @property
    def experimental(self) -> bool:
        return self.allocator == EXPERIMENTAL


DEFAULT_DEVICE_FEATURES = DeviceFeatures()
