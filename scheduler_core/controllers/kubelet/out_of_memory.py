"""The OOM killers of all nodes: they kill when memory is exhausted before a housekeeping, and when a container exceeds its limit.

The victim is the container with the most memory in use, its oom_score_adj counted in thousandths of the node's memory. The time is
computed from the declared usage. DEVIATION: the node's usage apart from pods is never killed.

kube: pkg/kubelet/oom/oom_watcher_linux.go @ v1.34.1; Linux: mm/oom_kill.c (oom_badness)
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from heapq import merge
from itertools import islice
from typing import Any

from scheduler_core.apimachinery.objects import Node, Pod
from scheduler_core.apimachinery.objects.demand import BEST_EFFORT, GUARANTEED, qos_class
from scheduler_core.apimachinery.objects.quantity import value
from scheduler_core.apimachinery.objects.resources import MEMORY, is_sidecar, pod_requests
from scheduler_core.apiserver.kube_events import WARNING
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.inputs.programs import KILL_EXIT
from scheduler_core.controllers.inputs.usage import UsageBook, book_of
from scheduler_core.controllers.kubelet import pods
from scheduler_core.controllers.kubelet.admission import is_node_critical
from scheduler_core.controllers.kubelet.eviction.observations import PodStats, capacity_of, stats_of
from scheduler_core.controllers.memory.kubelet import ContainerRun
from scheduler_core.controllers.surroundings import Inputs

# oom_score_adj: the kernel's preference to kill a container's processes when memory is exhausted, from -1000 (never) to 1000 (first).
# kube: pkg/kubelet/qos/{policy,helpers}.go @ v1.34.1

_GUARANTEED, _BEST_EFFORT = -997, 1000


def oom_score_adj(pod: Pod, container: str, capacity: int) -> int:
    """Return a container's score; `capacity` is the node's memory (bytes). Raise KeyError if the pod lacks the container."""
    spec = pod.manifest["spec"]
    regular = spec.get("containers") or ()
    found = {each.get("name"): each for each in (*(spec.get("initContainers") or ()), *regular)}[container]
    if is_node_critical(pod):
        return _GUARANTEED
    quality = qos_class(spec)
    if quality == GUARANTEED:
        return _GUARANTEED
    if quality == BEST_EFFORT or not capacity:
        return _BEST_EFFORT
    rest = _rest_per_container(spec)
    score = 1000 - 1000 * (_request(found) + rest) // capacity
    if is_sidecar(found) and found not in regular:
        # A sidecar must not be killed before the containers that it serves, so it gets no higher score than they do.
        least = min((_request(each) for each in regular), default=0) + rest
        score = min(score, 1000 - 1000 * least // capacity)
    # A guaranteed pod that uses all memory can reach a score of 10; a burstable one must stay above it (kube's helper).
    if score < 1000 + _GUARANTEED:
        return 1000 + _GUARANTEED
    # A burstable pod must survive best-effort ones, even if its request is too small to affect the score.
    return score - 1 if score == _BEST_EFFORT else score


def _request(container: Mapping[str, Any]) -> int:
    return value(((container.get("resources") or {}).get("requests") or {}).get(MEMORY, 0))


def _rest_per_container(spec: Mapping[str, Any]) -> int:
    """Return the pod-level memory request beyond the containers' requests, per container."""
    whole = value(((spec.get("resources") or {}).get("requests") or {}).get(MEMORY, 0))
    if not whole:
        return 0
    of_containers = {name: part for name, part in spec.items() if name not in ("overhead", "resources")}
    containers = len(spec.get("containers") or ()) + len(spec.get("initContainers") or ())
    return int((whole - pod_requests(of_containers).memory) / containers)


NAME = "out-of-memory-killer"
SYSTEM_OOM, OOM_KILLED = "SystemOOM", "OOMKilled"
_MOST_CHANGES = 50  # the most changes of usage checked in advance
Victim = tuple[PodStats, str]


