"""What drivers publish, over all nodes: pools with their newest generation, and what is wrong with them.

kube: dynamic-resource-allocation/structured/internal/experimental/pools_experimental.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from scheduler_core.apimachinery.dra.features import AllocationError
from scheduler_core.apimachinery.dra.slices import Device, PoolId, ResourceSlice, scope_matches
from scheduler_core.apimachinery.objects.node import Node


@dataclass(frozen=True, slots=True, eq=False)
class PublishedPool:
    """`slices` are those of the newest `generation`, `older` the names of others; `expected`: how many the driver says there are.

    `twice`: a device name that is there twice, which makes the pool invalid ("": none).
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
class Published:
    """`local` are the slices of one node each, by its name; `shared` those that may be for any. Of newest generations alone."""

    pools: tuple[PublishedPool, ...]
    local: dict[str, list[ResourceSlice]] = field(default_factory=dict)
    shared: list[ResourceSlice] = field(default_factory=list)

    @classmethod
    def of(cls, slices: Iterable[ResourceSlice]) -> Published:
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
        """The devices that a node reaches, slice by slice."""
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
    """A selector that can't be read reaches nobody."""
    scope = device.scope if each.per_device and device.scope is not None else each.scope
    try:
        return scope_matches(scope, node)
    except AllocationError:
        return False
