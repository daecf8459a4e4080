"""DynamicResources: allocates devices to pods with resource claims. Here it is as it is for all other pods.

DEVIATION: resource claims are not modelled; a pod that has any is refused when it is created.

kube: plugins/dynamicresources/dynamicresources.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scheduler_core.cluster.table import NodeTable
from scheduler_core.framework.arguments import Arguments, when_absent
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import Action, On
from scheduler_core.framework.features import Features
from scheduler_core.framework.plugin import (
    CallResult,
    Failure,
    Handle,
    Plugin,
    PostFilterResult,
    PreFilterResult,
    Rows,
    Verdicts,
)
from scheduler_core.framework.status import SKIP, SUCCESS, Status, error, unresolvable, unschedulable
from scheduler_core.objects.pod import Pod
from scheduler_core.objects.strict import STRING

NAME = "DynamicResources"

NOT_MODELLED = unresolvable("resource claims are not modelled")
NO_STATE = error("not found")
DISABLED = unschedulable("plugin disabled")
NOTHING_TO_DEALLOCATE = unschedulable("no new claims to deallocate")

_NOTHING_TO_DO = PreFilterResult(SKIP)


class DynamicResources(Plugin):
    """PostFilter needs what PreFilter leaves; where an earlier plugin ended PreFilter it fails, and preemption goes on without it.

    With the gate DynamicResourceAllocation off it does nothing where a configuration names it all the same.
    """

    name = NAME
    arguments = Arguments(fields={"filterTimeout": STRING}, defaults=when_absent(filterTimeout="10s"))
    events = (
        On("Node", Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_ALLOCATABLE),
        On("resource.k8s.io/ResourceClaim", Action.ADD | Action.UPDATE),
        On("Pod", Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM),
        On("resource.k8s.io/DeviceClass", Action.ADD | Action.UPDATE),
        On("resource.k8s.io/ResourceSlice", Action.ADD | Action.UPDATE),
    )

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._enabled = handle.features.dynamic_resources

    @classmethod
    def in_default_set(cls, features: Features) -> bool:
        return features.dynamic_resources

    def registrations(self) -> tuple[On, ...]:
        return self.events if self._enabled else ()

    def pre_enqueue(self, pod: Pod) -> Status:
        return NOT_MODELLED if self._enabled and pod.spec.resource_claims else SUCCESS

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult:
        if not self._enabled:
            return _NOTHING_TO_DO
        state.write(NAME, True)
        return PreFilterResult(NOT_MODELLED) if pod.spec.resource_claims else _NOTHING_TO_DO

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
        if self._enabled and state.get(NAME) is None:  # as in kube it can't do without PreFilter
            return Verdicts.refuse(np.ones(len(rows), np.bool_), NO_STATE)
        return None

    def post_filter(
        self, state: CycleState, pod: Pod, nodes: NodeTable, failure: Failure
    ) -> PostFilterResult:
        if not self._enabled:
            return PostFilterResult(DISABLED)
        return PostFilterResult(NO_STATE if state.get(NAME) is None else NOTHING_TO_DEALLOCATE)

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        return NO_STATE if self._enabled and state.get(NAME) is None else SUCCESS

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        return

    def will_pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> bool:
        return self._enabled and bool(pod.spec.resource_claims)

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> CallResult:
        return CallResult(NO_STATE) if self._enabled and state.get(NAME) is None else CallResult()
