"""One housekeeping as a function: from the previous state and the observations to the conditions and the thresholds to act on.

kube: pkg/kubelet/eviction/eviction_manager.go (synchronize), helpers.go (thresholdsMet ... nodeConditionsObservedSince) @ v1.34.1
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scheduler_core.apimachinery.objects.quantity import format_quantity, nanos, value
from scheduler_core.apimachinery.objects.resources import EPHEMERAL_STORAGE, MEMORY
from scheduler_core.apimachinery.objects.times import SECOND
from scheduler_core.controllers.kubelet.admission import is_critical
from scheduler_core.controllers.kubelet.eviction.observations import Observation, Observations, PodStats
from scheduler_core.controllers.memory.kubelet import EvictionState, RankedVictim
from scheduler_core.scheduler.config.kubelet import KubeletConfiguration, Threshold
from scheduler_core.scheduler.config.kubelet import thresholds as signals

# The order of eviction for a signal.
#
# Memory and disk: pods above their request first, then by priority, then by the usage above the request. Process ids: by
# priority, then by number. A pod whose containers have not been started has no measurements, and is evicted before the others.
# kube: pkg/kubelet/eviction/helpers.go (rankMemoryPressure, rankPIDPressure, rankDiskPressureFunc, buildSignalToRankFunc) @ v1.34.1

INODES, PIDS = "inodes", "pids"
RESOURCES = {
    signals.MEMORY: "memory",
    signals.ALLOCATABLE_MEMORY: "memory",
    signals.IMAGE_DISK: EPHEMERAL_STORAGE,
    signals.IMAGE_INODES: INODES,
    signals.CONTAINER_DISK: EPHEMERAL_STORAGE,
    signals.CONTAINER_INODES: INODES,
    signals.NODE_DISK: EPHEMERAL_STORAGE,
    signals.NODE_INODES: INODES,
    signals.PIDS: PIDS,
}
Place = tuple[bool, bool, int, int]


def rank_pods(pods: Sequence[PodStats], signal: str, image_disk: bool) -> list[tuple[PodStats, RankedVictim]]:
    """Return the pods in the order of eviction, with the values that determine their ranks."""
    resource = RESOURCES[signal]
    if resource == PIDS:
        found = [(stats, _row(stats, stats.get("pids"), 0, False)) for stats in pods]
        return sorted(found, key=lambda each: (each[1].priority, each[0].found, -each[1].usage))
    found = [(stats, _of(stats, signal, resource, image_disk)) for stats in pods]
    return sorted(found, key=lambda each: _place(*each))


def _place(stats: PodStats, row: RankedVictim) -> Place:
    if not stats.found:
        return (False, False, row.priority, 0)
    return (True, not row.exceeds, row.priority, row.request - row.usage)


def _of(stats: PodStats, signal: str, resource: str, image_disk: bool) -> RankedVictim:
    requests = stats.pod.requests
    if resource == "memory":
        usage, request = stats.get("memory"), requests.memory
        return _row(stats, usage, request, usage > request)
    usage = _disk(stats, signal, resource, image_disk)
    exceeds = usage > (requests.ephemeral_storage if resource == EPHEMERAL_STORAGE else 0)
    # kube subtracts the request for bytes from the number of inodes, too
    return _row(stats, usage, requests.ephemeral_storage, exceeds)


def _disk(stats: PodStats, signal: str, resource: str, image_disk: bool) -> int:
    """Return the pod's usage of the disk that a signal measures."""
    of_images = signal in (signals.IMAGE_DISK, signals.IMAGE_INODES, signals.CONTAINER_DISK, signals.CONTAINER_INODES)
    if resource == INODES:
        return 0 if image_disk and of_images else stats.get("inodes")
    if image_disk and of_images:
        return stats.get("rootfs")
    writable = 0 if image_disk else stats.get("rootfs")
    return writable + stats.get("logs") + stats.local_volumes


def _row(stats: PodStats, usage: int, request: int, exceeds: bool) -> RankedVictim:
    return RankedVictim(stats.pod.key, stats.pod.priority, usage, request, exceeds, is_critical(stats.pod))


