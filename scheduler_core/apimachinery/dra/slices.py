"""ResourceSlices: the devices that a driver publishes.

Attributes stay as the manifest has them ({"string": "a"}, {"int": 1} ...), as selectors and constraints read few of
them; what is computed with (capacities, counters) is compiled.

kube: api/resource/v1/types.go, dynamic-resource-allocation/api/types.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from scheduler_core.apimachinery.dra.amounts import Amount
from scheduler_core.apimachinery.dra.parsed import ByIdentity
from scheduler_core.apimachinery.objects.labels import NodeSelector
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.node import Taint

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
        """Return whether any of the ways to name nodes is used."""
        return bool(self.node_name) or self.all_nodes or self.selector is not None


@dataclass(frozen=True, slots=True, eq=False)
class Device:
    """`attributes` and `capacity_manifest` are as the manifest has them; two Devices are equal where they are the same object.

    `binding_conditions` is None where the field is absent.
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
    """`per_device` (perDeviceNodeSelection) is None where the field is absent."""

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


_SLICES: ByIdentity[ResourceSlice] = ByIdentity(8192)
