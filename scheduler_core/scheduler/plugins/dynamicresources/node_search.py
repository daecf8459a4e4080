"""The search for devices by node, with a cache of results that are still valid.

A node's result depends on the Node object, on the slices in reach of the node, on the allocated devices of their pools, on the classes,
and on the requests of the claims; claims with the same requests share results. So after a pod was placed, only its node is searched
again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import merge

import msgspec

from scheduler_core.apimachinery.dra.allocator import MOST_TRIED, Allocator
from scheduler_core.apimachinery.dra.claims import ResourceClaim
from scheduler_core.apimachinery.dra.classes import DeviceClass
from scheduler_core.apimachinery.dra.features import AllocationError, AllocationTimeout, DeviceFeatures
from scheduler_core.apimachinery.dra.results import AllocatedState
from scheduler_core.apimachinery.dra.slices import PoolId, ResourceSlice, reaches
from scheduler_core.apimachinery.dra.taints import Selectors
from scheduler_core.apimachinery.dra.watch import Watch
from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.plugins.dynamicresources.state import NodeAllocation

MOST_REMEMBERED = 16  # kinds of pods; see kind_of


@dataclass(frozen=True, slots=True, eq=False)
class NodeResult:
    """The result of a search on a node: the allocation, or None if the claims can't be allocated, with kube's error if there is one."""

    given: NodeAllocation | None
    error: str = ""
    timed_out: bool = False
    invalid: bool = False  # no allocation was found, and some pools were invalid


NOTHING = NodeResult(None)
INVALID = NodeResult(None, invalid=True)


class Slices:
    """The current slices by node; `shared` slices may be for any node."""

    def __init__(self, slices: Sequence[ResourceSlice]) -> None:
        self.by_name = {each.name: each for each in slices}
        self.by_pool: dict[PoolId, list[ResourceSlice]] = {}
        self.local: dict[str, list[ResourceSlice]] = {}
        self.shared: list[ResourceSlice] = []
        for each in slices:
            self.by_pool.setdefault(each.pool, []).append(each)
            if each.scope.node_name:
                self.local.setdefault(each.scope.node_name, []).append(each)
            else:
                self.shared.append(each)

    def of(self, node: str) -> Sequence[ResourceSlice]:
        """Return the slices in reach of a node, ordered by name."""
        mine = self.local.get(node, ())
        if not self.shared:
            return mine
        return tuple(merge(mine, self.shared, key=lambda each: each.name)) if mine else self.shared


class NodeSearch:
    """The search for devices, with cached results. Not part of the world's state: without the cache, all is searched again."""

    def __init__(self, features: DeviceFeatures, selectors: Selectors) -> None:
        self._features, self._selectors = features, selectors
        self._of_pools = Behavior.COUNTERS_OF_POOLS in features.behaviors
        self._slices = Slices(())
        self._allocated = AllocatedState()
        self._classes: Mapping[str, DeviceClass] = {}
        self._allocator = Allocator(features, self._allocated, {}, selectors)
        self._found: dict[object, dict[str, tuple[Node, NodeResult]]] = {}  # by kind and node

    def prepare(self, allocated: AllocatedState, slices: Slices, classes: Mapping[str, DeviceClass]) -> None:
        """Set the input of the next searches. Classes must correspond to their manifests: the same object is the same class."""
        if allocated is self._allocated and slices is self._slices and classes is self._classes:
            return
        if classes is not self._classes:
            self._found = {}
        if slices is not self._slices:
            self._note_slices(self._slices, slices)
        self._slices = slices
        if allocated is not self._allocated:
            old = self._allocated
            changed = {PoolId(device.driver, device.pool) for device in old.devices ^ allocated.devices}
            if old.capacity != allocated.capacity:
                changed |= {PoolId(device.driver, device.pool) for device in {**old.capacity, **allocated.capacity}}
            for pool in changed:
                for each in self._slices.by_pool.get(pool, ()):
                    self._note(each)
        self._allocated, self._classes = allocated, classes
        self._allocator = Allocator(self._features, allocated, classes, self._selectors, slices.by_pool)

    def kind_of(self, claims: Sequence[ResourceClaim], budget: int = MOST_TRIED) -> object:
        """Return the memory key: the claims' specs and the budget. AllocationErrors name claims, so none are remembered."""
        return (budget, *(msgspec.json.encode(claim.manifest.get("spec") or {}) for claim in claims))

    def find(self, node: Node, claims: Sequence[ResourceClaim], kind: object, budget: int = MOST_TRIED) -> NodeResult:
        """Return the node's allocation, remembered by `kind` (see kind_of)."""
        known = self.recall(kind)
        entry = known.get(node.name)
        if entry is not None and entry[0] is node:
            return entry[1]
        found = self.search(node, claims, budget)
        if not found.error:
            known[node.name] = node, found
        return found

    def recall(self, kind: object) -> dict[str, tuple[Node, NodeResult]]:
        """Return the remembered results of a kind, by node name; a result is valid only for the same Node object."""
        known = self._found.get(kind)
        if known is None:
            if len(self._found) >= MOST_REMEMBERED:
                del self._found[next(iter(self._found))]
            known = self._found[kind] = {}
        return known

    def search(
        self,
        node: Node,
        claims: Sequence[ResourceClaim],
        budget: int = MOST_TRIED,
        watch: Watch | None = None,
        slices: Sequence[ResourceSlice] | None = None,
    ) -> NodeResult:
        """Search without the cache. `slices`, if given, replace the node's slices in name order."""
        try:
            wanted = self._slices.of(node.name) if slices is None else slices
            found = self._allocator.allocate(node, wanted, claims, watch, budget)
            if found.results is None:
                return INVALID if found.invalid else NOTHING
            return NodeResult(NodeAllocation(found.results))
        except AllocationTimeout:
            return NodeResult(None, timed_out=True)
        except AllocationError as problem:
            return NodeResult(None, str(problem))

    def elsewhere(self, allocated: AllocatedState) -> NodeSearch:
        """Return a search with other allocated devices."""
        other = NodeSearch(self._features, self._selectors)
        other.prepare(allocated, self._slices, self._classes)
        return other

    def reaching(self, node: Node) -> Sequence[ResourceSlice]:
        """Return the slices in reach of the node, including old generations, ordered by name."""
        return [each for each in self._slices.of(node.name) if reaches(each, node, self._features)]

    def _note_slices(self, old: Slices, new: Slices) -> None:
        for name in {**old.by_name, **new.by_name}:
            before, after = old.by_name.get(name), new.by_name.get(name)
            if before is not after:
                for each in (before, after):
                    if each is not None:
                        self._note(each)

    def _note(self, each: ResourceSlice) -> None:
        """Forget the results that depend on a slice."""
        pool = self._slices.by_pool.get(each.pool, ()) if self._of_pools else ()
        nodes = {other.scope.node_name for other in (each, *pool)}
        if not all(nodes) or (pool and each.counters):
            self._found = {}
        for known in self._found.values():
            for node in nodes:
                known.pop(node or "", None)
