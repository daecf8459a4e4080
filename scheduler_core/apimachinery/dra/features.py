"""The feature gates of the allocator, and the choice among kube's three allocators.

kube: dynamic-resource-allocation/structured/allocator.go (NewAllocator), internal/types.go @ v1.34.1
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from scheduler_core.base.releases import Behavior

# What was read of a manifest, remembered by the manifest's identity: a stored manifest never changes.

T = TypeVar("T")


class IdentityCache(Generic[T]):
    """A cache of at most `limit` readings by the identity of their manifest. When full, drops the older half. Holds each manifest so that
    its id is not reused.
    """

    __slots__ = ("_found", "_limit")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._found: dict[int, tuple[Mapping[str, Any], T]] = {}

    def of(self, manifest: Mapping[str, Any], read: Callable[[Mapping[str, Any]], T]) -> T:
        """Return the result of `read` for a manifest, calling `read` only on the first use."""
        found = self._found.get(id(manifest))
        if found is not None:
            return found[1]
        reading = read(manifest)
        if len(self._found) >= self._limit:
            for key in list(self._found)[: self._limit // 2]:
                del self._found[key]
        self._found[id(manifest)] = (manifest, reading)
        return reading


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
    behaviors: frozenset[Behavior] = frozenset()  # of the release

    @property
    def allocator(self) -> str:
        """The first of kube's allocators that supports all enabled gates: the experimental one with the defaults of 1.34.

        Since 1.36, the incubating allocator has the features of the earlier experimental one, and the stable one those of the earlier
        incubating one.
        """
        if Behavior.PROMOTED_ALLOCATORS in self.behaviors:
            if self.consumable or (self.binding and self.device_status):
                return EXPERIMENTAL
            if Behavior.DEVICES_IN_ORDER in self.behaviors:
                return INCUBATING
        elif self.device_status or self.consumable or self.binding:
            return EXPERIMENTAL
        if self.admin_access or self.prioritized_list or self.partitionable or self.taints:
            return INCUBATING
        return STABLE

    @property
    def experimental(self) -> bool:
        return self.allocator == EXPERIMENTAL


DEFAULT_DEVICE_FEATURES = DeviceFeatures()
