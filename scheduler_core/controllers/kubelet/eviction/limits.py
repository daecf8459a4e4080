"""Limits of local storage, which cost a pod its life without any pressure on the node.

kube: pkg/kubelet/eviction/eviction_manager.go (localStorageEviction) @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.quantity import format_quantity, nanos, value
from scheduler_core.apimachinery.objects.resources import EPHEMERAL_STORAGE
from scheduler_core.controllers.kubelet.eviction.messages import canonical
from scheduler_core.controllers.kubelet.eviction.observations import PodStats


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


def _specs(stats: PodStats) -> tuple[dict[str, object], ...]:
    return tuple(stats.pod.manifest["spec"].get("containers") or ())


def _limit(container: dict[str, object]) -> str | int | None:
    resources = container.get("resources")
    limits = resources.get("limits") if isinstance(resources, dict) else None
    return limits.get(EPHEMERAL_STORAGE) if isinstance(limits, dict) else None
