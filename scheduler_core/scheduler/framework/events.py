"""Cluster events: a resource and an action, as bits to register for; and hints, which tell whether an event helps a pod.

kube: staging/src/k8s.io/kube-scheduler/framework/types.go, framework/types.go @ v1.34.1
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from scheduler_core.apimachinery.objects.pod import Pod


class Action(enum.IntFlag):
    """Action types, kube's bits in kube's order."""

    ADD = 1
    DELETE = 2
    UPDATE_NODE_ALLOCATABLE = 4
    UPDATE_NODE_LABEL = 8
    UPDATE_NODE_TAINT = 16
    UPDATE_NODE_CONDITION = 32
    UPDATE_NODE_ANNOTATION = 64
    UPDATE_POD_LABEL = 128
    UPDATE_POD_SCALE_DOWN = 256
    UPDATE_POD_TOLERATION = 512
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 1024
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 2048
    UPDATE_NODE_DECLARED_FEATURE = 4096
    UPDATE_POD_SCALE_UP = 8192  # since 1.37
    UPDATE = 16380
    ALL = 16383


_KUBE_NAMES = {action: name.title().replace("_", "") for name, action in Action.__members__.items()}


def action_name(action: Action) -> str:
    """Return kube's name of an action, or "" for a combination without a name."""
    return _KUBE_NAMES.get(action, "")


POD, ASSIGNED_POD, UNSCHEDULABLE_POD, ANYTHING = "Pod", "AssignedPod", "UnschedulablePod", "*"
UNSCHEDULED_POD, TARGET_POD = "UnscheduledPod", "TargetPod"
_PODS = (ASSIGNED_POD, UNSCHEDULABLE_POD, UNSCHEDULED_POD, TARGET_POD)


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """An event: a resource ("Node", "AssignedPod", "UnschedulablePod", "*" ...) and an action."""

    resource: str
    action: Action
    own_label: str = ""

    @property
    def label(self) -> str:
        """The event's name in kube's metrics."""
        return self.own_label or f"{self.resource}{_KUBE_NAMES.get(self.action, '')}"

    @property
    def wildcard(self) -> bool:
        return self.resource == ANYTHING and self.action == Action.ALL


ASSIGNED_POD_ADD = ClusterEvent(ASSIGNED_POD, Action.ADD)
ASSIGNED_POD_UPDATE = ClusterEvent(ASSIGNED_POD, Action.UPDATE)
ASSIGNED_POD_DELETE = ClusterEvent(ASSIGNED_POD, Action.DELETE)


@dataclass(frozen=True, slots=True)
class PodEvents:
    """The resources that events of waiting pods name: `waiting` for any pod, `own` for the pod that is asked."""

    waiting: str = UNSCHEDULABLE_POD
    own: str = UNSCHEDULABLE_POD
    scale_up: bool = False  # whether larger requests are an event of their own

    def label(self, action: Action) -> str:
        return ClusterEvent(self.waiting, action).label


UNSPLIT = PodEvents()
SPLIT = PodEvents(UNSCHEDULED_POD, TARGET_POD, scale_up=True)
POD_CREATED = tuple(events.label(Action.ADD) for events in (UNSPLIT, SPLIT))
CLAIM = "resource.k8s.io/ResourceClaim"
CLAIM_UPDATE = ClusterEvent(CLAIM, Action.UPDATE)
UNSCHEDULABLE_TIMEOUT = ClusterEvent(ANYTHING, Action.ALL, "UnschedulableTimeout")
FORCE_ACTIVATE = ClusterEvent(ANYTHING, Action.ALL, "ForceActivate")

# Causes of moves other than cluster events.
ATTEMPT_FAILED = "ScheduleAttemptFailure"
BACKOFF_COMPLETE = "BackoffComplete"
POP_FROM_BACKOFF = "PopFromBackoffQ"


class ObjectEvent(NamedTuple):
    """A cluster event with the object before (None: it was added) and after (None: it was deleted): Pod, Node or a manifest."""

    event: ClusterEvent
    old: Any
    new: Any


Hint = Callable[[Any, Pod, Any, Any], bool]
"""(plugin, waiting pod, object before, object after) -> whether the event may make the pod schedulable."""


@dataclass(frozen=True, slots=True)
class On:
    """A registration: these actions on this resource may help pods that the plugin rejected; without a hint, they always may."""

    resource: str
    action: Action
    hint: Hint | None = None

    def matches(self, event: ClusterEvent) -> bool:
        """Return whether the event matches. kube: framework/types.go MatchClusterEvents (numeric comparison included)."""
        if self.resource == ANYTHING and self.action == Action.ALL:
            return True
        if self.resource not in (ANYTHING, event.resource) and not (self.resource == POD and event.resource in _PODS):
            return False
        return bool(self.action & event.action) and event.action <= self.action


# The events of a plugin without registrations. kube: framework/types.go UnrollWildCardResource
EVERYTHING = tuple(
    On(resource, Action.ALL)
    for resource in (
        "Pod",
        "Node",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "storage.k8s.io/CSINode",
        "storage.k8s.io/CSIDriver",
        "storage.k8s.io/CSIStorageCapacity",
        "storage.k8s.io/StorageClass",
        CLAIM,
        "resource.k8s.io/DeviceClass",
    )
)
