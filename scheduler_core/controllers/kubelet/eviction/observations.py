"""A kubelet's measurements of its node and pods at a time.

Only pods with a running container use resources. A pod's usage is divided equally among its running containers. There is one disk, unless
an imagefs is declared: then the containers' writable layers are on that.

kube: pkg/kubelet/eviction/helpers.go (makeSignalObservations) @ v1.34.1
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from scheduler_core.apimachinery.objects import Node, Pod
from scheduler_core.apimachinery.objects.quantity import NANO, value
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.inputs.usage import UsageBook, book_of
from scheduler_core.controllers.kubelet.pods import active
from scheduler_core.scheduler.config.kubelet import KubeletConfiguration
from scheduler_core.scheduler.config.kubelet import thresholds as signals

_GI = 2**30
NODE_DISK_CAPACITY, INODES, PID_MAX = 100 * _GI, 6_553_600, 4_194_304  # defaults


@dataclass(frozen=True, slots=True)
class PodStats:
    """A pod's resource usage; `found` is False before its containers were started."""

    pod: Pod
    found: bool
    containers: tuple[str, ...]  # that run
    amounts: Mapping[str, int]

    def get(self, name: str) -> int:
        return self.amounts.get(name, 0) if self.containers else 0

    def share(self, name: str, container: str) -> int:
        """Return a container's share of an amount."""
        if container not in self.containers:
            return 0
        part, rest = divmod(self.get(name), len(self.containers))
        return part + (rest if container == self.containers[0] else 0)

    def volume(self, name: str) -> int | None:
        """Return the bytes in a volume, or None if they are not declared."""
        return self.amounts.get(f"volumes/{name}") if self.containers else None

    @property
    def local_volumes(self) -> int:
        """Return the bytes in volumes on the node's disk."""
        return sum(self.volume(name) or 0 for name in local_volumes(self.pod))


@dataclass(frozen=True, slots=True)
class Observation:
    """The available amount and the capacity that a signal measures."""

    available: int
    capacity: int


@dataclass(frozen=True, slots=True)
class Observations:
    """The observations of a node at one time. `unused_images` can be freed."""

    signals: Mapping[str, Observation]
    pods: tuple[PodStats, ...]
    image_disk: bool
    declared_images: int
    unused_images: int


def local_volumes(pod: Pod) -> Iterator[str]:
    """Return the names of the volumes that use the node's disk. kube: localVolumeNames"""
    for volume in pod.manifest["spec"].get("volumes") or ():
        empty_dir = volume.get("emptyDir")
        if any(kind in volume for kind in ("hostPath", "gitRepo", "configMap")) or (
            empty_dir is not None and not empty_dir.get("medium")
        ):
            yield str(volume.get("name") or "")


def observe(world: World, node: Node, configuration: KubeletConfiguration, at: int | None = None) -> Observations:
    """Return what a node's kubelet measures at a time (ns; None: now), with the present pods."""
    at = world.now if at is None else at
    book = book_of(world.surroundings.inputs.usage)
    own = book.of_node(node.name).at(at)
    pods = tuple(replace(_stats(world, book, pod), amounts=book.of_pod(pod).at(at)) for pod in active(world, node.name))
    state = world.surroundings.kubelet.eviction.get(node.name)
    declared = own.get("unusedImages", 0)
    of, freed = state.freed if state is not None else (0, 0)
    unused = max(declared - freed, 0) if of == declared else declared
    found: dict[str, Observation] = {}
    _memory(found, node, configuration, own, pods)
    _disks(found, own, pods, unused)
    pid_max = own.get("pidMax", PID_MAX)
    found[signals.PIDS] = _observe_available(pid_max, own.get("pids", 0) + sum(stats.get("pids") for stats in pods))
    return Observations(found, pods, "imagefs.capacity" in own, declared, unused)


def stats_of(world: World, pod: Pod) -> PodStats:
    """Return a pod's current usage."""
    return _stats(world, book_of(world.surroundings.inputs.usage), pod)


def capacity_of(node: Node, resource: str) -> int:
    status = node.manifest.get("status") or {}
    amounts = status.get("capacity") or status.get("allocatable") or {}
    return value(amounts.get(resource, 0))


def _stats(world: World, book: UsageBook, pod: Pod) -> PodStats:
    run = world.surroundings.kubelet.pods.get(pod.key)
    started = run is not None and any(each.starts for each in run.all)
    parts = () if run is None else (*run.containers, *run.init)
    running = tuple(each.name for each in parts if each.runs_at(world.now))
    return PodStats(pod, started, running, book.of_pod(pod).at(world.now))


def _observe_available(capacity: int, used: int) -> Observation:
    return Observation(max(capacity - used, 0), capacity)


def _memory(
    found: dict[str, Observation],
    node: Node,
    configuration: KubeletConfiguration,
    own: Mapping[str, int],
    pods: tuple[PodStats, ...],
) -> None:
    capacity, used = capacity_of(node, "memory"), sum(stats.get("memory") for stats in pods)
    found[signals.MEMORY] = _observe_available(capacity, used + own.get("memory", 0))
    found[signals.ALLOCATABLE_MEMORY] = _observe_available(
        max(capacity - configuration.reserved("memory") // NANO, 0), used
    )


def _disks(found: dict[str, Observation], own: Mapping[str, int], pods: tuple[PodStats, ...], unused: int) -> None:
    writable = sum(stats.get("rootfs") for stats in pods)
    used = own.get("nodefs.used", 0) + sum(stats.get("logs") + stats.local_volumes for stats in pods)
    capacity = own.get("nodefs.capacity", NODE_DISK_CAPACITY)
    inodes = _observe_available(
        own.get("inodes.total", INODES), own.get("inodes.used", 0) + sum(stats.get("inodes") for stats in pods)
    )
    found[signals.NODE_INODES] = inodes
    if "imagefs.capacity" in own:
        found[signals.NODE_DISK] = _observe_available(capacity, used)
        images = _observe_available(own["imagefs.capacity"], own.get("imagefs.used", 0) + unused + writable)
        found[signals.IMAGE_DISK] = found[signals.CONTAINER_DISK] = images
        return
    everything = _observe_available(capacity, used + writable + unused)
    for signal in (signals.NODE_DISK, signals.IMAGE_DISK, signals.CONTAINER_DISK):
        found[signal] = everything
    found[signals.IMAGE_INODES] = found[signals.CONTAINER_INODES] = inodes
