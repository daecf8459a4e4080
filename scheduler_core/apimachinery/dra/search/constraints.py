"""Constraints between the devices of a claim.

matchAttribute compares types and values. distinctAttribute compares in kube the addresses of values, so that different devices with equal
values are accepted; it refuses a device only if it is there already.

kube: dynamic-resource-allocation/structured/internal/experimental/{allocator_experimental,constraint}.go @ v1.34.1
"""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from typing import Any

from scheduler_core.apimachinery.dra import claims
from scheduler_core.apimachinery.dra.amounts import Amount, whole
from scheduler_core.apimachinery.dra.claims import Ask
from scheduler_core.apimachinery.dra.results import Consumed
from scheduler_core.apimachinery.dra.slices import Capacity, Counters, Device, DeviceId, RequestPolicy
from scheduler_core.base.releases import Behavior

# Consumable capacity: what a request takes of a device that several claims share.
# kube: dynamic-resource-allocation/structured/internal/experimental/consumable_capacity.go @ v1.34.1

_NONE: Consumed = {}


def fits(
    ask: Ask,
    capacity: Mapping[str, Capacity],
    consumed: Consumed = _NONE,
    allocating: Consumed = _NONE,
    fractions: bool = False,
) -> bool:
    """Return whether the remaining capacities can serve the request, including those that the request does not name."""
    if any(name not in capacity for name in ask.asked):
        return False
    for name, each in capacity.items():
        wanted = consumption(ask.asked.get(name), each, fractions)
        if each.policy is not None and violates(wanted, each.policy, fractions):
            return False
        if wanted.nanos + consumed.get(name, 0) + allocating.get(name, 0) > each.value.nanos:
            return False
    return True


def consumptions(ask: Ask, capacity: Mapping[str, Capacity], fractions: bool = False) -> dict[str, Amount]:
    """Return the amounts that a share consumes of each of the device's capacities."""
    return {name: consumption(ask.asked.get(name), each, fractions) for name, each in capacity.items()}


