"""Resources as the scheduler counts them: milli-CPUs, bytes, and whole units of anything else.

kube: framework/types.go (Resource), component-helpers/resource/helpers.go (PodRequests) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from scheduler_core.apimachinery.objects.names import list_qualified_name_errors
from scheduler_core.apimachinery.objects.quantity import milli_of_nanos, nanos, value_of_nanos

CPU, MEMORY, EPHEMERAL_STORAGE, PODS = "cpu", "memory", "ephemeral-storage", "pods"
HUGE_PAGES = "hugepages-"
DEFAULT_MILLI_CPU = 100
DEFAULT_MEMORY = 200 * 1024 * 1024
NON_MISSING = {CPU: DEFAULT_MILLI_CPU * 1_000_000, MEMORY: DEFAULT_MEMORY * 1_000_000_000}  # nanos

Nanos = dict[str, int]


@lru_cache(maxsize=4096)
def is_scalar_name(name: str) -> bool:
    """Return whether the scheduler counts a resource that is not cpu, memory, ephemeral-storage, or pods."""
    if name.startswith((HUGE_PAGES, "attachable-volumes-")) or "kubernetes.io/" in name:
        return True
    return is_extended_name(name)


@lru_cache(maxsize=4096)
def is_extended_name(name: str) -> bool:
    """Return whether a resource is extended: its name has a domain that is not kubernetes.io."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return not list_qualified_name_errors(f"requests.{name}")


def is_pod_level_name(name: str) -> bool:
    """Return whether spec.resources of a pod may have the resource."""
    return name in (CPU, MEMORY) or name.startswith(HUGE_PAGES)


@dataclass(frozen=True, slots=True)
class Resources:
    """An amount of every resource. `scalar` is sorted by name and keeps explicit zeros."""

    milli_cpu: int = 0
    memory: int = 0
    ephemeral_storage: int = 0
    scalar: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of_list(cls, manifest: Mapping[str, Any] | None) -> Resources:
        """Read a manifest's resource list; raise BadQuantity for an invalid entry."""
        return cls.of_nanos(nanos_of(manifest))

    @classmethod
    def of_nanos(cls, amounts: Mapping[str, int]) -> Resources:
        """Create resources from exact amounts in billionths, each rounded up as kube does."""
        scalar = [
            (name, value_of_nanos(amount))
            for name, amount in amounts.items()
            if name not in (CPU, MEMORY, EPHEMERAL_STORAGE, PODS) and is_scalar_name(name)
        ]
        return cls(
            milli_of_nanos(amounts.get(CPU, 0)),
            value_of_nanos(amounts.get(MEMORY, 0)),
            value_of_nanos(amounts.get(EPHEMERAL_STORAGE, 0)),
            tuple(sorted(scalar)),
        )

    def __add__(self, other: Resources) -> Resources:
        return self._merge(other, lambda a, b: a + b)

    def max(self, other: Resources) -> Resources:
        return self._merge(other, max)

    def get(self, name: str) -> int:
        """Milli-CPUs for cpu, bytes or units for the rest; 0 where absent."""
        if name == CPU:
            return self.milli_cpu
        if name == MEMORY:
            return self.memory
        if name == EPHEMERAL_STORAGE:
            return self.ephemeral_storage
        return dict(self.scalar).get(name, 0)

    def _merge(self, other: Resources, pick: Any) -> Resources:
        mine, theirs = dict(self.scalar), dict(other.scalar)
        names = sorted(mine.keys() | theirs.keys())
        return Resources(
            pick(self.milli_cpu, other.milli_cpu),
            pick(self.memory, other.memory),
            pick(self.ephemeral_storage, other.ephemeral_storage),
            tuple((name, pick(mine.get(name, 0), theirs.get(name, 0))) for name in names),
        )


def pod_requests(spec: Mapping[str, Any], *, pod_level: bool = True, defaults: bool = False) -> Resources:
    """Return a pod's requests: containers and sidecars summed, init containers at most, pod-level requests in
    their place, overhead.

    `defaults` counts 100m and 200Mi for each container without a request for cpu or memory (an explicit zero
    stays zero).
    """
    return Resources.of_nanos(pod_request_nanos(spec, pod_level=pod_level, non_missing=NON_MISSING if defaults else {}))


