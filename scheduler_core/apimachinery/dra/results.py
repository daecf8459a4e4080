"""The parts of an allocation: devices, configs, and the selector of the nodes that can use the devices.

kube: dynamic-resource-allocation/structured/internal/experimental/allocator_experimental.go (Allocate, createNodeSelector) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.apimachinery.dra.amounts import Amount
from scheduler_core.apimachinery.dra.claims import Allocated, ResourceClaim
from scheduler_core.apimachinery.dra.features import AllocationError, DeviceFeatures
from scheduler_core.apimachinery.dra.slices import Device, DeviceId, ResourceSlice
from scheduler_core.apimachinery.objects.manifest import Manifest

# Which devices are taken: exclusively, or in shares that consume a device's capacity.
#
# Devices of claims with admin access are taken by nobody.
# kube: plugins/dynamicresources/{allocateddevices,dra_manager}.go,
# dynamic-resource-allocation/structured/internal/allocatedstate.go @ v1.34.1

Consumed = Mapping[str, int]  # nanos by capacity


@dataclass(frozen=True, slots=True)
class AllocatedState:
    """The allocated devices: `devices` are exclusively allocated; `capacity` is the capacity that shares of a device consume."""

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
    """Return whether a result allocates only a share of its device."""
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
    """Subtract consumed capacity of a device. Ignores unknown names, and removes a device without consumption."""
    known = capacity.get(device)
    if known is None or consumed is None:
        return
    for name, amount in consumed.items():
        if name in known:
            known[name] -= amount
    if not any(known.values()):
        del capacity[device]


FROM_CLASS, FROM_CLAIM = "FromClass", "FromClaim"


@dataclass(frozen=True, slots=True)
class DeviceResult:
    """One device for one request (`r`, or `r/s` of a subrequest). `shared`: the result gets a shareID when written."""

    request: str
    device: DeviceId
    admin: bool = False
    shared: bool = False
    consumed: tuple[tuple[str, Amount], ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    tolerations: tuple[Manifest, ...] = ()

    def manifest(self, share_id: str | None) -> dict[str, Any]:
        written: dict[str, Any] = {
            "request": self.request,
            "driver": self.device.driver,
            "pool": self.device.pool,
            "device": self.device.device,
        }
        if self.admin:
            written["adminAccess"] = True
        if self.binding_conditions:
            written["bindingConditions"] = list(self.binding_conditions)
        if self.binding_failure_conditions:
            written["bindingFailureConditions"] = list(self.binding_failure_conditions)
        if self.tolerations:
            written["tolerations"] = list(self.tolerations)
        if share_id is not None:
            written["shareID"] = share_id
        if self.consumed:
            written["consumedCapacity"] = {name: amount.text() for name, amount in self.consumed}
        return written

    def text(self) -> str:
        """The result as `request=driver/pool/device`, with its special properties."""
        words = [f"{self.request}={self.device}"]
        if self.admin:
            words.append("admin=true")
        if self.consumed:
            words.append("consumes=" + ",".join(f"{name}:{amount.text()}" for name, amount in sorted(self.consumed)))
        if self.shared:
            words.append("shared")
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class AllocationResult:
    """The allocation of one claim on one node. `node_selector` is None if all nodes can use the devices."""

    devices: tuple[DeviceResult, ...]
    configs: tuple[Manifest, ...] = ()
    node_selector: Manifest | None = None

    def manifest(self, new_share_id: Callable[[], str]) -> dict[str, Any]:
        """status.allocation as kube writes it, but for its timestamp; `new_share_id` is asked once for every share."""
        devices: dict[str, Any] = {}
        if self.devices:
            devices["results"] = [result.manifest(new_share_id() if result.shared else None) for result in self.devices]
        if self.configs:
            devices["config"] = [dict(config) for config in self.configs]
        written: dict[str, Any] = {"devices": devices}
        if self.node_selector is not None:
            written["nodeSelector"] = self.node_selector
        return written

    def texts(self) -> tuple[str, ...]:
        return tuple(result.text() for result in self.devices)


def class_config(config: Manifest) -> Manifest:
    """A class's config applies to all requests, whichever one names the class."""
    return {"source": FROM_CLASS, **config}


def claim_config(config: Manifest) -> Manifest:
    written: dict[str, Any] = {"source": FROM_CLAIM}
    if config.get("requests"):
        written["requests"] = list(config["requests"])
    return written | {name: value for name, value in config.items() if name != "requests"}


def node_selector(
    chosen: Iterable[tuple[ResourceSlice, Device]], node_name: str, features: DeviceFeatures
) -> Manifest | None:
    """Return the selector of the nodes that can use the devices, or None.

    A device of one node, or one that binds to a node, restricts all devices to that node.
    Raise AllocationError if a slice's selector has several terms.
    """
    fields: list[Manifest] = []
    expressions: list[Manifest] = []
    for each, device in chosen:
        scope = device.scope if each.per_device and device.scope is not None else each.scope
        if scope.node_name is not None or (device.binds_to_node and features.experimental):
            return _one_node(node_name if features.experimental or scope.node_name is None else scope.node_name)
        terms = (scope.selector_manifest or {}).get("nodeSelectorTerms") or ()
        if len(terms) > 1:
            raise AllocationError(f"unsupported ResourceSlice.NodeSelector with {len(terms)} terms")
        for term in terms:
            _merge(fields, term.get("matchFields") or ())
            _merge(expressions, term.get("matchExpressions") or ())
    term = {}
    if expressions:
        term["matchExpressions"] = expressions
    if fields:
        term["matchFields"] = fields
    return {"nodeSelectorTerms": [term]} if term else None


def _one_node(name: str) -> Manifest:
    field = {"key": "metadata.name", "operator": "In", "values": [name]}
    return {"nodeSelectorTerms": [{"matchFields": [field]}]}


def _merge(known: list[Manifest], more: Sequence[Manifest]) -> None:
    """Add the requirements that are missing. The order of their values is irrelevant."""
    for requirement in more:
        if not any(_identity(requirement) == _identity(other) for other in known):
            known.append(requirement)


def _identity(requirement: Manifest) -> tuple[Any, Any, frozenset[str]]:
    return requirement.get("key"), requirement.get("operator"), frozenset(requirement.get("values") or ())