# The message of an eviction, in kube's words.
# kube: pkg/kubelet/eviction/helpers.go (evictionMessage) @ v1.34.1

_BINARY = (MEMORY, EPHEMERAL_STORAGE)


def canonical(text: str | int) -> str:
    """Return a quantity as kube prints it: in binary units if written so."""
    return format_quantity(text, binary=isinstance(text, str) and text.endswith("i"))


def amount(number: int, resource: str) -> str:
    """Return bytes, inodes or pids as kube prints them."""
    return format_quantity(number, binary=resource in _BINARY)


def threshold_text(threshold: Threshold, observation: Observation) -> str:
    """Format a threshold as a quantity."""
    if threshold.amount.quantity is not None and threshold.amount.text:
        return canonical(threshold.amount.text)
    return format_quantity(threshold.amount.of(observation.capacity), binary=True)


def eviction_message(
    resource: str, stats: PodStats, thresholds: Sequence[Threshold], observations: Observations
) -> str:
    """Return the eviction message, with the containers that use more than they request."""
    message = f"The node was low on resource: {resource}. "
    for threshold in thresholds:
        observation = observations.signals.get(threshold.signal)
        if RESOURCES[threshold.signal] == resource and observation is not None:
            left = amount(observation.available, resource)
            message += f"Threshold quantity: {threshold_text(threshold, observation)}, available: {left}. "
            break
    if not stats.found:
        return message
    spec = stats.pod.manifest["spec"]
    whole = ((spec.get("resources") or {}).get("requests") or {}).get(resource)
    if resource == MEMORY and whole is not None:
        used = amount(stats.get("memory"), resource)
        message += _larger("Pod", stats.pod.name, used, canonical(whole), resource)
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        message += _of_container(container, resource, stats)
    return message


def _of_container(container: Mapping[str, Any], resource: str, stats: PodStats) -> str:
    name = str(container.get("name"))
    if resource not in _BINARY or name not in stats.containers:
        return ""
    parts = ("memory",) if resource == MEMORY else ("rootfs", "logs")
    used = sum(stats.share(part, name) for part in parts)
    request = ((container.get("resources") or {}).get("requests") or {}).get(resource, 0)
    if used <= value(request):
        return ""
    return _larger("Container", name, amount(used, resource), canonical(request), resource)


def _larger(what: str, name: str, used: str, request: str, resource: str) -> str:
    return f"{what} {name} was using {used}, request is {request}, has larger consumption of {resource}. "


# Limits of local storage: exceeding them evicts a pod even without pressure on the node.
# kube: pkg/kubelet/eviction/eviction_manager.go (localStorageEviction) @ v1.34.1


def explain_exceeded_limit(stats: PodStats, image_disk: bool) -> str:
    """Return why a pod is to be evicted, "" if it is within its limits."""
    if not stats.found:
        return ""
    return _empty_dirs(stats) or _pod(stats) or _containers(stats, image_disk)


def _empty_dirs(stats: PodStats) -> str:
    for volume in stats.pod.manifest["spec"].get("volumes") or ():
        limit = (volume.get("emptyDir") or {}).get("sizeLimit")
        used = stats.volume(str(volume.get("name")))
        if limit is not None and used is not None and 0 < value(limit) < used:
            return f'Usage of EmptyDir volume "{volume.get("name")}" exceeds the limit "{canonical(limit)}". '
    return ""