class OutOfMemoryKiller(Controller):
    """Keys are nodes."""

    name = NAME
    component = pods.COMPONENT
    watches = ("Node",)
    of_kubelet = True

    def on_start(self, world: World) -> None:
        for node in world.store.nodes():
            self.look(world, node.name)

    def on_inputs(self, world: World, before: Inputs) -> None:
        if world.surroundings.inputs.usage != before.usage:
            self.on_start(world)

    def look(self, world: World, node: str) -> None:
        """Schedule the next foreseeable kill."""
        book, found = book_of(world.surroundings.inputs.usage), world.store.node(node)
        if not book or found is None:
            return
        stats = [stats_of(world, pod) for pod in pods.active(world, node)]
        times = list(islice(_times(book, found, stats, world.now), _MOST_CHANGES))
        for at in (world.now, *times):
            then = [replace(each, amounts=book.of_pod(each.pod).at(at)) for each in stats]
            if _over_limit(then) or _is_gone(book, found, then, at):
                self.enqueue_at(world, node, at)
                return
        if len(times) == _MOST_CHANGES:
            self.enqueue_at(world, node, times[-1])

    def sync(self, world: World, key: str) -> str:
        book, node = book_of(world.surroundings.inputs.usage), world.store.node(key)
        if node is None:
            return ""
        killed = []
        stats = [stats_of(world, pod) for pod in pods.active(world, key)]
        for victim in _over_limit(stats):
            self._kill(world, victim)
            killed.append(f"{_format_victim(victim)} (over its limit)")
        capacity = capacity_of(node, "memory")
        while True:
            stats = [stats_of(world, pod) for pod in pods.active(world, key)]
            found = _worst(stats, capacity) if _used(book, node, stats, world.now) > capacity else None
            if found is None:
                break
            self._kill(world, found)
            self.event(world, WARNING, SYSTEM_OOM, "Node", key, f"System OOM encountered, victim process: {found[1]}")
            killed.append(_format_victim(found))
        self.look(world, key)
        return f"out of memory: killed {', '.join(killed)}" if killed else ""

    def _kill(self, world: World, victim: Victim) -> None:
        stats, name = victim
        memory, key = world.surroundings.kubelet, stats.pod.key

        def ended(each: ContainerRun) -> ContainerRun:
            if each.name != name or not each.running:
                return each
            return replace(each, ends=world.now, exit_code=KILL_EXIT, reason=OOM_KILLED)

        memory.put(key, memory.pods[key].with_each(ended))
        world.controller("kubelet").enqueue(world, key, 0)


def _times(book: UsageBook, node: Node, stats: list[PodStats], now: int) -> Iterator[int]:
    """Yield the later times at which the usage changes, in order."""
    curves = [book.of_node(node.name), *(book.of_pod(each.pod) for each in stats)]
    last = None
    for at in merge(*(curve.after(now) for curve in curves)):
        if at != last:
            last = at
            yield at


def _used(book: UsageBook, node: Node, stats: list[PodStats], at: int) -> int:
    return book.of_node(node.name).at(at).get("memory", 0) + sum(each.get("memory") for each in stats)


def _is_gone(book: UsageBook, node: Node, stats: list[PodStats], at: int) -> bool:
    """Return whether more memory is used than the node has, some of it by pods."""
    capacity = capacity_of(node, "memory")
    return _used(book, node, stats, at) > capacity and _worst(stats, capacity) is not None


def _over_limit(stats: list[PodStats]) -> list[Victim]:
    """Return the containers that exceed their memory limits."""
    found = []
    for each in stats:
        spec = each.pod.manifest["spec"]
        for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
            limit, name = _limit(container), str(container.get("name"))
            if limit and each.share("memory", name) > limit:
                found.append((each, name))
        whole = _limit(spec)
        if whole and each.get("memory") > whole and each.containers and not (found and found[-1][0] is each):
            found.append((each, each.containers[0]))
    return found


def _limit(part: Any) -> int:
    return value(((part.get("resources") or {}).get("limits") or {}).get("memory", 0))


def _worst(stats: list[PodStats], capacity: int) -> Victim | None:
    """Return the container that the kernel kills, or None."""
    worst, most = None, None
    for each in stats:
        for name in each.containers:
            used = each.share("memory", name)
            score = used + oom_score_adj(each.pod, name, capacity) * capacity // 1000
            if used and (most is None or score > most):
                worst, most = (each, name), score
    return worst


def _format_victim(victim: Victim) -> str:
    return f"{victim[1]} of {victim[0].pod.key}"
