"""Event handlers: what a watch event does to a scheduler's cache and queue.

kube: eventhandlers.go, framework/events.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.api.watch import ADDED, DELETED, WatchEvent
from scheduler_core.framework.events import Action, ClusterEvent
from scheduler_core.objects.node import Node
from scheduler_core.objects.pod import Pod
from scheduler_core.scheduler import binding
from scheduler_core.scheduler.scheduler import Scheduler

NODE_ADD = ClusterEvent("Node", Action.ADD, "NodeAdd")
NODE_DELETE = ClusterEvent("Node", Action.DELETE, "NodeDelete")
ASSIGNED_POD_ADD = ClusterEvent("AssignedPod", Action.ADD, "AssignedPodAdd")
POD_GATES_GONE = ClusterEvent(
    "UnscheduledPod", Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED, "PodUpdateSchedulingGatesEliminated"
)


def on_watch(scheduler: Scheduler, event: WatchEvent) -> None:
    """Brings cache and queue up to date with one change in the API server."""
    if event.kind == "Pod":
        _on_pod(scheduler, event)
    elif event.kind == "Node":
        _on_node(scheduler, event)
    else:
        _on_other(scheduler, event)
    scheduler.wake_up()


# Nodes


def _on_node(scheduler: Scheduler, event: WatchEvent) -> None:
    now = scheduler.world.now
    if event.type == DELETED:
        assert event.old_node is not None
        scheduler.queue.move_all(NODE_DELETE, now)
        scheduler.cache.remove_node(event.old_node)
        return
    assert event.new_node is not None
    scheduler.cache.add_node(event.new_node)
    if event.type == ADDED or event.old_node is None:
        scheduler.queue.move_all(NODE_ADD, now)
        return
    for change in node_changes(event.old_node, event.new_node):
        scheduler.queue.move_all(change, now)


def node_changes(old: Node, new: Node) -> list[ClusterEvent]:
    """The events that an update of a node amounts to, in kube's order."""
    found = []
    if old.unschedulable and not new.unschedulable:
        found.append(ClusterEvent("Node", Action.UPDATE_NODE_TAINT, "NodeTaintChange"))
    if old.allocatable != new.allocatable or old.allowed_pods != new.allowed_pods:
        found.append(ClusterEvent("Node", Action.UPDATE_NODE_ALLOCATABLE, "NodeAllocatableChange"))
    if old.labels != new.labels:
        found.append(ClusterEvent("Node", Action.UPDATE_NODE_LABEL, "NodeLabelChange"))
    if old.taints != new.taints:
        found.append(ClusterEvent("Node", Action.UPDATE_NODE_TAINT, "NodeTaintChange"))
    if _conditions(old) != _conditions(new):
        found.append(ClusterEvent("Node", Action.UPDATE_NODE_CONDITION, "NodeConditionChange"))
    if old.annotations != new.annotations:
        found.append(ClusterEvent("Node", Action.UPDATE_NODE_ANNOTATION, "NodeAnnotationChange"))
    return found


def _conditions(node: Node) -> list[tuple[str, str]]:
    status = node.manifest.get("status") or {}
    return [(c.get("type", ""), c.get("status", "")) for c in status.get("conditions") or ()]


# Pods


def _on_pod(scheduler: Scheduler, event: WatchEvent) -> None:
    old = event.old_pod if event.old_pod is not None and not event.old_pod.terminal else None
    new = event.new_pod if event.new_pod is not None and not event.new_pod.terminal else None
    if old is not None and new is not None and old.uid != new.uid:
        _on_pod_change(scheduler, old, None)
        old = None
    _on_pod_change(scheduler, old, new)


