"""The eviction managers of all kubelets: housekeeping of a node, at the times when something may have changed.

kube: pkg/kubelet/eviction/eviction_manager.go @ v1.34.1
"""

from dataclasses import replace

from scheduler_core.apimachinery.objects import SECOND, Node, Pod
from scheduler_core.apiserver import WARNING, WatchEvent
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.inputs.usage import book_of
from scheduler_core.controllers.kubelet import heartbeats, pods
from scheduler_core.controllers.kubelet.admission import is_critical
from scheduler_core.controllers.kubelet.eviction.judgement import (
    RESOURCES,
    Judgement,
    amount,
    eviction_message,
    explain_exceeded_limit,
    judge,
    met,
    next_change,
    rank_pods,
    threshold_text,
    tick,
)
from scheduler_core.controllers.kubelet.eviction.observations import Observations, observe
from scheduler_core.controllers.memory.kubelet import Eviction, EvictionState
from scheduler_core.controllers.surroundings import Inputs
from scheduler_core.scheduler.config.kubelet import KubeletConfiguration, Threshold
from scheduler_core.scheduler.config.kubelet import thresholds as signals
from scheduler_core.scheduler.config.kubelet.thresholds import with_container_disk

NAME = "eviction-manager"
EVICTED, THRESHOLD_MET = "Evicted", "EvictionThresholdMet"
IMMEDIATELY = 1  # seconds of grace
_IMAGE_GC = 300 * SECOND
_CLEANUP, _CLEANUP_POLL = 30 * SECOND, SECOND
_DISK = (
    signals.NODE_DISK,
    signals.NODE_INODES,
    signals.IMAGE_DISK,
    signals.IMAGE_INODES,
    signals.CONTAINER_DISK,
    signals.CONTAINER_INODES,
)


