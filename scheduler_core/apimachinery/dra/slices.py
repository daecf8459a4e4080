"""ResourceSlices: the devices that a driver publishes.

Attributes stay as the manifest has them ({"string": "a"}, {"int": 1} ...), as selectors and constraints read few of
them; what is computed with (capacities, counters) is compiled.

kube: api/resource/v1/types.go, dynamic-resource-allocation/api/types.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from scheduler_core.apimachinery.dra.amounts import Amount
from scheduler_core.apimachinery.dra.features import AllocationError, DeviceFeatures, IdentityCache
from scheduler_core.apimachinery.objects import Manifest, Node, Taint
from scheduler_core.apimachinery.objects.labels import NodeSelector, aggregate
from scheduler_core.base.releases import Behavior

KIND = "ResourceSlice"
_NOTHING: Mapping[str, Any] = {}


class PoolId(NamedTuple):
    """A pool of devices: its driver and its name."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


class DeviceId(NamedTuple):
    """A device in the cluster."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


@dataclass(frozen=True, slots=True)
class DeviceTaint(Taint):
    """A taint of a device, and since when (RFC 3339)."""

    time_added: str = ""

    @classmethod
    def of(cls, raw: Manifest) -> DeviceTaint:
        return cls(*(str(raw.get(name) or "") for name in ("key", "value", "effect", "timeAdded")))


@dataclass(frozen=True, slots=True)
class ValidRange:
    min: Amount | None
    max: Amount | None
    step: Amount | None


@dataclass(frozen=True, slots=True)
class RequestPolicy:
    """The amounts of a capacity that may be consumed."""

    default: Amount | None
    values: tuple[Amount, ...] | None
    range: ValidRange | None


@dataclass(frozen=True, slots=True)
class Capacity:
    value: Amount
    policy: RequestPolicy | None


@dataclass(frozen=True, slots=True)
class Counters:
    """Shared counters of a slice: those of a set, or those that a device consumes."""

    name: str
    amounts: tuple[tuple[str, int], ...]  # name, nanos


@dataclass(frozen=True, slots=True)
class NodeScope:
    """The nodes that reach a slice or a device. `node_name` is None if the field is absent."""

    node_name: str | None
    all_nodes: bool
    selector: NodeSelector | None
    selector_manifest: Manifest | None

    @classmethod
    def of(cls, raw: Manifest) -> NodeScope:
        selector = raw.get("nodeSelector")
        return cls(
            raw.get("nodeName"),
            bool(raw.get("allNodes")),
            None if selector is None else NodeSelector.of(selector),
            selector,
        )

    @property
    def known(self) -> bool:
        """True if the scope names nodes in any way."""
        return bool(self.node_name) or self.all_nodes or self.selector is not None


@dataclass(frozen=True, slots=True, eq=False)
class Device:
    """A device. `attributes` and `capacity_manifest` are as in the manifest. Two Devices are equal only if they are the same object.

    `binding_conditions` is None if the field is absent.
    """

    id: DeviceId
    index: int
    manifest: Manifest
    attributes: Mapping[str, Manifest]
    capacity: Mapping[str, Capacity]
    counters: tuple[Counters, ...]
    scope: NodeScope | None
    taints: tuple[DeviceTaint, ...]
    binds_to_node: bool
    binding_conditions: tuple[str, ...] | None
    binding_failure_conditions: tuple[str, ...]
    allows_multiple: bool | None

    @property
    def name(self) -> str:
        return self.id.device

    @property
    def capacity_manifest(self) -> Mapping[str, Manifest]:
        return self.manifest.get("capacity") or _NOTHING


@dataclass(frozen=True, slots=True, eq=False)
class ResourceSlice:
    """A ResourceSlice. `per_device` (perDeviceNodeSelection) is None if the field is absent."""

    manifest: Manifest
    name: str
    pool: PoolId
    generation: int
    slice_count: int
    scope: NodeScope
    per_device: bool | None
    devices: tuple[Device, ...]
    counters: tuple[Counters, ...]
    binding: bool  # whether any device says something about binding conditions

    @property
    def driver(self) -> str:
        return self.pool.driver

    @classmethod
    def of(cls, manifest: Manifest) -> ResourceSlice:
        """Read once per manifest."""
        return _SLICES.of(manifest, cls.from_manifest)

    @classmethod
    def from_manifest(cls, manifest: Manifest) -> ResourceSlice:
        spec = manifest.get("spec") or _NOTHING
        pool = spec.get("pool") or _NOTHING
        pool_id = PoolId(spec.get("driver") or "", pool.get("name") or "")
        per_device = spec.get("perDeviceNodeSelection")
        devices = tuple(
            _device(pool_id, index, raw, bool(per_device)) for index, raw in enumerate(spec.get("devices") or ())
        )
        return cls(
            manifest,
            (manifest.get("metadata") or _NOTHING).get("name") or "",
            pool_id,
            int(pool.get("generation") or 0),
            int(pool.get("resourceSliceCount") or 0),
            NodeScope.of(spec),
            per_device,
            devices,
            tuple(_counters(raw, "name") for raw in spec.get("sharedCounters") or ()),
            any(device.binding_conditions is not None for device in devices),
        )


def _device(pool: PoolId, index: int, raw: Manifest, scoped: bool) -> Device:
    conditions = raw.get("bindingConditions")
    return Device(
        DeviceId(pool.driver, pool.pool, raw.get("name") or ""),
        index,
        raw,
        raw.get("attributes") or _NOTHING,
        {name: _capacity(each) for name, each in (raw.get("capacity") or _NOTHING).items()},
        tuple(_counters(each, "counterSet") for each in raw.get("consumesCounters") or ()),
        NodeScope.of(raw) if scoped else None,
        tuple(DeviceTaint.of(taint) for taint in raw.get("taints") or ()),
        bool(raw.get("bindsToNode")),
        None if conditions is None else tuple(conditions),
        tuple(raw.get("bindingFailureConditions") or ()),
        raw.get("allowMultipleAllocations"),
    )


def _capacity(raw: Manifest) -> Capacity:
    policy = raw.get("requestPolicy")
    return Capacity(Amount.of(raw.get("value")), None if policy is None else _policy(policy))


def _policy(raw: Manifest) -> RequestPolicy:
    values, limits = raw.get("validValues"), raw.get("validRange")
    return RequestPolicy(
        _optional(raw, "default"),
        None if values is None else tuple(Amount.of(value) for value in values),
        None
        if limits is None
        else ValidRange(_optional(limits, "min"), _optional(limits, "max"), _optional(limits, "step")),
    )


def _optional(raw: Manifest, name: str) -> Amount | None:
    value = raw.get(name)
    return None if value is None else Amount.of(value)


def _counters(raw: Manifest, name: str) -> Counters:
    amounts = raw.get("counters") or _NOTHING
    return Counters(
        raw.get(name) or "",
        tuple((key, Amount.of((each or _NOTHING).get("value")).nanos) for key, each in amounts.items()),
    )


_SLICES: IdentityCache[ResourceSlice] = IdentityCache(8192)

# Pools: which devices a node reaches, pool by pool, and whether the driver has published all of them.
#
# The order is the product's own where kube's is that of a Go map: slices by name, pools as the first slice of each comes up. What has
# binding conditions comes last, slices and pools (the experimental allocator alone).
# kube: dynamic-resource-allocation/structured/internal/experimental/pools_experimental.go @ v1.34.1


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The slices of a pool's newest generation that a node can access. `invalid` is the pool's error ("": none).

    `counted` are the slices with devices that may consume counters, and `counters` the counter sets if these belong to the pool.
    """

    id: PoolId
    slices: tuple[ResourceSlice, ...]
    incomplete: bool
    invalid: str
    binding: bool
    counted: tuple[ResourceSlice, ...] = ()
    counters: tuple[Counters, ...] = ()


