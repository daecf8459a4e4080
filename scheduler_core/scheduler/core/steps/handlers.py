"""Event handlers: the effects of a watch event on a scheduler's cache and queue.

kube: eventhandlers.go, framework/events.go @ v1.34.1
"""

from collections.abc import Callable, Mapping

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod, whole_requests
from scheduler_core.apiserver.watch import ADDED, DELETED, WatchEvent
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.base.trace.kinds import PodForgotten
from scheduler_core.scheduler.core import measure
from scheduler_core.scheduler.core.actions import ExpireAssumedPod
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import permit
from scheduler_core.scheduler.framework.events import (
    ASSIGNED_POD,
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    ASSIGNED_POD_UPDATE,
    CLAIM,
    Action,
    ClusterEvent,
    ObjectEvent,
    PodEvents,
)
from scheduler_core.scheduler.framework.features import Features
from scheduler_core.scheduler.framework.groups import KIND, RESOURCE
from scheduler_core.scheduler.plugins.dynamicresources.inventory import find_changed_slices
from scheduler_core.scheduler.queue.groups import GroupQueue, group_key
from scheduler_core.scheduler.queue.historical import SERVICE

# Assumed pods that expire: forgotten by the cache when no watch event has confirmed their binding in time.
#
# v1.34 never expires one (durationToExpireAssumedPod is 0); older releases did, such as the one that waited 30 s. So the setting
# `assumed_pod_ttl` is historical. It matters if informers lag: an expired pod's resources look free although the pod uses them.
# kube: backend/cache/cache.go (FinishBinding, cleanupAssumedPods) @ v1.34.1


