"""Total requests and limits of pods: amounts by resource, and the QoS class that follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

from scheduler_core.apimachinery.objects.quantity import NANO, Quantity, format_quantity, nanos
from scheduler_core.apimachinery.objects.resources import CPU, MEMORY, is_pod_level_name, is_sidecar, list_resized

# Lists of resources as the API server adds them up: exact, by name, each amount in the notation that it was written in.
# kube: apimachinery/pkg/api/resource/quantity.go (Add, Sub, String), component-helpers/resource/helpers.go (PodRequests, PodLimits) @
# v1.34.1

Side = Literal["requests", "limits"]
Amounts = dict[str, "Amount"]
_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


@dataclass(frozen=True, slots=True)
class Amount:
    """A quantity in billionths. `binary`: print the quantity with binary suffixes."""

    nanos: int
    binary: bool = False

    @classmethod
    def of(cls, quantity: Quantity) -> Amount:
        """Read a quantity from a manifest. Raise BadQuantity."""
        return _read(quantity) if isinstance(quantity, str) else cls(nanos(quantity))

    def __add__(self, other: Amount) -> Amount:
        """Add two amounts. The sum has the suffixes of the first amount, unless that is zero."""
        return Amount(self.nanos + other.nanos, self.binary if self.nanos else other.binary)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.nanos - other.nanos, self.binary if self.nanos else other.binary)

    @property
    def text(self) -> str:
        """Kube's canonical text: `1500m`, `2Gi`."""
        return _text(self.nanos, self.binary)


@lru_cache(maxsize=16384)
def _read(text: str) -> Amount:
    return Amount(nanos(text), text.endswith(_BINARY))


@lru_cache(maxsize=16384)
def _text(count: int, binary: bool) -> str:
    return format_quantity(Fraction(count, NANO), binary)


ZERO = Amount(0)


def amounts(resources: Mapping[str, Any] | None) -> Amounts:
    """Read a manifest's resource list. Raise BadQuantity for an invalid one."""
    return {name: Amount.of(quantity) for name, quantity in (resources or {}).items()}


def texts(resources: Mapping[str, Amount]) -> dict[str, str]:
    """Return the amounts by name, sorted, as a manifest writes them."""
    return {name: resources[name].text for name in sorted(resources)}


def add(total: Amounts, more: Mapping[str, Amount]) -> None:
    """Add amounts to a total, in place."""
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount


def raise_to(total: Amounts, other: Mapping[str, Amount]) -> None:
    """Raise each amount of a total, in place, to at least the other amount of the same name."""
    for name, amount in other.items():
        if name not in total or amount.nanos > total[name].nanos:
            total[name] = amount


def difference(first: Mapping[str, Amount], second: Mapping[str, Amount]) -> Amounts:
    """first - second, over the names of both."""
    return {name: first.get(name, ZERO) - second.get(name, ZERO) for name in {**first, **second}}


def pod_amounts(
    spec: Mapping[str, Any], side: Side, *, overhead: bool, status: Mapping[str, Any] | None = None
) -> Amounts:
    """Return the requests or limits of a pod as a whole.

    Containers and sidecars are summed, init containers count at most, pod-level amounts replace the result, and `overhead`
    adds the overhead (to limits only where there is one). `status`: the container resources that it reports count too,
    for in-place resizes.
    """
    total: Amounts = {}
    actual = _read_reported(spec, status, side) if status else {}
    for container in spec.get("containers") or ():
        add(total, actual.get(container.get("name", "")) or _of(container, side))
    raise_to(total, _starting(spec.get("initContainers") or (), side, total, actual))
    for name, quantity in ((spec.get("resources") or {}).get(side) or {}).items():
        if is_pod_level_name(name):
            total[name] = Amount.of(quantity)
    if overhead:
        extra = amounts(spec.get("overhead"))
        add(total, extra if side == "requests" else {name: extra[name] for name in extra if name in total})
    return total


def _read_reported(spec: Mapping[str, Any], status: Mapping[str, Any], side: Side) -> dict[str, Amounts]:
    by_container: dict[str, Amounts] = {}
    for container, *lists in list_resized(spec, status, side):
        most = by_container[container["name"]] = {}
        for each in lists:
            raise_to(most, amounts(each))
    return by_container


def _starting(
    containers: Iterable[Mapping[str, Any]], side: Side, total: Amounts, actual: Mapping[str, Amounts]
) -> Amounts:
    """Return the needs of init containers that start one after the other; sidecars stay and are added to `total` too."""
    sidecars: Amounts = {}
    most: Amounts = {}
    for container in containers:
        own = _of(container, side)
        if is_sidecar(container):
            own = actual.get(container.get("name", "")) or own
            add(total, own)
            add(sidecars, own)
            own = sidecars
        else:
            add(own, sidecars)
        raise_to(most, own)
    return most


def _of(container: Mapping[str, Any], side: Side) -> Amounts:
    return amounts((container.get("resources") or {}).get(side))


# A pod's quality of service class, as it follows from its requests and limits of cpu and memory.
# kube: pkg/apis/core/helper/qos/qos.go @ v1.34.1

GUARANTEED, BURSTABLE, BEST_EFFORT = "Guaranteed", "Burstable", "BestEffort"
Nanos = dict[str, int]


def qos_class(spec: Mapping[str, Any]) -> str:
    """Return Guaranteed, Burstable, or BestEffort. Pod-level resources count instead of the containers'. Raise BadQuantity."""
    requests: Nanos = {}
    limits: Nanos = {}
    whole = spec.get("resources")
    parts = [whole] if whole else _containers(spec)
    fully_limited = not whole or bool(whole.get("limits"))
    for resources in parts:
        _add(requests, resources.get("requests"))
        found = _add(limits, resources.get("limits"))
        fully_limited = fully_limited and found == 2
    if not requests and not limits:
        return BEST_EFFORT
    return GUARANTEED if fully_limited and requests == limits else BURSTABLE


def _containers(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    return [container.get("resources") or {} for container in containers]


def _add(total: Nanos, resources: Mapping[str, Any] | None) -> int:
    """Add the positive amounts of cpu and memory to a total. Return how many of the two are positive."""
    found = 0
    for name in (CPU, MEMORY):
        amount = nanos((resources or {}).get(name) or 0)
        if amount > 0:
            total[name] = total.get(name, 0) + amount
            found += 1
    return found