_NO_SLICES: Mapping[PoolId, Sequence[ResourceSlice]] = {}


def gather_pools(
    slices: Iterable[ResourceSlice],
    node: Node,
    features: DeviceFeatures,
    everything: Mapping[PoolId, Sequence[ResourceSlice]] = _NO_SLICES,
) -> list[Pool]:
    """Gather pools from slices ordered by name. Raise AllocationError if a node selector can't be read.

    `everything` has all slices by pool, whatever nodes they are for.
    """
    by_pool: dict[PoolId, list[ResourceSlice]] = {}
    last: list[ResourceSlice] = []
    everywhere: set[str] = set()
    whole_pools = Behavior.COUNTERS_OF_POOLS in features.behaviors
    if whole_pools and features.partitionable and Behavior.COUNTERS_BY_NODE not in features.behaviors:
        found = {each.name: each for pool in everything.values() for each in pool if each.counters}
        everywhere = set(found)
        slices = sorted((found | {each.name: each for each in slices}).values(), key=lambda each: each.name)
    for each in slices:
        if each.name not in everywhere and not reaches(each, node, features):
            continue
        if each.binding and features.experimental:
            last.append(each)
        else:
            _add(by_pool, each)
    for each in last:
        _add(by_pool, each)
    if whole_pools:
        every = ((pool_id, members, everything.get(pool_id, members)) for pool_id, members in by_pool.items())
        made = (_whole_pool(*each, features.partitionable) for each in every)
        pools = [pool for pool in made if pool is not None]
        if Behavior.DEVICES_IN_ORDER in features.behaviors:
            pools.sort(key=lambda pool: pool.id)
    else:
        pools = [_pool(pool_id, members) for pool_id, members in by_pool.items()]
    if features.experimental:
        pools.sort(key=lambda pool: pool.binding)
    return pools


