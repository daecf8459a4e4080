"""DynamicResources: allocates devices to pods with resource claims. Here it is as it is for all other pods.

DEVIATION: resource claims are not modelled; a pod that has any is refused when it is created.

kube: plugins/dynamicresources/dynamicresources.go @ v1.34.1
"""

from __future__ import annotations

import numpy as np

from scheduler_core.cluster.table import NodeTable
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import Action, On
from scheduler_core.framework.plugin import (
    CallResult,
    Failure,
    Plugin,
    PostFilterResult,
    PreFilterResult,
    Rows,
    Verdicts,
)
from scheduler_core.framework.status import SKIP, SUCCESS, Status, error, unresolvable, unschedulable
from scheduler_core.objects.pod import Pod

NAME = "DynamicResources"

NOT_MODELLED = unresolvable("resource claims are not modelled")
NO_STATE = error("not found")
NOTHING_TO_DEALLOCATE = unschedulable("no new claims to deallocate")

_NOTHING_TO_DO = PreFilterResult(SKIP)


class DynamicResources(Plugin):
    """PostFilter needs what PreFilter leaves; where an earlier plugin ended PreFilter it fails, and preemption goes on without it."""

    name = NAME
    events = (
        On("Node", Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_ALLOCATABLE),
        On("resource.k8s.io/ResourceClaim", Action.ADD | Action.UPDATE),
        On("Pod", Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM),
        On("resource.k8s.io/DeviceClass", Action.ADD | Action.UPDATE),
        On("resource.k8s.io/ResourceSlice", Action.ADD | Action.UPDATE),
    )

    def pre_enqueue(self, pod: Pod) -> Status:
        return NOT_MODELLED if pod.spec.resource_claims else SUCCESS

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult:
        state.write(NAME, True)
        return PreFilterResult(NOT_MODELLED) if pod.spec.resource_claims else _NOTHING_TO_DO

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
        if state.get(NAME) is None:  # as in kube it can't do without PreFilter
            return Verdicts.refuse(np.ones(len(rows), np.bool_), NO_STATE)
        return None

    def post_filter(
        self, state: CycleState, pod: Pod, nodes: NodeTable, failure: Failure
    ) -> PostFilterResult:
        return PostFilterResult(NO_STATE if state.get(NAME) is None else NOTHING_TO_DEALLOCATE)

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        return NO_STATE if state.get(NAME) is None else SUCCESS

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        return

    def will_pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> bool:
        return bool(pod.spec.resource_claims)

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> CallResult:
        return CallResult(NO_STATE) if state.get(NAME) is None else CallResult()