def _on_pod_change(scheduler: Scheduler, old: Pod | None, new: Pod | None) -> None:
    was_assigned = old is not None and bool(old.node_name)
    is_assigned = new is not None and bool(new.node_name)
    if old is not None and not was_assigned and (new is None or is_assigned):
        _leave_queue(scheduler, old, bound=is_assigned)
    if old is not None and was_assigned and not is_assigned:
        _unassign(scheduler, old)
    if new is None:
        return
    if is_assigned and not was_assigned:
        scheduler.cache.add_pod(new)
        scheduler.queue.move_all(ASSIGNED_POD_ADD, scheduler.world.now)
    elif is_assigned and old is not None:
        scheduler.cache.update_pod(new)
        for change in pod_changes(old, new, "AssignedPod"):
            scheduler.queue.move_all(change, scheduler.world.now)
    elif not is_assigned:
        _wait_in_queue(scheduler, old, new)


def _leave_queue(scheduler: Scheduler, pod: Pod, bound: bool) -> None:
    if not scheduler.responsible_for(pod):
        return
    scheduler.queue.delete(pod)
    if bound:
        return
    waiting = next((b for b in scheduler.bindings.values() if b.pod.key == pod.key and b.waiting), None)
    if waiting is not None:
        binding.reject(scheduler, waiting, "", "removed")


def _unassign(scheduler: Scheduler, pod: Pod) -> None:
    scheduler.cache.remove_pod(pod)
    scheduler.queue.move_all(binding.POD_DELETE, scheduler.world.now)


def _wait_in_queue(scheduler: Scheduler, old: Pod | None, new: Pod) -> None:
    if not scheduler.responsible_for(new):
        return
    if old is None or not scheduler.responsible_for(old):
        scheduler.queue.add(new, scheduler.world.now, "PodAdd")
    elif not scheduler.cache.is_assumed(new.key):
        changes = pod_changes(old, new, "UnscheduledPod")
        scheduler.queue.update(new, scheduler.world.now, changes)


def pod_changes(old: Pod, new: Pod, resource: str) -> list[ClusterEvent]:
    """The events that an update of a pod amounts to, in kube's order; a change of something else is a generic one."""
    found = []
    if old.labels != new.labels:
        found.append(ClusterEvent(resource, Action.UPDATE_POD_LABEL, f"{resource}UpdatePodLabel"))
    if _scaled_down(old, new):
        found.append(ClusterEvent(resource, Action.UPDATE_POD_SCALE_DOWN, f"{resource}UpdatePodScaleDown"))
    if old.spec.scheduling_gates and not new.spec.scheduling_gates:
        found.append(POD_GATES_GONE)
    if len(old.spec.tolerations) != len(new.spec.tolerations):
        found.append(ClusterEvent(resource, Action.UPDATE_POD_TOLERATION, f"{resource}UpdatePodToleration"))
    if not found and old.annotations != new.annotations:
        found.append(ClusterEvent(resource, Action.UPDATE, f"{resource}Update"))
    return found


def _scaled_down(old: Pod, new: Pod) -> bool:
    before, after = dict(old.requests.scalar), dict(new.requests.scalar)
    return (
        new.requests.milli_cpu < old.requests.milli_cpu
        or new.requests.memory < old.requests.memory
        or new.requests.ephemeral_storage < old.requests.ephemeral_storage
        or any(after.get(name, 0) < amount for name, amount in before.items())
    )


# Everything else

_WATCHED = {
    "PersistentVolume": "PersistentVolume",
    "PersistentVolumeClaim": "PersistentVolumeClaim",
    "StorageClass": "storage.k8s.io/StorageClass",
    "CSINode": "storage.k8s.io/CSINode",
    "CSIDriver": "storage.k8s.io/CSIDriver",
    "CSIStorageCapacity": "storage.k8s.io/CSIStorageCapacity",
    "VolumeAttachment": "storage.k8s.io/VolumeAttachment",
}


def _on_other(scheduler: Scheduler, event: WatchEvent) -> None:
    resource = _WATCHED.get(event.kind)
    if resource is None:
        return
    actions = {ADDED: (Action.ADD, "Add"), DELETED: (Action.DELETE, "Delete")}
    action, verb = actions.get(event.type, (Action.UPDATE, "Update"))
    scheduler.queue.move_all(ClusterEvent(resource, action, f"{event.kind}{verb}"), scheduler.world.now)
