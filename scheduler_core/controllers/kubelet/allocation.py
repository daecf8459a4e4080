"""In-place resizes: the kubelets decide whether a pod gets its new requests now. Keys are nodes.

A resize is granted if the node has room, Infeasible if the node could never have room, and Deferred otherwise. Deferred resizes are
retried when a pod of the node is resized, shrinks, or is removed, and 3 minutes after the last attempt.

DEVIATION: attempts that can't have a new result are skipped.

kube: pkg/kubelet/allocation/allocation_manager.go, pkg/kubelet/kubelet.go (HandlePodUpdates, HandlePodReconcile),
pkg/kubelet/status/status_manager.go (updatedPodResizeCondition), pkg/kubelet/cm/node_container_manager_linux.go @ v1.34.1
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from scheduler_core.apimachinery.objects import SECOND, Node, Pod
from scheduler_core.apimachinery.objects.demand import GUARANTEED, qos_class
from scheduler_core.apimachinery.objects.quantity import nanos, value, value_of_nanos
from scheduler_core.apimachinery.objects.resources import CPU, MEMORY
from scheduler_core.apiserver.watch import MODIFIED, WatchEvent
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.inputs.usage import book_of
from scheduler_core.controllers.kubelet import heartbeats, pods
from scheduler_core.controllers.kubelet.admission import is_static
from scheduler_core.controllers.kubelet.devices import NOT_YET
from scheduler_core.controllers.kubelet.eviction.observations import PodStats, stats_of
from scheduler_core.controllers.kubelet.sizes import asks_otherwise, grant_all, has_outstanding, size_as_allocated
from scheduler_core.controllers.kubelet.status import PENDING_RESIZE, RESIZE_IN_PROGRESS, make_resize_condition
from scheduler_core.controllers.memory.kubelet import ContainerRun, PodRun, Resizes
from scheduler_core.scheduler.config.kubelet.thresholds import MEMORY as MEMORY_SIGNAL

# Memory limits are not lowered below current usage. The kubelet retries when usage falls.
# kube: pkg/kubelet/kuberuntime/kuberuntime_manager.go (validateMemoryResizeAction), pkg/kubelet/cm/helpers_linux.go (ResourceConfigForPod)
# @ v1.34.1

ERROR = "Error"


def check_limits(world: World, pod: Pod, run: PodRun) -> PodRun:
    """Postpone a due resize if it would lower a memory limit below current usage, with the reason Error."""
    failed = (run.in_progress or {}).get("reason") == ERROR
    due = failed or (run.actuates_at is not None and run.actuates_at <= world.now)
    if run.kill is not None or not due or not has_outstanding(run):
        return run
    problems = list(_find_problems(run, stats_of(world, pod)))
    if not problems:
        return replace(run, actuates_at=world.now)
    text = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
    message, now = f"cannot decrease memory limits: {text}", world.store.timestamp(world.now)
    condition = make_resize_condition(pod, now, run.in_progress, RESIZE_IN_PROGRESS, ERROR, message)
    generation = (run.in_progress or condition).get("observedGeneration")
    later = next(book_of(world.surroundings.inputs.usage).of_pod(pod).after(world.now), NOT_YET)
    return replace(run, in_progress={**condition, "observedGeneration": generation}, actuates_at=later)


def _find_problems(run: PodRun, stats: PodStats) -> Iterator[str]:
    lowered = [each for each in run.all if each.running and each.actual is not None and _is_lowered(each)]
    used, below = stats.get("memory"), "memory limit ({}) below current usage ({})"
    before, after = (_sum_limits(run, actual) for actual in (True, False))
    if after and (not before or after < before) and used >= after:
        yield f"attempting to set pod {below.format(after, used)}"
    for each in lowered:
        limit = _read_limit(each.allocated)
        if stats.share("memory", each.name) >= limit:
            yield f'attempting to set container "{each.name}" {below.format(limit, used)}'


def _is_lowered(each: ContainerRun) -> bool:
    before, after = _read_limit(each.actual), _read_limit(each.allocated)
    return after > 0 and (not before or after < before)


def _sum_limits(run: PodRun, actual: bool) -> int:
    """Add up the memory limits of running containers; 0 if one has none."""
    limits = [_read_limit(each.actual if actual and each.actual is not None else each.allocated) for each in run.all]
    return sum(limits) if all(limits) else 0


def _read_limit(resources: Mapping[str, Any] | None) -> int:
    return value(((resources or {}).get("limits") or {}).get("memory", 0))


NAME = "allocation-manager"
INFEASIBLE, DEFERRED = "Infeasible", "Deferred"
ROUND = 180 * SECOND  # between retries of pending resizes
RELIST = SECOND  # from the resize of containers until the kubelet detects it
_STATIC = "In-place resize of static-pods is not supported"


class AllocationManager(Controller):
    """The part of the kubelets that decides about resizes."""

    name = NAME
    component = pods.COMPONENT
    watches = ("Pod", "Node")
    of_kubelet = True

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == "Node":
            if event.type == MODIFIED and event.name in world.surroundings.kubelet.resizes:
                self._next_round(world, event.name)
            return
        old, new = event.old_pod, event.new_pod
        if old is None or not old.node_name:
            return
        node = old.node_name
        if new is not None and old.spec is not new.spec and asks_otherwise(old, new):
            self.push(world, new)
        elif node in world.surroundings.kubelet.resizes:
            if new is None or _has_shrunk(world, old, new):
                self.enqueue(world, node)
            elif new.terminal and not old.terminal:
                self._next_round(world, node)

    def push(self, world: World, pod: Pod) -> None:
        """Queue a pod with a resize."""
        memory = world.surroundings.kubelet
        memory.asking[pod.key] = True
        waiting = memory.resizes.get(pod.node_name, Resizes(at=world.now))
        if pod.key not in waiting.pods:
            memory.resizes[pod.node_name] = replace(waiting, pods=(*waiting.pods, pod.key))
        self.enqueue(world, pod.node_name)

    def look_again(self, world: World, node: str) -> None:
        """Queue all resizes of a node that were not granted. Called when its kubelet starts."""
        memory = world.surroundings.kubelet
        for key in memory.on_node.get(node, ()):
            pod = world.store.pod_at(key) if key in memory.asking else None
            if pod is not None:
                self.push(world, pod)

    def sync(self, world: World, key: str) -> str:
        memory, node = world.surroundings.kubelet, world.store.node(key)
        if node is None or not heartbeats.runs(world, key) or key not in memory.resizes:
            return ""
        deferred, texts = [], []
        for pod in _sort_pending(world, memory.resizes[key].pods, key):
            before = memory.pods[pod.key]
            run, text = _decide(world, pod, before, node)
            memory.put(pod.key, run)
            if size_as_allocated(pod, run) is pod:
                memory.asking.pop(pod.key, None)
            if run != before:
                world.controller(pods.COMPONENT).enqueue(world, pod.key, 0)
            if run.pending is not None and run.pending.get("reason") == DEFERRED:
                deferred.append(pod.key)
            texts += [text] if text else []
        memory.resizes.pop(key)
        if deferred:
            memory.resizes[key] = Resizes(tuple(deferred), world.now)
        return "; ".join(texts)

    def _next_round(self, world: World, node: str) -> None:
        since = world.surroundings.kubelet.resizes[node].at
        self.enqueue_at(world, node, since + ((world.now - since) // ROUND + 1) * ROUND)


def _has_shrunk(world: World, old: Pod, new: Pod) -> bool:
    """Return whether a pod now uses less cpu or memory of its node, according to its status."""
    run = world.surroundings.kubelet.pods.get(new.key)
    if run is None or old.manifest.get("status") is new.manifest.get("status"):
        return False
    before, now = (size_as_allocated(pod, run).requests for pod in (old, new))
    return any(now.get(name) < before.get(name) for name in (CPU, MEMORY))


def _sort_pending(world: World, keys: tuple[str, ...], node: str) -> list[Pod]:
    """Sort pods that wait for a resize: first those that ask for no more, then by priority, class, and time of waiting."""
    memory = world.surroundings.kubelet
    found = []
    for key in keys:
        pod, run = world.store.pod_at(key), memory.pods.get(key)
        if pod is None or run is None or pod.terminal:
            continue
        if (run.uid, run.node) == (pod.uid, node):
            found.append(pod)

    def rank(pod: Pod) -> tuple[bool, int, bool, str]:
        run = memory.pods[pod.key]
        had, asked = size_as_allocated(pod, run).spec.requests, pod.spec.requests
        since = "~" if run.pending is None else str(run.pending["lastTransitionTime"])
        return (
            any(asked.get(name) > had.get(name) for name in (CPU, MEMORY)),
            -pod.priority,
            qos_class(pod.manifest["spec"]) != GUARANTEED,
            since,
        )

    return sorted(found, key=rank)


def _decide(world: World, pod: Pod, run: PodRun, node: Node) -> tuple[PodRun, str]:
    """Decide about the resize of a pod. Return the new state of the pod, and the decision in words."""
    if size_as_allocated(pod, run) is pod:
        return replace(run, pending=None), ""
    now = world.store.timestamp(world.now)
    problem = _STATIC if is_static(pod) else _find_pinned(world, pod, run) or _find_excess(world, pod, node)
    if problem:
        pending = make_resize_condition(pod, now, run.pending, PENDING_RESIZE, INFEASIBLE, problem)
        return replace(run, pending=pending), f"the resize of {pod.key} is infeasible ({problem})"
    refusal, _, _ = pods.admit(world, pod, node)
    if refusal is not None:
        pending = make_resize_condition(pod, now, run.pending, PENDING_RESIZE, DEFERRED, refusal.message)
        return replace(run, pending=pending), f"the resize of {pod.key} is deferred ({refusal.message})"
    in_progress = make_resize_condition(pod, now, None, RESIZE_IN_PROGRESS)
    run = grant_all(run, pods.setting_of(world, pod))
    run = replace(run, pending=None, in_progress=in_progress, actuates_at=world.now + RELIST)
    return run, f"granted the resize of {pod.key}"


def _find_pinned(world: World, pod: Pod, run: PodRun) -> str:
    """Return the reason if a manager's static policy forbids the resize of a Guaranteed pod, or ""."""
    if qos_class(pod.manifest["spec"]) != GUARANTEED:
        return ""
    had = size_as_allocated(pod, run).spec.requests
    managers = {CPU: ("CPU", "static"), MEMORY: ("Memory", "Static")}
    for name in world.cluster.kubelet_of(pod.node_name).pinned:
        if had.get(name) != pod.spec.requests.get(name):
            manager, policy = managers[name]
            return f'Resize is infeasible for Guaranteed Pods alongside {manager} Manager policy "{policy}"'
    return ""


def _find_excess(world: World, pod: Pod, node: Node) -> str:
    """Compare the requests of a pod with the node's allocatable. Return the message if they exceed it."""
    requests, capacity = pod.spec.requests, _measure_memory(world, node)
    short = ""
    if requests.memory > capacity:
        short = f"memory, requested: {requests.memory}, capacity: {capacity}"
    elif requests.milli_cpu > node.allocatable.milli_cpu:
        short = f"cpu, requested: {requests.milli_cpu}, capacity: {node.allocatable.milli_cpu}"
    return f"Node didn't have enough capacity: {short}" if short else ""


def _measure_memory(world: World, node: Node) -> int:
    """Return the node's allocatable memory before hard eviction thresholds."""
    capacity = ((node.manifest.get("status") or {}).get("capacity") or {}).get("memory")
    allocatable = node.allocatable.memory
    if capacity is None:
        return allocatable
    there = value_of_nanos(nanos(capacity))
    thresholds = world.cluster.kubelet_of(node.name).thresholds
    kept = sum(each.amount.of(there) for each in thresholds if each.hard and each.signal == MEMORY_SIGNAL)
    return max(min(allocatable + kept, there), allocatable)
