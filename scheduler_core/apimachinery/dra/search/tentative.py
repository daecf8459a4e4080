"""The devices that the search has chosen so far: to choose one more, and to take the last one back.

Where kube forgets to give something back it is forgotten here too: counters of a device whose taints or constraints speak against it, and
all that was noted of a device whose capacity does not suffice after all.

kube: dynamic-resource-allocation/structured/internal/experimental/allocator_experimental.go (allocateDevice) @ v1.34.1
"""

from dataclasses import dataclass
from typing import NamedTuple

from scheduler_core.apimachinery.dra.amounts import Amount, format_nanos
from scheduler_core.apimachinery.dra.claims import Ask
from scheduler_core.apimachinery.dra.features import AllocationError
from scheduler_core.apimachinery.dra.results import add_consumed, remove_consumed
from scheduler_core.apimachinery.dra.search.attempt import Attempt, RequestKey, RequestNeeds, label
from scheduler_core.apimachinery.dra.search.constraints import (
    Amounts,
    Constraint,
    CounterBook,
    available_counters,
    consumptions,
    find_attribute,
    list_consumed_counters,
)
from scheduler_core.apimachinery.dra.slices import Device, DeviceId, ResourceSlice
from scheduler_core.base.releases import Behavior


class Position(NamedTuple):
    """The position of the search: a claim, request, subrequest, and the index of the device."""

    claim: int = 0
    request: int = 0
    sub: int = 0
    device: int = 0
    start: int = 0  # the place of the first device that is tried, where they are tried in their order

    @property
    def key(self) -> RequestKey:
        return RequestKey(self.claim, self.request, self.sub)


@dataclass(frozen=True, slots=True, eq=False)
class ChosenDevice:
    """A device chosen for a request. `consumed` is the capacity that a share consumes; None for an exclusive device."""

    slice: ResourceSlice
    device: Device
    wanted: RequestNeeds
    consumed: dict[str, Amount] | None
    counted: bool = True  # whether its counters were taken