class EvictionManager(Controller):
    """Keys are nodes."""

    name = NAME
    component = pods.COMPONENT
    watches = ("Node",)
    of_kubelet = True

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.new is None:
            _forget(world, event.name)
            world.surroundings.kubelet.evictions.pop(event.name, None)
            self.forget(world, event.name)
        elif event.old is None:
            self.look(world, event.name)

    def on_start(self, world: World) -> None:
        for node in world.store.nodes():
            self.look(world, node.name)

    def on_inputs(self, world: World, before: Inputs) -> None:
        now = world.surroundings.inputs
        if now.usage != before.usage:
            self.on_start(world)
        for name in before.stopped:
            if name not in now.stopped:
                _forget(world, name)
                self.look(world, name)

    def look(self, world: World, node: str) -> None:
        """Enqueue a node for its next housekeeping, if anything is measured there."""
        memory = world.surroundings.kubelet
        if not heartbeats.runs(world, node):
            return
        state = memory.eviction.get(node)
        if state is None:
            if not _is_measured(world, node):
                return
            state = EvictionState(memory.since[node])
        if not state.waits_for:
            self.enqueue_at(world, node, tick(state, world.now))
        elif not _still_there(world, state):
            polls = -(-(world.now - state.at) // _CLEANUP_POLL)
            self.enqueue_at(world, node, state.at + max(polls, 1) * _CLEANUP_POLL)

    def sync(self, world: World, key: str) -> str:
        memory, node = world.surroundings.kubelet, world.store.node(key)
        if node is None or not heartbeats.runs(world, key):
            return ""
        collected = self._collect_images(world, node)
        state = memory.eviction.get(key) or EvictionState(memory.since[key])
        if state.waits_for and _still_there(world, state) and world.now < state.patience:
            return ""
        configuration = world.cluster.kubelet_of(key)
        observed = observe(world, node, configuration)
        available = tuple((signal, left.available) for signal, left in observed.signals.items())
        world.surroundings.note_level(f"Signals//{key}", world.now, available)
        thresholds = with_container_disk(configuration.thresholds, observed.image_disk)
        judged = judge(state, thresholds, observed.signals, configuration, world.now)
        memory.eviction[key] = judged.state
        conditions = judged.conditions
        pressure = world.surroundings.kubelet.pressure
        if pressure.get(node.name, ()) != conditions:
            pressure[node.name] = conditions
            if not conditions:
                del pressure[node.name]
            heartbeats.report(world, node.name)
        text, evicted = self._act(world, node, configuration, observed, judged)
        self._wait(world, key, configuration, evicted)
        return "; ".join(part for part in (collected, text) if part)

    def _collect_images(self, world: World, node: Node) -> str:
        """Collect unused images every 5 minutes since the kubelet started: from the high to the low mark of their disk.

        kube: pkg/kubelet/images/image_gc_manager.go
        """
        memory, configuration = world.surroundings.kubelet, world.cluster.kubelet_of(node.name)
        observed = observe(world, node, configuration)
        disk = observed.signals[signals.IMAGE_DISK]
        used = 100 - disk.available * 100 // disk.capacity if disk.capacity else 0
        if used < configuration.image_high or not observed.unused_images:
            return ""
        since = memory.since[node.name]
        if (world.now - since) % _IMAGE_GC:
            self.enqueue_at(world, node.name, since + -(-(world.now - since) // _IMAGE_GC) * _IMAGE_GC)
            return ""
        wanted = disk.capacity * (100 - configuration.image_low) // 100 - disk.available
        freed = min(max(wanted, 0), observed.unused_images)
        self._note_freed(world, node, observed, freed)
        return f"freed {amount(freed, 'memory')} of unused images: their disk is {used} % full"

    def _note_freed(self, world: World, node: Node, observed: Observations, freed: int) -> None:
        memory = world.surroundings.kubelet
        state = memory.eviction.get(node.name) or EvictionState(memory.since[node.name])
        gone = observed.declared_images - observed.unused_images + freed
        memory.eviction[node.name] = replace(state, freed=(observed.declared_images, gone))

    def _wait(
        self, world: World, node: str, configuration: KubeletConfiguration, evicted: list[tuple[Pod, int]]
    ) -> None:
        """Schedule the next housekeeping: when the evicted pods are gone, or at the next foreseeable change."""
        memory = world.surroundings.kubelet
        state = memory.eviction[node]
        if evicted:
            longest = max(grace for _, grace in evicted)
            patience = world.now + max(longest * 3 // 2, 10) * SECOND + _CLEANUP
            keys = tuple(pod.key for pod, _ in evicted)
            memory.eviction[node] = replace(state, waits_for=keys, patience=patience)
            self.enqueue_at(world, node, patience)
            return
        book = book_of(world.surroundings.inputs.usage)
        curves = [book.of_node(node), *(book.of_pod(pod) for pod in pods.active(world, node))]
        moments = [next(curve.after(world.now), None) for curve in curves]
        foreseen = min((at for at in moments if at is not None), default=None)
        planned = [next_change(state, configuration), None if foreseen is None else tick(state, foreseen)]
        for at in planned:
            if at is not None:
                self.enqueue_at(world, node, at)
        if foreseen is None and not (state.first or state.last or state.freed[1] or memory.pressure.get(node)):
            del memory.eviction[node]

    # actions

    def _act(
        self, world: World, node: Node, configuration: KubeletConfiguration, observed: Observations, judged: Judgement
    ) -> tuple[str, list[tuple[Pod, int]]]:
        """Reclaim resources or evict pods. Return a description, and the evicted pods with their grace (s)."""
        if configuration.local_storage:
            over = [
                (stats, why) for stats in observed.pods if (why := explain_exceeded_limit(stats, observed.image_disk))
            ]
            over = [(stats, why) for stats, why in over if not is_critical(stats.pod)]
            for stats, why in over:
                self._evict(world, stats.pod, IMMEDIATELY, why, "")
            if over:
                names = ", ".join(stats.pod.key for stats, _ in over)
                return f"evicted {names}: over a limit of local storage", [(s.pod, IMMEDIATELY) for s, _ in over]
        if not judged.thresholds:
            return self._describe(judged), []
        threshold = judged.thresholds[0]
        resource = RESOURCES[threshold.signal]
        self.event(world, WARNING, THRESHOLD_MET, "Node", node.name, f"Attempting to reclaim {resource}")
        if freed := self._free(world, node, configuration, observed, threshold):
            return freed, []
        return self._evict_one(world, node, configuration, observed, judged)

    def _describe(self, judged: Judgement) -> str:
        if judged.state.first:
            names = ", ".join(threshold.signal for threshold, _ in judged.state.first)
            return f"{names} is below its threshold, for less than its grace period"
        return ""

    def _free(
        self,
        world: World,
        node: Node,
        configuration: KubeletConfiguration,
        observed: Observations,
        threshold: Threshold,
    ) -> str:
        """Free unused images if the disk is short. Return a description if that is enough, else ""."""
        frees = threshold.signal in _DISK
        if observed.image_disk and threshold.signal in (signals.NODE_DISK, signals.NODE_INODES):
            frees = False
        if not frees:
            return ""
        memory = world.surroundings.kubelet
        if observed.unused_images:
            self._note_freed(world, node, observed, observed.unused_images)
            self.enqueue_at(world, node.name, tick(memory.eviction[node.name], world.now))
        again = observe(world, node, configuration)
        thresholds = with_container_disk(configuration.thresholds, again.image_disk)
        if met(thresholds, again.signals, True):
            return ""
        return f"freed {amount(observed.unused_images, 'memory')} of unused images: that is enough"

    def _evict_one(
        self, world: World, node: Node, configuration: KubeletConfiguration, observed: Observations, judged: Judgement
    ) -> tuple[str, list[tuple[Pod, int]]]:
        """Evicts the first pod in the ranking that is not critical."""
        threshold = judged.thresholds[0]
        rows = rank_pods(observed.pods, threshold.signal, observed.image_disk)
        chosen = next(((stats, i) for i, (stats, _) in enumerate(rows) if not is_critical(stats.pod)), None)
        resource = RESOURCES[threshold.signal]
        if chosen is None:
            return f"{resource} is short, but no pod can be evicted", []
        stats, place = chosen
        grace = IMMEDIATELY
        if not threshold.hard:
            grace = min(configuration.max_pod_grace, stats.pod.spec.termination_grace_seconds)
        message = eviction_message(resource, stats, judged.thresholds, observed)
        observation = observed.signals[threshold.signal]
        world.surroundings.kubelet.note(
            Eviction(
                world.now,
                node.name,
                threshold.signal,
                resource,
                threshold_text(threshold, observation),
                amount(observation.available, resource),
                tuple(row for _, row in rows),
                stats.pod.key,
                message,
            )
        )
        self._evict(world, stats.pod, grace, message, message)
        left = amount(observation.available, resource)
        text = f"{resource} is short ({left} left): evicted {stats.pod.key}, number {place + 1} of {len(rows)}"
        return text, [(stats.pod, grace)]

    def _evict(self, world: World, pod: Pod, grace: int, message: str, disruption: str) -> None:
        self.event(world, WARNING, EVICTED, "Pod", pod.key, message)
        pods.end(world, pod, grace, EVICTED, message, disruption)


def _forget(world: World, node: str) -> None:
    """Delete an eviction manager's state when its kubelet ends."""
    world.surroundings.kubelet.eviction.pop(node, None)
    world.surroundings.kubelet.pressure.pop(node, None)


def _is_measured(world: World, node: str) -> bool:
    """Return whether a user declared usage for the node or for a pod on it."""
    book = book_of(world.surroundings.inputs.usage)
    own = book and book.of_node(node).times
    return bool(own) or (bool(book) and any(book.of_pod(pod).times for pod in pods.active(world, node)))


def _still_there(world: World, state: EvictionState) -> bool:
    """Return whether a container of the evicted pods still runs."""
    found = [world.surroundings.kubelet.pods.get(key) for key in state.waits_for]
    return any(run is not None and any(each.running for each in run.all) for run in found)
