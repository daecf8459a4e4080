"""The state of one allocation on one node, and the checks of single devices.

kube: dynamic-resource-allocation/structured/internal/experimental/allocator_experimental.go (isSelectable, selectorsMatch) @ v1.34.1
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from scheduler_core.apimachinery.dra.amounts import format_nanos
from scheduler_core.apimachinery.dra.claims import ALL, EXACT_COUNT, MAX_RESULTS, Ask, Request, ResourceClaim
from scheduler_core.apimachinery.dra.classes import DeviceClass
from scheduler_core.apimachinery.dra.features import AllocationError, AllocationTimeout, DeviceFeatures, SelectorError
from scheduler_core.apimachinery.dra.results import AllocatedState
from scheduler_core.apimachinery.dra.search.constraints import Constraint, constraint_of, consumption, fits
from scheduler_core.apimachinery.dra.slices import Device, DeviceId, Pool, ResourceSlice, scope_matches
from scheduler_core.apimachinery.dra.taints import Selectors
from scheduler_core.apimachinery.dra.watch import FOUND, NONE, Watch
from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.base.releases import Behavior

# The requests of the claims that are to be allocated, checked before the search begins.
#
# How many devices each needs is known then; of a request for all devices, which ones.
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
class RequestNeeds:
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
    """One allocation on one node. `budget`: the number of devices that may be tried before the timeout. `tried`: the number of devices
    tried; of these, `skipped` had a known outcome.
    """

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
        """Return whether devices match a request, by device, for the devices checked so far."""
        return self._matches.get(key) or {}

    def selectable(
        self, key: RequestKey, ask: Ask, device_class: DeviceClass, each: ResourceSlice, device: Device
    ) -> bool:
        """Return whether a device matches a request, regardless of other allocations. Each request and device is checked once."""
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
        if not self._selects(f"class {device_class.name}", device_class.selectors, device):
            return False
        if not self._selects(claim, ask.selectors, device):
            return False
        if not each.per_device:
            return True
        reaches = device.scope is not None and scope_matches(device.scope, self.node)
        if self.watch is not None:
            self.watch.check("node", reaches)
        return reaches

    def _selects(self, owner: str, expressions: Sequence[str | None], device: Device) -> bool:
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
        """Return whether the device has enough capacity besides that of other claims."""
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


# The checks before the search: are the claims such that they can be handled, and how many devices do they need.
#
# A request for all devices gathers them here. The way in which kube numbers subrequests meanwhile is kept: the second one finds the answers
# that the first one left, as its number is only set afterwards.
# kube: dynamic-resource-allocation/structured/internal/experimental/allocator_experimental.go (Allocate, validateDeviceRequest) @ v1.34.1

WantedByKey = dict[RequestKey, RequestNeeds]


def prepare(attempt: Attempt) -> tuple[WantedByKey, list[list[Constraint]]]:
    """Return the needs of each request, and each claim's constraints. Raise AllocationError if a claim can't be handled."""
    wanted: WantedByKey = {}
    constraints = []
    for index, claim in enumerate(attempt.claims):
        least = 0
        named = Behavior.SELECTORS_NAME_DEVICES in attempt.features.behaviors
        for number, request in enumerate(claim.requests):
            more = _prepare_request(attempt, wanted, index, number)
            if named and least + more > MAX_RESULTS:
                limit = f"the claim limit of {MAX_RESULTS}, with {least} already accounted for"
                raise AllocationError(f"{label(claim, request.name)}: adding {more} devices exceeds {limit}")
            least += more
        if least > MAX_RESULTS:
            text = f"number of requested devices {least} exceeds the claim limit of {MAX_RESULTS}"
            raise AllocationError(f"claim {claim.key}: {text}")
        constraints.append(_constraints(attempt, claim))
    attempt.forget_matches()
    return wanted, constraints


def _prepare_request(attempt: Attempt, wanted: WantedByKey, claim_index: int, number: int) -> int:
    """Add the request to `wanted`; return the minimum number of devices that it needs."""
    claim = attempt.claims[claim_index]
    request = claim.requests[number]
    _check_gates(attempt, claim, request)
    key = RequestKey(claim_index, number)
    if not request.alternatives:
        if request.exactly is None:
            raise AllocationError(f"{label(claim, request.name)}: missing device class name")
        wanted[key] = _validate_request(attempt, key, request.exactly, None)
        return wanted[key].count
    counts = []
    numbered = Behavior.DEVICES_IN_ORDER in attempt.features.behaviors
    for sub, ask in enumerate(request.alternatives):
        own = RequestKey(claim_index, number, sub)
        found = _validate_request(attempt, own if numbered else key, ask, request)
        key = own
        wanted[key] = found
        counts.append(found.count)
    return min(counts)


def _check_gates(attempt: Attempt, claim: ResourceClaim, request: Request) -> None:
    features, where = attempt.features, label(claim, request.name)
    if request.alternatives and not features.prioritized_list:
        raise AllocationError(f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled")
    if not features.experimental or features.consumable:
        return
    if any(ask.capacity is not None for ask in asks_of(request)):
        raise AllocationError(f"{where}: has capacity requests, but the DRAConsumableCapacity feature is disabled")


def _validate_request(attempt: Attempt, key: RequestKey, ask: Ask, parent: Request | None) -> RequestNeeds:
    where = label(attempt.claims[key.claim], ask.name)
    for index, selector in enumerate(ask.selectors):
        if selector is None:
            text = f"selector #{index}: CEL expression empty (unsupported selector type?)"
            raise AllocationError(f"{where}, {text}")
    if ask.admin is not None and not attempt.features.admin_access:
        raise AllocationError(f"{where}: admin access is requested, but the feature is disabled")
    if not ask.class_name:
        raise AllocationError(f"{where}: missing device class name (unsupported request type?)")
    device_class = attempt.classes.get(ask.class_name)
    if device_class is None:
        text = f'deviceclass.resource.k8s.io "{ask.class_name}" not found'
        raise AllocationError(f"{where}: could not retrieve device class {ask.class_name}: {text}")
    wanted = RequestNeeds(ask, parent, device_class)
    if ask.mode == EXACT_COUNT:
        wanted.count = ask.count
    elif ask.mode == ALL:
        wanted.all = _gather_all(attempt, key, wanted, where)
        wanted.count = len(wanted.all)
    else:
        raise AllocationError(f"{where}: unsupported count mode {ask.mode}")
    return wanted


def _gather_all(attempt: Attempt, key: RequestKey, wanted: RequestNeeds, where: str) -> list[Candidate]:
    """Return all matching devices, whether in use or not. Raise AllocationError if any pool is incomplete or invalid."""
    found: list[Candidate] = []
    watch = attempt.watch
    if watch is not None:
        watch.begin("all", claim=attempt.claims[key.claim].key, request=wanted.result_name)
    for pool in attempt.pools:
        if pool.incomplete or pool.invalid:
            state = "being updated" if pool.incomplete else "invalid"
            text = f"asks for all devices, but resource pool {pool.id} is currently {state}"
            raise AllocationError(f"{where}: {text}")
        for each in pool.slices:
            found += [Candidate(each, d) for d in each.devices if _is_one(attempt, key, wanted, Candidate(each, d))]
    if watch is not None:
        watch.end(FOUND if found else NONE, count=len(found))
    return found


def _is_one(attempt: Attempt, key: RequestKey, wanted: RequestNeeds, candidate: Candidate) -> bool:
    attempt.tried += 1
    watch = attempt.watch
    if watch is not None:
        watch.begin("device", device=str(candidate.device.id))
    enough = partial(fits, capacity=candidate.device.capacity, fractions=True) if attempt.fractions else None
    passes = attempt.selectable(key, wanted.ask, wanted.device_class, candidate.slice, candidate.device) and (
        not attempt.features.consumable
        or (enough(wanted.ask) if enough is not None else attempt.has_capacity(wanted.ask, candidate.device))
    )
    if watch is not None:
        watch.end(FOUND if passes else NONE)
    return passes


def _constraints(attempt: Attempt, claim: ResourceClaim) -> list[Constraint]:
    made = []
    for index, constraint in enumerate(claim.constraints):
        known = constraint_of(constraint, attempt.features.experimental, attempt.features.behaviors)
        if known is None:
            text = f"constraint #{index}: empty constraint (unsupported constraint type?)"
            raise AllocationError(f"claim {claim.key}, {text}")
        made.append(known)
    return made
