"""The controller that represents the kubelets of all nodes: keys are pods ("namespace/name") and nodes ("name").

A stopped kubelet does nothing; the containers of its pods continue to run, and the kubelet catches up when it starts. When a node is
deleted, its kubelet ends.
"""

from dataclasses import replace
from functools import partial

from scheduler_core.apimachinery.dra.claims import KIND as DEVICE_CLAIM
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.storage.volumes import CLAIM
from scheduler_core.apiserver.watch import ADDED, DELETED, WatchEvent
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.kubelet import admission, heartbeats, images, nodes, pods
from scheduler_core.controllers.kubelet.admission import is_critical, is_mirror, refusals
from scheduler_core.controllers.kubelet.allocation import AllocationManager, check_limits
from scheduler_core.controllers.kubelet.containers import Setting
from scheduler_core.controllers.kubelet.devices import users
from scheduler_core.controllers.kubelet.eviction.manager import EvictionManager
from scheduler_core.controllers.kubelet.out_of_memory import OutOfMemoryKiller
from scheduler_core.controllers.kubelet.pods import SyncResult, active, refuse
from scheduler_core.controllers.kubelet.sizes import has_outstanding, size_as_allocated
from scheduler_core.controllers.memory.kubelet import ContainerRun, PodRun
from scheduler_core.controllers.surroundings import Inputs
from scheduler_core.controllers.volumes.attachments import ATTACHMENT

# A restarted kubelet admits its node's pods again, the oldest first.
#
# A running pod that the node would now reject, because of changed labels or taints, fails permanently.
#
# DEVIATION: critical pods, mirror pods and those being deleted stay without being admitted again.
# kube: pkg/kubelet/kubelet.go (HandlePodAdditions), pkg/kubelet/allocation/allocation_manager.go (AddPod) @ v1.34.1


def readmit(world: World, name: str) -> None:
    """Admit a node's pods again, the oldest first. Pods that the node now rejects fail."""
    memory, node = world.surroundings.kubelet, world.store.node(name)
    if node is None:
        return
    kept: list[Pod] = []
    for pod in sorted(active(world, name), key=lambda pod: pod.creation_time or 0):
        found = [] if pod.deleting or is_critical(pod) else refusals(pod, node, kept)
        if found:
            refuse(world, pod, found[0])
            memory.drop(pod.key)
        else:
            kept.append(pod)


NAME = "kubelet"
EVICTION, KERNELS, ALLOCATION = EvictionManager(), OutOfMemoryKiller(), AllocationManager()


