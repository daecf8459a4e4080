"""Queueing hints: the events that would wake a pod, and what was answered to those that just happened."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypedDict

from scheduler_core.base.trace.kinds import ObjectChanged, WatchEventHeard
from scheduler_core.world.readonly import (
    EXTENDER_NAME,
    Action,
    ClusterEvent,
    Move,
    On,
    Place,
    ProfileView,
    QueuedPod,
    WorldView,
    action_name,
    list_registrations,
)

CLAIM = "resource.k8s.io/ResourceClaim"
LOOKED_THROUGH = 64  # records of one transition; an import makes thousands
ANY = "*"

# What kube calls the hint functions (kube: pkg/scheduler/framework/plugins, EventsToRegister @ v1.34.1). Each is an isSchedulableAfter...
_POD, _NODE, _OWN = "PodChange", "NodeChange", "PodTolerationChange"
_AFTER = {
    ("NodeResourcesFit", "after_pod_freed_resources"): "PodEvent",
    ("NodeResourcesFit", "after_node_resources_change"): _NODE,
    ("SchedulingGates", "after_own_change"): "UpdatePodSchedulingGatesEliminated",
    ("NodeVolumeLimits", "after_limits_change"): "CSINodeUpdated",
    ("NodeVolumeLimits", "after_pod_with_volumes_deleted"): "PodDeleted",
    ("NodeVolumeLimits", "after_claim_change"): "PVCAdded",
    ("NodeVolumeLimits", "after_attachment_deleted"): "VolumeAttachmentDeleted",
    ("DynamicResources", "after_claim_change"): "ClaimChange",
    ("DynamicResources", "after_pod_change"): _POD,
    ("VolumeBinding", "after_class_change"): "StorageClassChange",
    ("VolumeBinding", "after_claim_change"): "PersistentVolumeClaimChange",
    ("VolumeBinding", "after_csi_node_migration"): "CSINodeChange",
    ("VolumeBinding", "after_driver_change"): "CSIDriverChange",
    ("VolumeBinding", "after_capacity_change"): "CSIStorageCapacityChange",
    ("VolumeZone", "after_waiting_class_added"): "StorageClassAdded",
    ("VolumeZone", "after_named_claim_change"): "PersistentVolumeClaimChange",
    ("VolumeZone", "after_volume_change"): "PersistentVolumeChange",
    ("VolumeRestrictions", "after_pod_with_disk_deleted"): "PodDeleted",
    ("VolumeRestrictions", "after_named_claim_change"): "PersistentVolumeClaimAdded",
    ("TaintToleration", "after_node_taints_change"): _NODE,
    ("TaintToleration", "after_own_change"): _OWN,
    ("InterPodAffinity", "after_affine_pod_change"): _POD,
    ("InterPodAffinity", "after_related_pod_change"): _POD,
    ("NodeResourcesFit", "after_class_change"): "DeviceClassEvent",
    ("InterPodAffinity", "after_node_topology_change"): _NODE,
    ("NodePorts", "after_pod_with_ports_deleted"): "PodDeleted",
    ("PodTopologySpread", "after_spread_pod_change"): _POD,
    ("PodTopologySpread", "after_spread_node_change"): _NODE,
    ("NodeAffinity", "_after_node_change"): _NODE,
    ("NodeUnschedulable", "after_node_schedulable"): _NODE,
    ("NodeUnschedulable", "after_cordon_tolerated"): _OWN,
}
_OTHERS = {("DefaultPreemption", "never"): "isPodSchedulableAfterPodDeletion"}


def hint_name(plugin: str, hint: str) -> str:
    """kube's name of a hint function; that of a plugin which is none of kube's is its own."""
    after = _AFTER.get((plugin, hint))
    return f"isSchedulableAfter{after}" if after else _OTHERS.get((plugin, hint), hint)


def list_waking_events(profile: ProfileView | None, rejectors: Sequence[str]) -> list[str]:
    """List the events that the plugins which refused a pod registered for, by kube's labels."""
    events: dict[str, None] = {}
    for name in rejectors:
        plugin = profile.plugin(name) if profile is not None else None
        if plugin is not None:
            events |= dict.fromkeys(event for on in list_registrations(plugin) for event in _labels(on))
        elif name == EXTENDER_NAME:
            events[ANY] = None
    return list(events)


