"""Cluster events: what happened to which resource, as bits a plugin can register for.

kube: staging/src/k8s.io/kube-scheduler/framework/types.go @ v1.34.1
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


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
    UPDATE_OTHER = 4096
    UPDATE = 8188
    ALL = 8191


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """Something that happened: a resource ("Node", "AssignedPod", "UnscheduledPod", "Pod", "*" ...), an action, and kube's label of it."""

    resource: str
    action: Action
    label: str


@dataclass(frozen=True, slots=True)
class On:
    """A registration: this plugin's refusals may be cured by these actions on this resource."""

    resource: str
    action: Action

    def matches(self, event: ClusterEvent) -> bool:
        """kube: framework/types.go MatchClusterEvents (numeric comparison included)."""
        if self.resource != "*" and self.resource != event.resource:
            if not (self.resource == "Pod" and event.resource in ("AssignedPod", "UnscheduledPod")):
                return False
        return bool(self.action & event.action) and event.action <= self.action
