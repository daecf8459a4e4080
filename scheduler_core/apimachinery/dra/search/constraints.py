"""Constraints between the devices of a claim.

matchAttribute compares types and values. distinctAttribute compares in kube the addresses of values, so that different devices with equal
values are accepted; it refuses a device only if it is there already.

kube: dynamic-resource-allocation/structured/internal/experimental/{allocator_experimental,constraint}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.dra import claims
from scheduler_core.apimachinery.dra.slices import Device, DeviceId

Raw = Mapping[str, Any]
KINDS = ("string", "int", "bool", "version")  # in the order in which kube looks at them


class Constraint:
    """A constraint of a claim while its devices are searched. What was added last is removed first."""

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
        """Add the device if the constraint allows it; return whether it does."""
        raise NotImplementedError

    def remove(self, request: str, subrequest: str, device: Device) -> None:
        raise NotImplementedError

    def state(self) -> tuple[object, ...]:
        """Return the values that decide which devices may still be added."""
        raise NotImplementedError

    def expected(self) -> dict[str, Any] | None:
        """The value that devices have to have, once there is one."""
        return None


class MatchAttribute(Constraint):
    """All devices have the same value."""

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
    """No attribute is there twice. kube remembers one per request, that of its device added last."""

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


def constraint_of(constraint: claims.Constraint, experimental: bool) -> Constraint | None:
    """None where the allocator knows no such constraint; distinctAttribute is known to the experimental one alone."""
    if constraint.match_attribute is not None:
        return MatchAttribute(constraint.requests, constraint.match_attribute)
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