def _pod(stats: PodStats) -> str:
    limits = [limit for container in _specs(stats) if (limit := _limit(container)) is not None]
    if not limits:
        return ""
    total = sum(nanos(limit) for limit in limits)
    used = stats.get("rootfs") + stats.get("logs") + stats.local_volumes
    if used * 10**9 <= total:
        return ""
    shown = canonical(limits[0]) if len(limits) == 1 else format_quantity(total // 10**9, binary=True)
    return f"Pod ephemeral local storage usage exceeds the total limit of containers {shown}. "


def _containers(stats: PodStats, image_disk: bool) -> str:
    for container in _specs(stats):
        limit, name = _limit(container), str(container.get("name"))
        used = stats.share("logs", name) + (0 if image_disk else stats.share("rootfs", name))
        if limit is not None and value(limit) and used > value(limit):
            return f'Container {name} exceeded its local ephemeral storage limit "{canonical(limit)}". '
    return ""


def _specs(stats: PodStats) -> Sequence[Mapping[str, Any]]:
    return stats.pod.manifest["spec"].get("containers") or ()


def _limit(container: Mapping[str, Any]) -> Any:
    return ((container.get("resources") or {}).get("limits") or {}).get(EPHEMERAL_STORAGE)


HOUSEKEEPING = 10 * SECOND
CONDITIONS = {
    signals.MEMORY: "MemoryPressure",
    signals.ALLOCATABLE_MEMORY: "MemoryPressure",
    signals.PIDS: "PIDPressure",
}
_ORDER = ("MemoryPressure", "DiskPressure", "PIDPressure")


@dataclass(frozen=True, slots=True)
class Judgement:
    """The new eviction state, the conditions that are True, and the thresholds to act on, in order."""

    state: EvictionState
    conditions: tuple[str, ...]
    thresholds: tuple[Threshold, ...]


def met(thresholds: Sequence[Threshold], observed: Mapping[str, Observation], with_least: bool) -> list[Threshold]:
    """Return the thresholds that are met; `with_least` adds the minimum reclaim to each threshold."""
    found = []
    for threshold in thresholds:
        observation = observed.get(threshold.signal)
        if observation is None:
            continue
        wanted = threshold.amount.of(observation.capacity)
        if with_least and threshold.least is not None:
            wanted += threshold.least.of(observation.capacity)
        if wanted > observation.available:
            found.append(threshold)
    return found


def judge(
    state: EvictionState,
    thresholds: Sequence[Threshold],
    observed: Mapping[str, Observation],
    configuration: KubeletConfiguration,
    now: int,
) -> Judgement:
    """Carry out one housekeeping. Only the observations may have changed since the last one."""
    present = met(thresholds, observed, False)
    present += [each for each in met(state.met, observed, True) if each not in present]
    before = dict(state.first)
    first = tuple((threshold, before.get(threshold, now)) for threshold in present)
    observing = tuple(dict.fromkeys(_condition(threshold) for threshold in present))
    last = _last(state, observing, now)
    recent = {condition for condition, at in last if now - at < configuration.transition_period}
    acting = [threshold for threshold, at in first if now - at >= threshold.grace]
    new = replace(
        state,
        at=now,
        first=first,
        last=tuple(each for each in last if each[0] in recent),
        observed=observing,
        met=tuple(acting),
        waits_for=(),
    )
    acting.sort(key=lambda threshold: _condition(threshold) != "MemoryPressure")
    return Judgement(new, tuple(name for name in _ORDER if name in recent), tuple(acting))


def next_change(state: EvictionState, configuration: KubeletConfiguration) -> int | None:
    """Return the time (ns) of the next housekeeping at which the passing of time alone changes the result, or None."""
    moments = [at + threshold.grace for threshold, at in state.first if state.at - at < threshold.grace]
    moments += [at + configuration.transition_period for name, at in state.last if name not in state.observed]
    return tick(state, min(moments)) if moments else None


def tick(state: EvictionState, at: int) -> int:
    """Return the time (ns) of the first housekeeping at or after a time, after the last one."""
    return state.at + max(-(-(at - state.at) // HOUSEKEEPING), 1) * HOUSEKEEPING


def _condition(threshold: Threshold) -> str:
    return CONDITIONS.get(threshold.signal, "DiskPressure")


def _last(state: EvictionState, observing: Sequence[str], now: int) -> list[tuple[str, int]]:
    """Return when each condition was last met; conditions of the last housekeeping also count for the skipped ones since."""
    passed = state.at + max((now - state.at - 1) // HOUSEKEEPING, 0) * HOUSEKEEPING
    last = {name: passed if name in state.observed else at for name, at in state.last}
    last.update(dict.fromkeys(observing, now))
    return [(name, last[name]) for name in _ORDER if name in last]