class Tentative:
    """The devices chosen so far. `results`: the choices by claim. `counters`: their consumption. `left`: the counters by slice that
    allocated devices leave.

    `forgotten` counts resources that were not released.
    """

    def __init__(self, attempt: Attempt, constraints: list[list[Constraint]], left: dict[object, Amounts]) -> None:
        self.results: list[list[ChosenDevice]] = [[] for _ in attempt.claims]
        self._attempt = attempt
        self._features = attempt.features
        self._allocated = attempt.state.devices
        self._constraints = constraints
        self.counters = CounterBook()
        self._left = left
        self._users: dict[DeviceId, set[int]] = {}  # claims for which a device was chosen
        self._numbers: dict[DeviceId, int] = {}  # of devices that were ever chosen
        self._chosen = [0] * len(attempt.claims)  # the same as _users, by claim, as bits of these numbers
        self._shares: dict[DeviceId, int] = {}  # how often a device was chosen to be shared
        self.forgotten = 0
        behaviors = attempt.features.behaviors
        pools = attempt.pools if Behavior.COUNTERS_OF_POOLS in behaviors else ()
        self._pools = {pool.id: pool for pool in pools}
        self._own_capacity = Behavior.OWN_CAPACITY in behaviors
        self._returns = Behavior.REFUSED_DEVICES_RETURN in behaviors
        self._tells = Behavior.RESULT_TOLERATIONS in behaviors

    def fingerprint(self, claim: int) -> tuple[object, ...]:
        """Return the parts of the choices that decide which devices a claim and its successors can still find."""
        constraints = tuple([constraint.state() for constraint in self._constraints[claim]])
        shares: tuple[object, ...] = ()
        if self._shares:
            amounts = self._attempt.allocating
            shares = tuple(
                sorted((each, n, tuple(sorted(amounts.get(each, {}).items()))) for each, n in self._shares.items())
            )
        return tuple(self._chosen), len(self.results[claim]), constraints, shares, self.forgotten

    def in_use(self, claim: int, ask: Ask, device: DeviceId) -> bool:
        """Return whether a device is unavailable: with admin access, only if the claim itself has it already."""
        if ask.admin:
            return claim in self._users.get(device, ())
        return device in self._allocated or bool(self._users.get(device))

    def take(
        self, at: Position, wanted: RequestNeeds, each: ResourceSlice, device: Device, must: bool
    ) -> ChosenDevice | None:
        """Choose a device, or return None if it is unavailable. `must`: raise AllocationError if a constraint forbids the device."""
        share = self._features.consumable and bool(device.allows_multiple)
        if not (share and wanted.ask.admin) and self.in_use(at.claim, wanted.ask, device.id):
            self._note_refusal("in-use")
            return None
        counted = bool(device.counters) and not (share and self._pools and self._is_shared(device.id))
        if counted and not self._counters_suffice(each, device):
            return None
        if (self._features.taints and not self._tolerates(wanted.ask, device)) or not self._add_to_constraints(
            at, wanted, device, must
        ):
            if counted and self._returns:
                self.counters.give_back(self._place(each), device)
            self.forgotten += counted and not self._returns
            return None
        if share:
            self._shares[device.id] = self._shares.get(device.id, 0) + 1
        else:
            self._users.setdefault(device.id, set()).add(at.claim)
            self._chosen[at.claim] |= 1 << self._numbers.setdefault(device.id, len(self._numbers))
        consumed = None
        if self._features.consumable:
            # kube asks for the how manieth device of the slice, not for this one. DEVIATION: beyond the slice's end it crashes.
            other = not self._own_capacity and at.device < len(each.devices)
            if not self._attempt.has_capacity(wanted.ask, each.devices[at.device] if other else device):
                if self._returns:
                    self._release(at, ChosenDevice(each, device, wanted, {} if share else None, counted))
                self.forgotten += not self._returns
                return None
            if share:
                consumed = consumptions(wanted.ask, device.capacity, self._attempt.fractions)
                add_consumed(self._attempt.allocating, device.id, _nanos(consumed))
        taken = ChosenDevice(each, device, wanted, consumed, counted)
        self.results[at.claim].append(taken)
        return taken

    def undo(self, at: Position, taken: ChosenDevice) -> None:
        """Undo the last choice."""
        self._release(at, taken)
        self.results[at.claim].pop()

    def _release(self, at: Position, taken: ChosenDevice) -> None:
        device, wanted = taken.device, taken.wanted
        for constraint in self._constraints[at.claim]:
            constraint.remove(wanted.base_name, wanted.sub_name, device)
        if device.id in self._users:
            self._users[device.id].discard(at.claim)
            self._chosen[at.claim] &= ~(1 << self._numbers[device.id])
        if taken.consumed is not None:
            remove_consumed(self._attempt.allocating, device.id, _nanos(taken.consumed))
            self._shares[device.id] -= 1
            if not self._returns:
                self.forgotten += bool(device.counters)
        if taken.counted and device.counters and (taken.consumed is None or self._returns):
            self.counters.give_back(self._place(taken.slice), device)

    def _is_shared(self, device: DeviceId) -> bool:
        """Return whether some capacity of a device is in use, so that its counters are already consumed."""
        return device in self._attempt.state.capacity or self._shares.get(device, 0) > 0

    def _place(self, each: ResourceSlice) -> object:
        """Return the owner of a device's counters: its pool, or before 1.35 its slice."""
        return each.pool if self._pools else each.name

    def _read_counters(self, each: ResourceSlice) -> Amounts:
        pool = self._pools.get(each.pool)
        if pool is None:
            return available_counters(each.counters, each.devices, self._allocated)
        taken = self._allocated | self._attempt.state.capacity.keys() if self._returns else self._allocated
        return available_counters(pool.counters, (d for of in pool.counted for d in of.devices), taken)

    def _note_refusal(self, kind: str) -> None:
        if self._attempt.watch is not None:
            self._attempt.watch.check(kind, False)

    def _counters_suffice(self, each: ResourceSlice, device: Device) -> bool:
        if not self._features.partitionable:
            self._note_refusal("counters")
            return False
        place = self._place(each)
        left = self._left.get(place)
        if left is None:
            left = self._left[place] = self._read_counters(each)
        short = self.counters.take(place, device, left)
        if self._attempt.watch is not None:
            needs = {"/".join(key): format_nanos(amount) for key, amount in list_consumed_counters(device)}
            free = {"/".join(key): format_nanos(left[key] - self.counters.get_taken(place, key)) for key in left}
            missing = "/".join(short) if short else ""
            self._attempt.watch.check("counters", short is None, needs=needs, left=free, missing=missing)
        return short is None

    def _tolerates(self, ask: Ask, device: Device) -> bool:
        watch = self._attempt.watch
        for taint in device.taints:
            if self._tells and taint.effect not in ("NoSchedule", "NoExecute"):
                continue
            if not any(toleration.tolerates(taint) for toleration in ask.tolerations):
                if watch is not None:
                    watch.check("taint", False, taint=str(taint))
                return False
        if watch is not None and device.taints:
            watch.check("taint", True, taint=", ".join(map(str, device.taints)))
        return True

    def _add_to_constraints(self, at: Position, wanted: RequestNeeds, device: Device, must: bool) -> bool:
        constraints = self._constraints[at.claim]
        base, sub = wanted.base_name, wanted.sub_name
        for index, constraint in enumerate(constraints):
            added = constraint.add(base, sub, device)
            if self._attempt.watch is not None and constraint.applies(base, sub):
                value = find_attribute(device, constraint.attribute)
                self._attempt.watch.check(
                    "constraint",
                    added,
                    constraint=constraint.kind,
                    attribute=constraint.attribute,
                    value=None if value is None else dict(value),
                    expected=constraint.expected(),
                )
            if added:
                continue
            if must:
                text = f"cannot add device {device.id} because a claim constraint would not be satisfied"
                raise AllocationError(f"{label(self._attempt.claims[at.claim], wanted.ask.name)}: {text}")
            for earlier in constraints[:index]:
                earlier.remove(base, sub, device)
            return False
        return True


def _nanos(consumed: dict[str, Amount]) -> dict[str, int]:
    return {name: amount.nanos for name, amount in consumed.items()}
