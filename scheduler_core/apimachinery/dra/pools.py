"""Pools: which devices a node reaches, pool by pool, and whether the driver has published all of them.

The order is the product's own where kube's is that of a Go map: slices by name, pools as the first slice of each comes up. What has
binding conditions comes last, slices and pools (the experimental allocator alone).

kube: dynamic-resource-allocation/structured/internal/experimental/pools_experimental.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.dra.errors import AllocationError
from scheduler_core.apimachinery.dra.features import DeviceFeatures
from scheduler_core.apimachinery.dra.slices import NodeScope, PoolId, ResourceSlice
from scheduler_core.apimachinery.objects.labels import aggregate
from scheduler_core.apimachinery.objects.node import Node


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The slices of a pool's newest generation that a node reaches. `invalid` says what is wrong with them ("": nothing)."""

    id: PoolId
    slices: tuple[ResourceSlice, ...]
    incomplete: bool
    invalid: str
    binding: bool


def gather_pools(slices: Iterable[ResourceSlice], node: Node, features: DeviceFeatures) -> list[Pool]:
    """Gather pools from slices ordered by name. Raise AllocationError if a node selector can't be read."""
    by_pool: dict[PoolId, list[ResourceSlice]] = {}
    last: list[ResourceSlice] = []
    for each in slices:
        if not reaches(each, node, features):
            continue
        if each.binding and features.experimental:
            last.append(each)
        else:
            _add(by_pool, each)
    for each in last:
        _add(by_pool, each)
    pools = [_pool(pool_id, members) for pool_id, members in by_pool.items()]
    if features.experimental:
        pools.sort(key=lambda pool: pool.binding)
    return pools


def reaches(each: ResourceSlice, node: Node, features: DeviceFeatures) -> bool:
    if each.per_device is not None and not features.partitionable:
        return False
    try:
        if each.scope.known:
            return scope_matches(each.scope, node)
    except AllocationError as error:
        text = f"failed to perform node selection for slice {each.name}: {error}"
        raise AllocationError(f"gather pool information: {text}") from None
    return bool(each.per_device) and _any_device_reaches(each, node)


def _any_device_reaches(each: ResourceSlice, node: Node) -> bool:
    for device in each.devices:
        try:
            if device.scope is not None and scope_matches(device.scope, node):
                return True
        except AllocationError as error:
            # DEVIATION: kube prints the whole device.
            text = f"failed to perform node selection for device {device.name} in slice {each.name}: {error}"
            raise AllocationError(f"gather pool information: {text}") from None
    return False


def scope_matches(scope: NodeScope, node: Node) -> bool:
    """Return whether a slice or a device is for the node. Raise AllocationError if its node selector can't be read."""
    if scope.node_name:
        return node.name == scope.node_name
    if scope.all_nodes:
        return True
    if scope.selector is None or scope.selector_manifest is None:
        return False
    if errors := scope.selector.errors:
        text = selector_text(scope.selector_manifest)
        raise AllocationError(f"failed to parse node selector {text}: {aggregate(errors)}")
    return scope.selector.matches(node.labels, node.name)


def _add(by_pool: dict[PoolId, list[ResourceSlice]], each: ResourceSlice) -> None:
    """A newer generation replaces all older slices; an older one counts for nothing but the pool's place."""
    members = by_pool.setdefault(each.pool, [])
    if members and each.generation < members[0].generation:
        return
    if members and each.generation > members[0].generation:
        members.clear()
    members.append(each)


def _pool(pool_id: PoolId, members: Sequence[ResourceSlice]) -> Pool:
    return Pool(
        pool_id,
        tuple(members),
        len(members) != members[0].slice_count,
        _twice(members),
        any(each.binding for each in members),
    )


def _twice(members: Sequence[ResourceSlice]) -> str:
    """A device name that is there twice makes a pool invalid."""
    seen: set[str] = set()
    for each in members:
        for device in each.devices:
            if device.name in seen:
                return f"duplicate device name {device.name}"
            seen.add(device.name)
    return ""


def selector_text(selector: Mapping[str, Any]) -> str:
    """A node selector as Go prints its API type."""
    terms = "".join(_term_text(term) + "," for term in selector.get("nodeSelectorTerms") or ())
    return f"&NodeSelector{{NodeSelectorTerms:[]NodeSelectorTerm{{{terms}}},}}"


def _term_text(term: Mapping[str, Any]) -> str:
    parts = []
    for field, name in (("MatchExpressions", "matchExpressions"), ("MatchFields", "matchFields")):
        each = "".join(
            f"NodeSelectorRequirement{{Key:{raw.get('key') or ''},Operator:{raw.get('operator') or ''},"
            f"Values:[{' '.join(raw.get('values') or ())}],}},"
            for raw in term.get(name) or ()
        )
        parts.append(f"{field}:[]NodeSelectorRequirement{{{each}}},")
    return f"NodeSelectorTerm{{{''.join(parts)}}}"