def consumption(asked: Amount | None, capacity: Capacity, fractions: bool = False) -> Amount:
    """Return the consumed amount: `asked`, rounded up as the policy requires; if None, the policy's default or all."""
    policy = capacity.policy
    if asked is None:
        return policy.default if policy is not None and policy.default is not None else capacity.value
    if policy is None:
        return asked
    if policy.range is not None and policy.range.min is not None:
        # Round an amount up to the least amount, or to the next step from there.
        limits = policy.range
        least = policy.range.min
        if asked.nanos < least.nanos:
            return least
        if limits.step is None:
            return asked
        if fractions:
            steps = -((least.nanos - asked.nanos) // (limits.step.nanos or 1))
            return Amount(least.nanos + limits.step.nanos * steps, limits.step.format)
        step = limits.step.value or 1  # kube divides by zero; no such policy can be stored
        steps, rest = divmod(asked.value - least.value, step)
        return whole(least.value + step * (steps + (rest != 0)))
    if policy.values is not None:
        return next((value for value in policy.values if asked.nanos <= value.nanos), asked)
    return asked


def violates(amount: Amount, policy: RequestPolicy, fractions: bool = False) -> bool:
    """Return whether the policy forbids consuming the amount. The policy's default is always allowed."""
    if policy.default is not None and amount.same(policy.default):
        return False
    if policy.range is not None:
        limits = policy.range
        if limits.max is not None and amount.nanos > limits.max.nanos:
            return True
        if limits.step is None:
            return False
        if fractions:
            return (amount.nanos - (0 if limits.min is None else limits.min.nanos)) % (limits.step.nanos or 1) != 0
        least = 0 if limits.min is None else limits.min.value
        return (amount.value - least) % (limits.step.value or 1) != 0
    if policy.values:
        return all(amount.nanos != value.nanos for value in policy.values)
    return False


# Shared counters: what is left of a slice's counter sets for devices that are made of the same hardware.
# kube: dynamic-resource-allocation/structured/internal/experimental/allocator_experimental.go (checkAvailableCounters) @ v1.34.1

Amounts = dict[tuple[str, str], int]  # nanos by counter set and counter


def available_counters(
    counters: Iterable[Counters], devices: Iterable[Device], allocated: Container[DeviceId]
) -> Amounts:
    """Return the counters minus those of allocated devices. Negative if the devices consume more than exists."""
    left: Amounts = {}
    for shared in counters:
        for stale in [key for key in left if key[0] == shared.name]:
            del left[stale]
        left.update({(shared.name, name): amount for name, amount in shared.amounts})
    for device in devices:
        if device.counters and device.id in allocated:
            for key, amount in list_consumed_counters(device):
                if key in left:
                    left[key] -= amount
    return left


def list_consumed_counters(device: Device) -> Iterator[tuple[tuple[str, str], int]]:
    for counters in device.counters:
        for name, amount in counters.amounts:
            yield (counters.name, name), amount


class CounterBook:
    """The counters consumed by devices that are being allocated, by slice or pool."""

    __slots__ = ("_consumed",)

    def __init__(self) -> None:
        self._consumed: dict[object, Amounts] = {}

    def take(self, place: object, device: Device, available: Amounts) -> tuple[str, str] | None:
        """Consume the device's counters. If a counter of the slice is too small, consume nothing and return the first such counter."""
        taken = self._consumed.setdefault(place, {})
        for key, amount in list_consumed_counters(device):
            taken[key] = taken.get(key, 0) + amount
        for key, amount in available.items():
            if amount < taken.get(key, 0):
                self.give_back(place, device)
                return key
        return None

    def give_back(self, place: object, device: Device) -> None:
        taken = self._consumed[place]
        for key, amount in list_consumed_counters(device):
            taken[key] -= amount

    def get_taken(self, place: object, key: tuple[str, str]) -> int:
        return self._consumed.get(place, {}).get(key, 0)


Raw = Mapping[str, Any]
KINDS = ("string", "int", "bool", "version")  # in the order in which kube looks at them


class Constraint:
    """A constraint of a claim during the search for devices. Devices are removed in the reverse order of their addition."""

    __slots__ = ("_names", "attribute", "count")
    kind = ""

    def __init__(self, requests: tuple[str, ...], attribute: str) -> None:
        self._names = frozenset(requests)
        self.attribute = attribute
        self.count = 0

    def applies(self, request: str, subrequest: str) -> bool:
        """Return whether the constraint applies: without names, to all requests; a request's name covers its subrequests."""
        names = self._names
        if not names or request in names:
            return True
        return bool(subrequest) and f"{request}/{subrequest}" in names

    def add(self, request: str, subrequest: str, device: Device) -> bool:
        """Add the device if the constraint allows the device. Return whether it does."""
        raise NotImplementedError

    def remove(self, request: str, subrequest: str, device: Device) -> None:
        raise NotImplementedError

    def state(self) -> tuple[object, ...]:
        """Return the values that decide which devices may still be added."""
        raise NotImplementedError

    def expected(self) -> dict[str, Any] | None:
        """The value that further devices must have, or None while no device was added."""
        return None


class MatchAttribute(Constraint):
    """Requires that all devices have the same value of an attribute."""

    __slots__ = ("value",)
    kind = "matchAttribute"

    def __init__(self, requests: tuple[str, ...], attribute: str) -> None:
        super().__init__(requests, attribute)
        self.value: Raw = {}

    def add(self, request: str, subrequest: str, device: Device) -> bool:
        if not self.applies(request, subrequest):
            return True
        value = find_attribute(device, self.attribute)
        if value is None:
            return False
        if self.count == 0:
            self.value = value
        elif not _same(value, self.value):
            return False
        self.count += 1
        return True

    def remove(self, request: str, subrequest: str, device: Device) -> None:
        if self.applies(request, subrequest):
            self.count -= 1

    def state(self) -> tuple[object, ...]:
        return (self.count, *self.value.items()) if self.count else ()

    def expected(self) -> dict[str, Any] | None:
        return dict(self.value) if self.count else None


class DistinctAttribute(Constraint):
    """Requires distinct attributes. kube remembers one attribute per request: that of the device added last."""

    __slots__ = ("devices",)
    kind = "distinctAttribute"

    def __init__(self, requests: tuple[str, ...], attribute: str) -> None:
        super().__init__(requests, attribute)
        self.devices: dict[str, DeviceId] = {}

    def add(self, request: str, subrequest: str, device: Device) -> bool:
        if not self.applies(request, subrequest):
            return True
        value = find_attribute(device, self.attribute)
        if value is None or (self.count and not self._differs(device, value)):
            return False
        self.devices[request] = device.id
        self.count += 1
        return True

    def _differs(self, device: Device, value: Raw) -> bool:
        return not self.devices or (kind_of(value) is not None and device.id not in self.devices.values())

    def remove(self, request: str, subrequest: str, device: Device) -> None:
        if self.applies(request, subrequest):
            self.devices.pop(request, None)
            self.count -= 1

    def state(self) -> tuple[object, ...]:
        return (self.count, *sorted(self.devices.items()))


class DistinctValues(Constraint):
    """Requires distinct values. Before 1.37, only the value of a request's last device counts."""

    __slots__ = ("_all", "values")
    kind = "distinctAttribute"

    def __init__(self, requests: tuple[str, ...], attribute: str, all_devices: bool) -> None:
        super().__init__(requests, attribute)
        self._all = all_devices
        self.values: dict[object, Raw] = {}

    def add(self, request: str, subrequest: str, device: Device) -> bool:
        if not self.applies(request, subrequest):
            return True
        value = find_attribute(device, self.attribute)
        if value is None or any(kind_of(value) is None or _same(value, other) for other in self.values.values()):
            return False
        self.values[self.count if self._all else request] = value
        self.count += 1
        return True

    def remove(self, request: str, subrequest: str, device: Device) -> None:
        if self.applies(request, subrequest):
            self.count -= 1
            self.values.pop(self.count if self._all else request, None)

    def state(self) -> tuple[object, ...]:
        return (self.count, *((key, *value.items()) for key, value in self.values.items()))


def constraint_of(
    constraint: claims.Constraint, experimental: bool, behaviors: Collection[Behavior] = ()
) -> Constraint | None:
    """Return the constraint for the search, or None if the allocator has no such constraint. Only the experimental allocator has
    distinctAttribute.
    """
    if constraint.match_attribute is not None:
        return MatchAttribute(constraint.requests, constraint.match_attribute)
    if constraint.distinct_attribute is not None and experimental and Behavior.DISTINCT_VALUES in behaviors:
        all_devices = Behavior.UNNAMED_CONFIGS in behaviors
        return DistinctValues(constraint.requests, constraint.distinct_attribute, all_devices)
    if constraint.distinct_attribute is not None and experimental:
        return DistinctAttribute(constraint.requests, constraint.distinct_attribute)
    return None


def find_attribute(device: Device, name: str) -> Raw | None:
    """The attribute of this name; of the driver's own also by the name without the driver."""
    found = device.attributes.get(name)
    if found is not None:
        return found
    domain, slash, own = name.partition("/")
    return device.attributes.get(own) if slash and domain == device.id.driver else None


def kind_of(attribute: Raw) -> str | None:
    return next((kind for kind in KINDS if attribute.get(kind) is not None), None)


def _same(value: Raw, other: Raw) -> bool:
    kind = kind_of(value)
    if kind is None:
        return False
    return other.get(kind) is not None and bool(value[kind] == other[kind])
