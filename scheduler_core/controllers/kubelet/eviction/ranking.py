"""In which order pods are evicted for a signal.

Memory and disk: those that use more than they request, then by priority, then by how far they are above their request. Process ids: by
priority, then by number. A pod whose containers have not been started is measured by nobody, and goes before the others.

kube: pkg/kubelet/eviction/helpers.go (rankMemoryPressure, rankPIDPressure, rankDiskPressureFunc, buildSignalToRankFunc) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.apimachinery.objects.resources import EPHEMERAL_STORAGE
from scheduler_core.controllers.kubelet.critical import is_critical
from scheduler_core.controllers.kubelet.eviction.observations import PodStats
from scheduler_core.controllers.memory.eviction import Ranked
from scheduler_core.scheduler.config.kubelet import thresholds as signals

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


def rank_pods(pods: Sequence[PodStats], signal: str, image_disk: bool) -> list[tuple[PodStats, Ranked]]:
    """The pods in the order in which they are evicted, with what their places came from."""
    resource = RESOURCES[signal]
    if resource == PIDS:
        found = [(stats, _row(stats, stats.get("pids"), 0, False)) for stats in pods]
        return sorted(found, key=lambda each: (each[1].priority, each[0].found, -each[1].usage))
    found = [(stats, _of(stats, signal, resource, image_disk)) for stats in pods]
    return sorted(found, key=lambda each: _place(*each))


def _place(stats: PodStats, row: Ranked) -> Place:
    if not stats.found:
        return (False, False, row.priority, 0)
    return (True, not row.exceeds, row.priority, row.request - row.usage)


def _of(stats: PodStats, signal: str, resource: str, image_disk: bool) -> Ranked:
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


def _row(stats: PodStats, usage: int, request: int, exceeds: bool) -> Ranked:
    return Ranked(stats.pod.key, stats.pod.priority, usage, request, exceeds, is_critical(stats.pod))