@lru_cache(maxsize=256)
def _labels(on: On) -> tuple[str, ...]:
    kind = on.resource.rpartition("/")[2]
    if on.action in (Action.ALL, Action.UPDATE):
        return (f"{kind}{action_name(on.action)}",)
    whole = (Action.UPDATE,) if Action.UPDATE in on.action else ()
    rest = on.action & ~Action.UPDATE if whole else on.action
    return tuple(f"{kind}{action_name(part)}" for part in (*rest, *whole))


def just_happened(sim: WorldView) -> list[ClusterEvent]:
    """The cluster events of the last transition that hints were asked about, as far as its records tell them apart.

    Of an update it is known which event it was where it moved a pod (`moved`); here are things that came or went.
    """
    heard: list[ObjectChanged | WatchEventHeard] = [
        record.facts for record in sim.last[:LOOKED_THROUGH] if isinstance(record.facts, _select_event_type(sim))
    ]
    events = [event for facts in heard if (event := _event(sim, facts)) is not None]
    return list(dict.fromkeys(events))


def _select_event_type(sim: WorldView) -> type[ObjectChanged] | type[WatchEventHeard]:
    return WatchEventHeard if sim.settings.informer_lag else ObjectChanged


_ACTIONS = {"ADDED": Action.ADD, "DELETED": Action.DELETE}
_RESOURCES = {
    "Node": "Node",
    "PersistentVolume": "PersistentVolume",
    "PersistentVolumeClaim": "PersistentVolumeClaim",
    "StorageClass": "storage.k8s.io/StorageClass",
    "CSINode": "storage.k8s.io/CSINode",
    "CSIStorageCapacity": "storage.k8s.io/CSIStorageCapacity",
    "VolumeAttachment": "storage.k8s.io/VolumeAttachment",
    "DeviceClass": "resource.k8s.io/DeviceClass",
    "ResourceSlice": "resource.k8s.io/ResourceSlice",
}


def _event(sim: WorldView, facts: ObjectChanged | WatchEventHeard) -> ClusterEvent | None:
    action = _ACTIONS.get(facts.type)
    if facts.kind == "Pod":
        return _pod_event(sim, f"{facts.namespace}/{facts.name}", action)
    resource = _RESOURCES.get(facts.kind)
    return ClusterEvent(resource, action) if resource and action else None


def _pod_event(sim: WorldView, key: str, action: Action | None) -> ClusterEvent | None:
    """An assigned pod came or went; what happens to one that waits is about itself alone."""
    lane = sim.journal.lane(key)
    if action is Action.DELETE:
        return ClusterEvent("AssignedPod", Action.DELETE) if _had_node(lane) else None
    now = [move.place for move in lane if move.position == sim.position]
    return ClusterEvent("AssignedPod", Action.ADD) if Place.BOUND in now else None


def _had_node(lane: Sequence[Move]) -> bool:
    before = [move.place for move in lane if move.place != Place.DELETED]
    return bool(before) and before[-1] in (Place.BOUND, Place.RUNNING)


def list_moves(sim: WorldView) -> Iterator[Move]:
    """The moves of the last transition that an event made, the last one first."""
    for move in reversed(sim.journal.moves):
        if move.position != sim.position:
            return
        if move.why:
            yield move


class Skip(TypedDict):
    event: str
    plugin: str
    hint: str


def list_skips(profile: ProfileView | None, entry: QueuedPod, events: Sequence[ClusterEvent]) -> list[Skip]:
    """The hints that just said Skip to a pod which stays: those of its rejectors that registered for what happened."""
    out: list[Skip] = []
    for name in entry.rejectors:
        plugin = profile.plugin(name) if profile is not None else None
        if plugin is not None:
            out += [
                {"event": event.label, "plugin": name, "hint": hint_name(name, on.hint.__name__)}
                for event in events
                for on in list_registrations(plugin)
                if on.hint is not None and on.matches(event)
            ]
    return out


def event_of(label: str) -> ClusterEvent | None:
    """The event that has kube's label."""
    return _BY_LABEL.get(label)


_BY_LABEL = {
    event.label: event
    for resource in (*_RESOURCES.values(), "AssignedPod", "UnschedulablePod", "UnscheduledPod", "TargetPod", CLAIM)
    for action in Action
    if (event := ClusterEvent(resource, action)).label != resource
}
