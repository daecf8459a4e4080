"""What one allocation on one node knows, and what is asked of single devices.

kube: dynamic-resource-allocation/structured/internal/experimental/allocator_experimental.go (isSelectable, selectorsMatch) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scheduler_core.apimachinery.dra.amounts import format_nanos
from scheduler_core.apimachinery.dra.claims import Ask, Request, ResourceClaim
from scheduler_core.apimachinery.dra.classes import DeviceClass
from scheduler_core.apimachinery.dra.features import AllocationError, AllocationTimeout, DeviceFeatures, SelectorError
from scheduler_core.apimachinery.dra.results import AllocatedState
from scheduler_core.apimachinery.dra.search.constraints import consumption, fits
from scheduler_core.apimachinery.dra.slices import Device, DeviceId, Pool, ResourceSlice, scope_matches
from scheduler_core.apimachinery.dra.taints import Selectors
from scheduler_core.apimachinery.dra.watch import Watch
from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.base.releases import Behavior

# The requests of the claims that are to be allocated, checked before the search begins.
#
# How many devices each needs is known then; of a request for all devices, which ones.
#
# kube: dynamic-resource-allocation/structured/internal/experimental/allocator_experimental.go (Allocate, validateDeviceRequest) @ v1.34.1


class RequestKey(NamedTuple):
    """A request, or one of its subrequests, by its place."""

    claim: int
    request: int
    sub: int = 0


class Candidate(NamedTuple):
    """A device, and the slice that it is in."""

    slice: ResourceSlice
    device: Device


@dataclass(slots=True)
class Wanted:
    """The needs of a request or a subrequest (then `parent` is its request). `selected`, of subrequest 0: the chosen one."""

    ask: Ask
    parent: Request | None
    device_class: DeviceClass
    count: int = 0
    all: Sequence[Candidate] = ()
    selected: int = 0

    @property
    def base_name(self) -> str:
        return self.ask.name if self.parent is None else self.parent.name

    @property
    def sub_name(self) -> str:
        return "" if self.parent is None else self.ask.name

    @property
    def result_name(self) -> str:
        return self.ask.name if self.parent is None else f"{self.parent.name}/{self.ask.name}"


def asks_of(request: Request) -> Iterator[Ask]:
    if request.exactly is not None:
        yield request.exactly
    yield from request.alternatives


def label(claim: ResourceClaim, name: str) -> str:
    """Return the name of a request in kube's messages."""
    return f"claim {claim.key}, request {name}"


MOST_LOOKED = 1_000_000  # devices of one node that are really looked at

_NOTHING: dict[str, int] = {}
_HINT = ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"