class Kubelet(Controller):
    """The kubelets of all nodes."""

    name = NAME
    component = pods.COMPONENT
    watches = ("Node", "Pod", CLAIM, ATTACHMENT, DEVICE_CLAIM)
    of_kubelet = True

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == "Node":
            self._on_node(world, event)
            return
        if event.kind in (CLAIM, ATTACHMENT, DEVICE_CLAIM):
            for key in users(world, event):
                self.enqueue(world, key)
            return
        world.surroundings.volumes.users.follow(event.old_pod, event.new_pod)
        world.surroundings.devices.users.follow(event.old_pod, event.new_pod)
        if event.new_pod is None:
            key = f"{event.namespace}/{event.name}"
            is_made_anew = admission.remember(world, event)
            world.surroundings.kubelet.drop(key)
            self.forget(world, key)
            if is_made_anew:
                self.enqueue(world, key)
        elif event.new_pod.node_name and _concerns(event):
            self._see(world, event.new_pod)

    def on_start(self, world: World) -> None:
        for node in world.store.nodes():
            images.learn_of(world, node)
            self._start(world, node.name)
            self.enqueue(world, node.name, nodes.READY_LATENCY)
        for pod in _by_age(world.store.pods()):
            if pod.node_name and not pod.terminal and pod.key not in world.surroundings.kubelet.pods:
                self._see(world, pod)

    def on_inputs(self, world: World, before: Inputs) -> None:
        inputs, memory = world.surroundings.inputs, world.surroundings.kubelet
        for name in before.stopped:
            if name not in inputs.stopped and name in memory.stopped:
                self._start(world, name)
                self.enqueue(world, name, nodes.READY_LATENCY)
                _forget_pauses(world, name)
                readmit(world, name)
                ALLOCATION.look_again(world, name)
                for pod in _by_age(world.store.pods()):
                    if pod.node_name == name and not pod.terminal:
                        self.enqueue(world, pod.key)
        for name in inputs.stopped:
            if name in memory.since:
                memory.stopped.setdefault(name, world.now)
        for condition in dict.fromkeys((*before.conditions, *inputs.conditions)):
            if (condition in before.conditions) != (condition in inputs.conditions):
                self._report(world, condition.node)
        if inputs.usage != before.usage:
            for key in [key for key, run in memory.pods.items() if has_outstanding(run)]:
                self.enqueue(world, key)
        if inputs.programs != before.programs:
            self._change_programs(world, before)

    def sync(self, world: World, key: str) -> str:
        if "/" not in key:
            text, again = nodes.report_node(world, key)
            if again is not None:
                self.enqueue_at(world, key, again)
            return text
        done = self._sync_pod(world, key)
        if done.again is not None:
            self.enqueue_at(world, key, done.again)
        return done.text

    # pods

    def _see(self, world: World, pod: Pod) -> None:
        """Handle a new pod on a node, or a change of one."""
        memory = world.surroundings.kubelet
        if pod.node_name not in memory.since:
            memory.homeless[pod.node_name] = (*memory.homeless.get(pod.node_name, ()), pod.key)
            return
        if pod.phase == "Running" and pod.key not in memory.pods:
            run = pods.adopt_running_pod(world, pod)
            memory.put(pod.key, run)
            if size_as_allocated(pod, run) is not pod:
                ALLOCATION.push(world, pod)
            timed = pod.manifest["spec"].get("activeDeadlineSeconds") is not None
            rests = not pod.deleting and run.actuates_at is None and not timed
            if rests and all(each.ends is None for each in run.all):
                return
        self.enqueue(world, pod.key)

    def _sync_pod(self, world: World, key: str) -> SyncResult:
        memory = world.surroundings.kubelet
        pod, run = world.store.pod_at(key), memory.pods.get(key)
        if run is not None and (pod is None or pod.uid != run.uid):
            memory.drop(key)
            run = None
        if pod is None and key in memory.mirrors:
            return SyncResult(admission.restore(world, key), world.now)
        if pod is None or pod.terminal or not heartbeats.runs(world, pod.node_name):
            return SyncResult()
        if pods.is_overdue(world, pod):
            return SyncResult()
        if run is not None and pod.deleting and is_mirror(pod):
            return SyncResult(admission.let_go(world, pod))
        if run is not None:
            done = pods.look_after(world, pod, check_limits(world, pod, run))
            if _running(memory.pods.get(key)) != _running(run):
                _usage_changed(world, pod.node_name)
            return done
        if pod.deleting:
            return pods.remove(world, pod)
        node = world.store.node(pod.node_name)
        return SyncResult() if node is None else pods.arrive(world, pod, node)

    def _change_programs(self, world: World, before: Inputs) -> None:
        """Update the planned ends of running containers whose program has changed."""
        memory = world.surroundings.kubelet
        for key, run in list(memory.pods.items()):
            pod = world.store.pod_at(key)
            if pod is None:
                continue
            setting = pods.setting_of(world, pod)
            old = replace(setting, programs=before.programs)
            if any(old.program(each.name) != setting.program(each.name) for each in run.all):
                memory.put(key, run.with_each(partial(_retime_container, setting)))
                self.enqueue(world, key)

    # nodes

    def _on_node(self, world: World, event: WatchEvent) -> None:
        images.learn(world, event)
        memory, name = world.surroundings.kubelet, event.name
        if event.type == DELETED:
            memory.since.pop(name, None)
            memory.stopped.pop(name, None)
            memory.pulled.pop(name, None)
            self.forget(world, name)
        elif event.type == ADDED:
            self._start(world, name)
            assert event.new_node is not None
            if not event.new_node.ready:
                self.enqueue(world, name)
            keys = (*memory.homeless.pop(name, ()), *memory.on_node.get(name, ()))
            found = [world.store.pod_at(key) for key in dict.fromkeys(keys)]
            for pod in _by_age([pod for pod in found if pod is not None]):
                if pod.node_name == name and not pod.terminal:
                    self._see(world, pod)
        elif _conditions(event.old) != _conditions(event.new):
            self._report(world, name)

    def _start(self, world: World, name: str) -> None:
        memory = world.surroundings.kubelet
        memory.since[name] = world.now
        memory.stopped.pop(name, None)
        if name in world.surroundings.inputs.stopped:
            memory.stopped[name] = world.now

    def _report(self, world: World, name: str) -> None:
        """Schedule the kubelet's next write of the node's status, if anything has changed."""
        node = world.store.node(name)
        if node is None:
            return
        if not heartbeats.runs(world, name):
            self.enqueue(world, name)
        elif nodes.as_reported(world, node) is not None:
            heartbeats.report(world, name)


def _forget_pauses(world: World, node: str) -> None:
    """Clear all back-offs of a node: a starting kubelet restarts crashed containers at once."""
    memory = world.surroundings.kubelet
    for key in memory.on_node.get(node, ()):
        memory.put(key, memory.pods[key].with_each(partial(replace, pause=0, paused_at=0)))


def _by_age(pods_: list[Pod]) -> list[Pod]:
    """Sort pods as a starting kubelet admits them: the oldest first."""
    return sorted(pods_, key=lambda pod: pod.creation_time or 0)


def _running(run: PodRun | None) -> list[tuple[str, int]]:
    """Return the running containers with their numbers of starts."""
    return [] if run is None else [(each.name, each.starts) for each in run.all if each.running]


def _usage_changed(world: World, node: str) -> None:
    """Notify the eviction manager and the OOM killer of a node's changed usage."""
    if world.surroundings.inputs.usage or node in world.surroundings.kubelet.eviction:
        EVICTION.look(world, node)
        KERNELS.look(world, node)


def _concerns(event: WatchEvent) -> bool:
    """Return whether a kubelet must sync a changed pod on its node. Status changes count only for pods with readiness gates."""
    old, new = event.old_pod, event.new_pod
    assert new is not None
    if new.terminal:
        return False
    if old is None or not old.node_name or event.old is None or event.new is None:
        return True
    before, after = event.old["metadata"], event.new["metadata"]
    if before.get("deletionTimestamp") != after.get("deletionTimestamp"):
        return True
    if event.old.get("spec") is not event.new.get("spec") and event.old.get("spec") != event.new.get("spec"):
        return True
    gates = event.new["spec"].get("readinessGates")
    return bool(gates) and event.old.get("status") != event.new.get("status")


def _conditions(manifest: object) -> object:
    return ((manifest or {}).get("status") or {}).get("conditions")  # type: ignore[attr-defined]


def _retime_container(setting: Setting, each: ContainerRun) -> ContainerRun:
    if not each.running or each.signalled or each.started is None:
        return each
    length, exit_code = setting.program(each.name).run(each.starts - 1)
    return replace(each, ends=None if length is None else max(each.started + length, setting.now), exit_code=exit_code)
