"""PolitePreemption: PostFilter. Only pods that agreed to it (`evictable: "true"`) have to make room, whatever their priority.

`failure.filters` runs the profile's Filter plugins on what-ifs: `adjust` is told which pods are gone (every plugin's RemovePod is asked,
theirs or one's own), `refusals` says who still refuses.
"""

from __future__ import annotations

import numpy as np

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.cache.what_if import Change
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.plugin import Failure, Plugin, PostFilterResult
from scheduler_core.scheduler.framework.status import SUCCESS, Code, unschedulable


class PolitePreemption(Plugin):
    """Takes the first node that the pod fits on once those that agreed are gone. It stands before DefaultPreemption, or in its place."""

    name = "PolitePreemption"

    def post_filter(self, state: CycleState, pod: Pod, nodes: NodeTable, failure: Failure) -> PostFilterResult:
        for row in np.flatnonzero(failure.codes == int(Code.UNSCHEDULABLE)).tolist():
            victims = tuple(other for other in nodes.pods[row] if other.labels.get("evictable") == "true")
            if victims and self._fits_without(victims, row, state, pod, nodes, failure):
                return PostFilterResult(SUCCESS, nodes.names[row], victims)
        return PostFilterResult(unschedulable("nobody who agreed to be evicted would make room"))

    def _fits_without(
        self, victims: tuple[Pod, ...], row: int, state: CycleState, pod: Pod, nodes: NodeTable, failure: Failure
    ) -> bool:
        view, what_if = nodes.copy(), state.copy()
        failure.filters.adjust(what_if, pod, view, [Change(row, victim, -1) for victim in victims])
        return not failure.filters.refusals(what_if, pod, view, np.array([row], np.intp))