def reaches(each: ResourceSlice, node: Node, features: DeviceFeatures) -> bool:
    apart = each.counters and Behavior.COUNTERS_OF_POOLS in features.behaviors
    # kube passes over a whole slice that has fields of a feature that is off, and looks at none of its devices.
    if (each.per_device is not None or apart) and not features.partitionable:
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
    """Return whether a node can access a slice or a device. Raise AllocationError if the node selector is invalid."""
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
    """Add a slice to its pool. A newer generation replaces all older slices; an older slice only keeps the pool's position."""
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


def _whole_pool(
    pool_id: PoolId, members: Sequence[ResourceSlice], everything: Sequence[ResourceSlice], partitionable: bool
) -> Pool | None:
    """Return a pool as 1.35 and later releases see it; None where a newer generation, for other nodes, replaces it."""
    generation, complete = members[0].generation, len(members) == members[0].slice_count
    if not complete and any(each.generation > generation for each in everything):
        return None
    same = [each for each in everything if each.generation == generation]
    if not complete and len(same) != members[0].slice_count:
        return Pool(pool_id, (), True, "", False)
    devices = tuple(each for each in members if not each.counters)
    counters = tuple(counters for each in same for counters in each.counters)
    counted = tuple(each for each in same if not each.counters)
    invalid = _twice(devices) or (_find_counter_problem(counters, counted) if partitionable else "")
    return Pool(pool_id, devices, False, invalid, any(each.binding for each in devices), counted, counters)


def _find_counter_problem(counters: Sequence[Counters], counted: Sequence[ResourceSlice]) -> str:
    """Return the error of the counter sets or of their consumption by devices, or ""."""
    known = {each.name: {name for name, _ in each.amounts} for each in counters}
    if len(known) < len(counters):
        names = [each.name for each in counters]
        return f"duplicate counter set name {next(name for name in names if names.count(name) > 1)}"
    for taken in (taken for each in counted for device in each.devices for taken in device.counters):
        if taken.name not in known:
            return f"counter set {taken.name} not found"
        for name, _ in taken.amounts:
            if name not in known[taken.name]:
                return f"counter {name} not found in counter set {taken.name}"
    return ""


def _twice(members: Sequence[ResourceSlice]) -> str:
    """Return the error of a duplicate device name, which makes a pool invalid, or ""."""
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