def pod_request_nanos(
    spec: Mapping[str, Any],
    *,
    pod_level: bool = True,
    non_missing: Mapping[str, int],
    actual: Mapping[str, Mapping[str, int]] | None = None,
) -> Nanos:
    """Return the same requests as pod_requests, exact and by name.

    `actual` replaces the requests of containers by name (in-place resizes).
    """
    total = _container_nanos(spec, non_missing, actual or {})
    if pod_level and (whole := pod_level_requests(spec)):
        total.update(nanos_of(whole))
    _add(total, nanos_of(spec.get("overhead")))
    return total


def pod_level_requests(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of spec.resources.requests that count for the whole pod."""
    requests = (spec.get("resources") or {}).get("requests") or {}
    return {name: quantity for name, quantity in requests.items() if is_pod_level_name(name)}


def nonzero_requests(spec: Mapping[str, Any], actual: Mapping[str, Mapping[str, int]] | None = None) -> tuple[int, int]:
    """Return the (milli-CPUs, bytes) that a bound pod adds to its node's non-zero sums.

    With pod-level requests, defaults replace only the amounts that the pod's total lacks. kube: framework/types.go CalculateResource
    """
    return _nonzero(spec, lambda non_missing: pod_request_nanos(spec, non_missing=non_missing, actual=actual))


def _nonzero(spec: Mapping[str, Any], total: Callable[[Mapping[str, int]], Nanos]) -> tuple[int, int]:
    non_missing: Mapping[str, int] = NON_MISSING
    if pod_level_requests(spec):
        known = total({})
        non_missing = {name: amount for name, amount in NON_MISSING.items() if name not in known}
    amounts = total(non_missing)
    return milli_of_nanos(amounts.get(CPU, 0)), value_of_nanos(amounts.get(MEMORY, 0))


def is_sidecar(container: Mapping[str, Any]) -> bool:
    """Return whether an init container keeps running beside the main containers."""
    return container.get("restartPolicy") == "Always"


def _container_nanos(
    spec: Mapping[str, Any], non_missing: Mapping[str, int], actual: Mapping[str, Mapping[str, int]]
) -> Nanos:
    total: Nanos = {}
    for container in spec.get("containers") or ():
        _add(total, _requests(container, non_missing, actual))
    sidecars: Nanos = {}
    highest: Nanos = {}
    for container in spec.get("initContainers") or ():
        requests = _requests(container, non_missing, actual)
        if is_sidecar(container):
            _add(total, requests)
            _add(sidecars, requests)
            running = sidecars
        else:
            running = dict(requests)
            _add(running, sidecars)
        _raise(highest, running)
    _raise(total, highest)
    return total


def _requests(
    container: Mapping[str, Any], non_missing: Mapping[str, int], actual: Mapping[str, Mapping[str, int]]
) -> Nanos:
    replaced = actual.get(container.get("name", "")) if actual else None
    if replaced is not None:
        amounts = dict(replaced)
    else:
        requests = (container.get("resources") or {}).get("requests") or {}
        amounts = {name: nanos(quantity) for name, quantity in requests.items()}
    for name, amount in non_missing.items():
        amounts.setdefault(name, amount)
    return amounts


def _add(total: Nanos, more: Mapping[str, int]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _raise(total: Nanos, other: Mapping[str, int]) -> None:
    for name, amount in other.items():
        if name not in total or amount > total[name]:
            total[name] = amount


def collect_resized_requests(spec: Mapping[str, Any], status: Mapping[str, Any]) -> dict[str, Nanos] | None:
    """Return requests by container if the status reports resources: the maximum of spec, running, and allocated requests. Return None if
    the status reports nothing that differs from the spec.

    kube: component-helpers/resource/helpers.go determineContainerReqs (InPlacePodVerticalScaling)
    """
    by_container: dict[str, Nanos] = {}
    starting = [each for each in spec.get("initContainers") or () if not is_sidecar(each)]
    for container, *lists in list_resized(spec, status, "requests"):
        if container in starting:
            continue
        highest: Nanos = {}
        for amounts in lists:
            _raise(highest, nanos_of(amounts))
        by_container[container["name"]] = highest
    return by_container or None


def list_resized(
    spec: Mapping[str, Any], status: Mapping[str, Any], side: str
) -> Iterator[tuple[Mapping[str, Any], ...]]:
    """Yield the containers whose status reports other resources than the spec, each with the lists whose maximum counts.

    kube: component-helpers/resource/helpers.go determineContainerReqs, determineContainerLimits @ v1.34.1
    """
    reported = {
        raw.get("name", ""): raw
        for kind in ("containerStatuses", "initContainerStatuses")
        for raw in status.get(kind) or ()
        if isinstance(raw, Mapping) and raw.get("resources") is not None
    }
    if not reported:
        return
    infeasible = is_resize_infeasible(status)
    for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        raw = reported.get(container.get("name", ""))
        if raw is None:
            continue
        asked = (container.get("resources") or {}).get(side) or {}
        others = [(raw["resources"] or {}).get(side) or {}]
        if side == "requests":
            others.append(raw.get("allocatedResources") or {})
        if any(other != asked for other in others):
            yield (container, *(() if infeasible else (asked,)), *others)


class Resizes(NamedTuple):
    """The resizes that a pod's status reports. `pod_level`: status.resources counts; `whole`: sums over the pod are compared."""

    status: Mapping[str, Any]
    pod_level: bool
    whole: bool


def resized_requests(spec: Mapping[str, Any], resizes: Resizes) -> Resources:
    """Return a running pod's requests as since 1.36. kube: component-helpers/resource/helpers.go PodRequests @ v1.37.2"""
    return Resources.of_nanos(_resize_nanos(spec, resizes, {}))


def resized_nonzero(spec: Mapping[str, Any], resizes: Resizes) -> tuple[int, int]:
    """Return the (milli-CPUs, bytes) that a running pod adds to its node's non-zero sums. kube: CalculateResource @ v1.37.2"""
    return _nonzero(spec, lambda non_missing: _resize_nanos(spec, resizes, non_missing))


def _resize_nanos(spec: Mapping[str, Any], resizes: Resizes, non_missing: Mapping[str, int]) -> Nanos:
    status = resizes.status
    if resizes.whole:
        total = _largest_sum(spec, resizes, non_missing)
    else:
        total = _container_nanos(spec, non_missing, collect_resized_requests(spec, status) or {})
    asked = pod_level_requests(spec)
    if asked and resizes.pod_level and status.get("resources") is not None:
        lists = [status["resources"].get("requests"), status.get("allocatedResources")]
        if not is_resize_infeasible(status):
            lists.append(spec["resources"]["requests"])
        largest: Nanos = {}
        for each in lists:
            _raise(largest, nanos_of(each))
        names = filter(is_pod_level_name, largest) if resizes.whole else asked
        total.update({name: largest.get(name, 0) for name in names})
    else:
        total.update(nanos_of(asked))
    _add(total, nanos_of(spec.get("overhead")))
    return total


def _largest_sum(spec: Mapping[str, Any], resizes: Resizes, non_missing: Mapping[str, int]) -> Nanos:
    """Return the maximum of three sums over the containers: spec, allocated, and running requests. An infeasible resize counts as no
    request.
    """
    status = resizes.status
    infeasible = is_resize_infeasible(status)
    whole = (status.get("resources") or {}).get("requests"), status.get("allocatedResources")
    if resizes.pod_level and None not in whole:
        sums = [nanos_of(each) for each in whole]
    else:
        statuses = {
            raw.get("name", ""): raw
            for kind in ("containerStatuses", "initContainerStatuses")
            for raw in status.get(kind) or ()
        }
        sums = [
            _container_nanos(spec, non_missing, dict(_list_reported(spec, statuses, running, infeasible)))
            for running in (False, True)
        ]
    if not infeasible:
        sums.append(_container_nanos(spec, non_missing, {}))
    total: Nanos = {}
    for each in sums:
        _raise(total, each)
    return total


def _list_reported(
    spec: Mapping[str, Any], statuses: Mapping[str, Any], running: bool, infeasible: bool
) -> Iterator[tuple[str, Nanos]]:
    """Yield the requests of each container as its status reports them: running, else allocated, else those of the spec."""
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        raw = statuses.get(container.get("name", "")) or {}
        found = (raw.get("resources") or {}).get("requests") if running else None
        if found is None:
            found = raw.get("allocatedResources")
        if found is None:
            found = {} if infeasible else (container.get("resources") or {}).get("requests")
        yield container.get("name", ""), nanos_of(found)


def nanos_of(amounts: Mapping[str, Any] | None) -> Nanos:
    """Return the amounts of a resource list in billionths, by name."""
    return {name: nanos(quantity) for name, quantity in (amounts or {}).items()}


def is_resize_infeasible(status: Mapping[str, Any]) -> bool:
    """Return whether the kubelet found a resize of the pod infeasible on its node."""
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodResizePending":
            return bool(condition.get("reason") == "Infeasible")
    return False