@dataclass(slots=True)
class Attempt:
    """`budget`: how many devices may be tried until time is up. `tried`: how many were, of them `skipped` as the outcome was known."""

    features: DeviceFeatures
    state: AllocatedState
    classes: Mapping[str, DeviceClass]
    selectors: Selectors
    node: Node
    claims: Sequence[ResourceClaim]
    pools: Sequence[Pool]
    budget: int
    watch: Watch | None = None
    tried: int = 0
    skipped: int = 0
    allocating: dict[DeviceId, dict[str, int]] = field(default_factory=dict)  # shares being allocated
    _matches: dict[RequestKey, dict[DeviceId, bool]] = field(default_factory=dict)
    candidates: list[Candidate] = field(init=False)  # all devices of the pools that are searched
    broken: dict[int, str] = field(init=False)  # errors that the search ends with, by place
    fractions: bool = field(init=False)
    in_order: bool = field(init=False)
    skips_pools: bool = field(init=False)
    _names_devices: bool = field(init=False)

    def __post_init__(self) -> None:
        self.fractions = Behavior.ALL_BY_SIZE in self.features.behaviors
        self._names_devices = Behavior.SELECTORS_NAME_DEVICES in self.features.behaviors
        self.in_order = Behavior.DEVICES_IN_ORDER in self.features.behaviors
        self.skips_pools = Behavior.INVALID_POOLS_SKIPPED in self.features.behaviors
        self.candidates, self.broken = [], {}
        for pool in self.pools:
            if pool.invalid and not self.skips_pools:
                self.broken.setdefault(len(self.candidates), f"pool {pool.id.pool} is invalid: {pool.invalid}")
            elif not pool.invalid and not (pool.incomplete and self.skips_pools):
                self.candidates += (Candidate(each, device) for each in pool.slices for device in each.devices)

    def check_time(self) -> None:
        """AllocationTimeout where it is up; kube looks before each step of the search."""
        if self.tried > self.budget or self.looked > MOST_LOOKED:
            raise AllocationTimeout

    @property
    def looked(self) -> int:
        return self.tried - self.skipped

    def skip(self, tries: int) -> None:
        """Count the tries of a situation again that was tried before, as kube tries it again."""
        self.tried += tries
        self.skipped += tries
        self.check_time()

    def forget_matches(self) -> None:
        self._matches = {}

    def known_matches(self, key: RequestKey) -> Mapping[DeviceId, bool]:
        """Return whether devices suit a request, by device, for the devices checked so far."""
        return self._matches.get(key) or {}

    def selectable(
        self, key: RequestKey, ask: Ask, device_class: DeviceClass, each: ResourceSlice, device: Device
    ) -> bool:
        """Return whether a device suits a request, whatever else is allocated; checked once per request and device."""
        if device.binding_conditions and not (self.features.binding and self.features.device_status):
            if self.watch is not None:
                self.watch.check("binding", False)
            return False
        known = self._matches.setdefault(key, {})
        found = known.get(device.id)
        if found is None:
            found = known[device.id] = self._suits(key, ask, device_class, each, device)
        elif self.watch is not None:
            self.watch.check("remembered", found)
        return found

    def _suits(self, key: RequestKey, ask: Ask, device_class: DeviceClass, each: ResourceSlice, device: Device) -> bool:
        claim = f"claim {self.claims[key.claim].key}"
        if not self._selected(f"class {device_class.name}", device_class.selectors, device):
            return False
        if not self._selected(claim, ask.selectors, device):
            return False
        if not each.per_device:
            return True
        reaches = device.scope is not None and scope_matches(device.scope, self.node)
        if self.watch is not None:
            self.watch.check("node", reaches)
        return reaches

    def _selected(self, owner: str, expressions: Sequence[str | None], device: Device) -> bool:
        """Return whether all expressions of a class or of a request select the device. Raise AllocationError on failure."""
        for index, expression in enumerate(expressions):
            assert expression is not None or owner.startswith("class")  # a claim's are checked before
            try:
                matches = self.selectors.matches(expression or "", device)
            except SelectorError as error:
                named = self._names_devices and error.kind == "runtime"
                at = f" on device {device.id}" if named else ""
                hint = _HINT if named and "no such key:" in str(error) else ""
                text = f"{owner}: selector #{index}{at}: CEL {error.kind} error: {error}{hint}"
                self._show_selector(owner, index, expression or "", device, False, str(error))
                raise AllocationError(text) from None
            self._show_selector(owner, index, expression or "", device, matches, "")
            if not matches:
                return False
        return True

    def _show_selector(self, owner: str, index: int, expression: str, device: Device, passed: bool, error: str) -> None:
        if self.watch is not None:
            values = self.selectors.values(expression, device)
            self.watch.check(
                "selector", passed, owner=owner, index=index, expression=expression, values=values, error=error
            )

    def has_capacity(self, ask: Ask, device: Device) -> bool:
        """Return whether the capacity that other claims leave of the device is enough."""
        consumed = self.state.capacity.get(device.id, _NOTHING)
        allocating = self.allocating.get(device.id, _NOTHING)
        passed = fits(ask, device.capacity, consumed, allocating, self.fractions)
        if self.watch is not None and (ask.asked or device.capacity):
            amounts = {
                name: {
                    "wanted": consumption(ask.asked.get(name), each, self.fractions).text(),
                    "taken": format_nanos(consumed.get(name, 0) + allocating.get(name, 0)),
                    "of": each.value.text(),
                }
                for name, each in device.capacity.items()
            }
            self.watch.check("capacity", passed, amounts=amounts)
        return passed