def finish_binding(scheduler: Scheduler, pod: Pod) -> None:
    """Start the assumed pod's TTL after the binding call's answer. Expired pods are removed at whole seconds."""
    world = scheduler.world
    longest = world.settings.assumed_pod_ttl
    if longest and scheduler.is_assumed(pod):
        due = ((world.now + longest) // SECOND + 1) * SECOND
        world.agenda.push(due, ExpireAssumedPod(scheduler.name, pod.key, pod.uid))


def expire(scheduler: Scheduler, key: str, uid: str) -> None:
    """Remove an expired assumed pod from the cache. Plugins and queue get no event."""
    scheduler.cache.forget(scheduler.cache.where[uid][0])
    scheduler.world.record(PodForgotten(key, cause="expired"), scheduler.name)


NODE_ADD = ClusterEvent("Node", Action.ADD)
NODE_DELETE = ClusterEvent("Node", Action.DELETE)


def on_watch(scheduler: Scheduler, event: WatchEvent) -> None:
    """Apply a change in the API server to cache and queue."""
    if event.kind == "Pod":
        # kube's pod informer selects status.phase!=Succeeded,status.phase!=Failed, so a terminated pod counts as deleted.
        old = event.old_pod if event.old_pod is not None and not event.old_pod.terminal else None
        new = event.new_pod if event.new_pod is not None and not event.new_pod.terminal else None
        if old is not None and new is not None and old.uid != new.uid:
            _on_pod_change(scheduler, old, None)
            old = None
        _on_pod_change(scheduler, old, new)
    elif event.kind == "Node":
        _on_node(scheduler, event)
    else:
        _on_other(scheduler, event)
    scheduler.wake_up()


def _announce(scheduler: Scheduler, event: ClusterEvent, old: object, new: object) -> None:
    """Move pods in the queue for an event, and count the event."""
    scheduler.queue.move_all(ObjectEvent(event, old, new), scheduler.world.now)
    measure.record_event(scheduler, event.label)


# Nodes


def _on_node(scheduler: Scheduler, event: WatchEvent) -> None:
    old, new = event.old_node, event.new_node
    if event.type == DELETED:
        assert old is not None
        _announce(scheduler, NODE_DELETE, old, None)
        scheduler.cache.remove_node(old)
        return
    assert new is not None
    scheduler.cache.add_node(new)
    if event.type == ADDED or old is None:
        _announce(scheduler, NODE_ADD, None, new)
        return
    for action in node_changes(old, new, scheduler.features.node_declared_features):
        _announce(scheduler, ClusterEvent("Node", action), old, new)


def node_changes(old: Node, new: Node, features_count: bool = False) -> list[Action]:
    """Return the actions of a node update, in kube's order: none, one, or several.

    Cordoning is no event; uncordoning is a taint event. kube: NodeSchedulingPropertiesChange
    """
    changes = [Action.UPDATE_NODE_TAINT] if old.unschedulable and not new.unschedulable else []
    changes += [action for action, part in _NODE_PARTS.items() if part(old) != part(new)]
    if not features_count and Action.UPDATE_NODE_DECLARED_FEATURE in changes:
        changes.remove(Action.UPDATE_NODE_DECLARED_FEATURE)
    return changes


def _taints(node: Node) -> list[object]:
    return list((node.manifest.get("spec") or {}).get("taints") or ())


def _features(node: Node) -> list[str]:
    return list((node.manifest.get("status") or {}).get("declaredFeatures") or ())


def _conditions(node: Node) -> dict[str, str]:
    status = node.manifest.get("status") or {}
    return {c.get("type", ""): c.get("status", "") for c in status.get("conditions") or ()}


_NODE_PARTS: Mapping[Action, Callable[[Node], object]] = {
    Action.UPDATE_NODE_ALLOCATABLE: lambda node: (node.allocatable, node.allowed_pods),
    Action.UPDATE_NODE_LABEL: lambda node: node.labels,
    Action.UPDATE_NODE_TAINT: _taints,
    Action.UPDATE_NODE_CONDITION: _conditions,
    Action.UPDATE_NODE_ANNOTATION: lambda node: node.annotations,
    Action.UPDATE_NODE_DECLARED_FEATURE: _features,
}


# Pods


def _on_pod_change(scheduler: Scheduler, old: Pod | None, new: Pod | None) -> None:
    """Call the handlers for pods with and without a node. For kube, a newly bound pod is deleted from one and added to the other."""
    _on_assigned(scheduler, _if_assigned(old), _if_assigned(new))
    bound = new is not None and bool(new.node_name)
    if scheduler.features.generic_workload and new is not None and new.spec.group:
        scheduler.members.setdefault(group_key(new), {})[new.key] = new
    _on_waiting(scheduler, _if_ours(scheduler, old), _if_ours(scheduler, new), bound)
    if new is None and old is not None and old.spec.group:  # only now, because the queue counts it until here
        scheduler.members.get(group_key(old), {}).pop(old.key, None)


def _if_assigned(pod: Pod | None) -> Pod | None:
    return pod if pod is not None and pod.node_name else None


def _if_ours(scheduler: Scheduler, pod: Pod | None) -> Pod | None:
    """Return the pod if it has no node and one of the scheduler's profiles is responsible for it, else None."""
    return pod if pod is not None and not pod.node_name and scheduler.responsible_for(pod) else None


def _on_assigned(scheduler: Scheduler, old: Pod | None, new: Pod | None) -> None:
    if new is None:
        if old is not None:
            scheduler.cache.remove_pod(old)
            _announce(scheduler, ASSIGNED_POD_DELETE, old, None)
    elif old is None:
        scheduler.cache.add_pod(new)
        _announce(scheduler, ASSIGNED_POD_ADD, None, new)
    else:
        scheduler.calls.seen(new)
        scheduler.cache.update_pod(new)
        measure.record_event(scheduler, ASSIGNED_POD_UPDATE.label)
        for change in pod_changes(old, new, scheduler.features, scheduler.queue.options.events):
            _announce(scheduler, change, old, new)


def _on_waiting(scheduler: Scheduler, old: Pod | None, new: Pod | None, bound: bool) -> None:
    events = scheduler.queue.options.events
    if new is None:
        if old is not None:
            _leave_queue(scheduler, old, bound)
            measure.record_event(scheduler, events.label(Action.DELETE))
    elif old is None:
        scheduler.queue.add(new, scheduler.world.now)
        if scheduler.features.generic_workload:
            added = ClusterEvent(events.waiting, Action.ADD)
            scheduler.queue.move_all(ObjectEvent(added, None, new), scheduler.world.now)
        measure.record_event(scheduler, events.label(Action.ADD))
    else:
        _update_in_queue(scheduler, old, new)


def _leave_queue(scheduler: Scheduler, pod: Pod, bound: bool) -> None:
    """Remove a deleted or bound pod from the queue. An assumed pod frees room for all pods, a nominated one up to its priority."""
    queue, gone = scheduler.queue, ObjectEvent(ASSIGNED_POD_DELETE, pod, None)
    queue.delete(pod, scheduler.world.now)
    if scheduler.frees_deleted and bound:
        return
    if _free_assumed(scheduler, pod):
        queue.move_all(gone, scheduler.world.now)
    elif pod.nominated_node_name:
        # Filters count a nominated pod only for pods of its priority or lower, so only those gain resources.
        queue.move_all(gone, scheduler.world.now, lambda other: other.priority <= pod.priority)


def _free_assumed(scheduler: Scheduler, pod: Pod) -> bool:
    """Reject a deleted pod that waits on Permit; since 1.35, remove a binding pod from the cache. kube: handleAssumedPodDeletion"""
    waiting = next((b for b in scheduler.bindings.values() if b.pod.uid == pod.uid and b.waiting), None)
    if waiting is not None:
        permit.reject(scheduler, waiting, "", "removed")
        return True
    assumed = scheduler.frees_deleted and scheduler.is_assumed(pod)
    if assumed:
        scheduler.cache.forget(scheduler.cache.where[pod.uid][0])
    return assumed


def _update_in_queue(scheduler: Scheduler, old: Pod, new: Pod) -> None:
    events = scheduler.queue.options.events
    changes = pod_changes(old, new, scheduler.features, events)
    for change in changes:
        if change.action != Action.UPDATE:
            measure.record_event(scheduler, change.label)
    measure.record_event(scheduler, events.label(Action.UPDATE))
    scheduler.calls.seen(new)
    now = scheduler.world.now
    if scheduler.is_assumed(new):
        if scheduler.frees_deleted and new.deleting and not old.deleting and _free_assumed(scheduler, new):
            scheduler.queue.move_all(ObjectEvent(ASSIGNED_POD_DELETE, new, None), now)
        return
    scheduler.queue.update(old, new, now, [ClusterEvent(events.own, change.action) for change in changes])
    if old.nominated_node_name and old.nominated_node_name != new.nominated_node_name:
        left = ObjectEvent(ASSIGNED_POD_DELETE, old, None)
        scheduler.queue.move_all(left, now, lambda other: other.priority <= old.priority)


def pod_changes(old: Pod, new: Pod, features: Features, events: PodEvents) -> list[ClusterEvent]:
    """Return the events of a pod's update, in kube's order; other changes are a generic event.

    kube: PodSchedulingPropertiesChange
    """
    actions = []
    if old.labels != new.labels:
        actions.append(Action.UPDATE_POD_LABEL)
    if _needs_less(old, new):
        actions.append(Action.UPDATE_POD_SCALE_DOWN)
    if events.scale_up and _needs_less(new, old):
        actions.append(Action.UPDATE_POD_SCALE_UP)
    if old.spec.scheduling_gates and not new.spec.scheduling_gates:
        actions.append(Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
    # Validation allows only adding tolerations, so kube compares the lengths.
    if len(old.spec.tolerations) != len(new.spec.tolerations):
        actions.append(Action.UPDATE_POD_TOLERATION)
    if features.dynamic_resources and _claims(old) != _claims(new):
        actions.append(Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
    resource = ASSIGNED_POD if new.node_name else events.waiting
    return [ClusterEvent(resource, action) for action in actions or [Action.UPDATE]]


def _claims(pod: Pod) -> list[object]:
    status = pod.manifest.get("status") or {}
    return [status.get("resourceClaimStatuses") or [], status.get("extendedResourceClaimStatus")]


def _needs_less(old: Pod, new: Pod) -> bool:
    had, has = whole_requests(old), whole_requests(new)
    before, after = dict(had.scalar), dict(has.scalar)
    return (
        has.milli_cpu < had.milli_cpu
        or has.memory < had.memory
        or has.ephemeral_storage < had.ephemeral_storage
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
_ACTIONS = {ADDED: Action.ADD, DELETED: Action.DELETE}
_INVENTORY = ("ResourceSlice", "DeviceClass", "DeviceTaintRule")
_OF_TAINTS = ("DeviceTaintRule", "DeviceClass")
_SLICE_UPDATE = ClusterEvent("resource.k8s.io/ResourceSlice", Action.UPDATE)
_OF_DEVICES = {
    "ResourceClaim": CLAIM,
    "DeviceClass": "resource.k8s.io/DeviceClass",
    "ResourceSlice": "resource.k8s.io/ResourceSlice",
}


def _on_other(scheduler: Scheduler, event: WatchEvent) -> None:
    resource = _WATCHED.get(event.kind)
    if event.kind == SERVICE and scheduler.queue.options.historical:
        resource = SERVICE
    old, new = event.old, event.new
    if event.kind == KIND and scheduler.queue.groups is not None:
        resource = RESOURCE
        _on_group(scheduler.queue.groups, event, scheduler.world.now)
    if event.kind in _INVENTORY:
        scheduler.claims.note_device_change()
    if event.kind in _OF_DEVICES and scheduler.features.dynamic_resources:
        resource = _OF_DEVICES[event.kind]
        if event.kind == "ResourceClaim":
            old, new = scheduler.claims.observe(old, new)
            if old is new:
                return
    if event.kind in _OF_TAINTS and scheduler.features.dra_device_taints and scheduler.features.dynamic_resources:
        # Slices whose devices' taints have changed. kube: resourceslice/tracker.
        for changed in find_changed_slices(scheduler.view, event.kind, event.old, event.new):
            _announce(scheduler, _SLICE_UPDATE, changed, changed)
    if resource is not None:
        _announce(scheduler, ClusterEvent(resource, _ACTIONS.get(event.type, Action.UPDATE)), old, new)


def _on_group(queue: GroupQueue, event: WatchEvent, now: int) -> None:
    manifest = event.new or event.old
    assert manifest is not None
    key = f"{manifest['metadata']['namespace']}/{manifest['metadata']['name']}"
    if event.type == DELETED:
        queue.delete_group(key)
    elif event.type == ADDED:
        queue.add_group(key, now)
    else:
        queue.update_group(key)
