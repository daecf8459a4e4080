"""PostFilter: what can be done for a pod that fits on no node, such as preemption.

kube: framework/runtime/framework.go (RunPostFilterPlugins) @ v1.34.1
"""

from __future__ import annotations

import numpy as np

from scheduler_core.framework.plugin import Failure, Point
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import Code, Status
from scheduler_core.framework.step import PluginStep
from scheduler_core.scheduler.algorithm.algorithm_state import AlgorithmState
from scheduler_core.scheduler.algorithm.filtering import FilterRunner
from scheduler_core.scheduler.algorithm.fit_error import fit_error
from scheduler_core.scheduler.algorithm.turns import Ran, Turn
from scheduler_core.scheduler.cycles.phases import PhaseResult
from scheduler_core.scheduler.cycles.scheduling_cycle import EXCLUDED, SchedulingCycle


def run(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> Ran:
    """One plugin's PostFilter; only Unschedulable lets the next one try."""
    plugin = framework.at(Point.POST_FILTER)[cycle.run[cycle.index]]
    failure = Failure(
        status_codes(cycle),
        FilterRunner(framework, algorithm_state.nominator),
        algorithm_state.nominator.counted,
        algorithm_state.nominator.nodes,
        algorithm_state.draw_preemption,
        algorithm_state.epoch + cycle.t,
    )
    result = plugin.post_filter(cycle.state, cycle.pod, cycle.nodes, failure)
    status = result.status.by(plugin.name)
    step = cycle.did(
        PluginStep(Point.POST_FILTER, plugin.name, status, cycle.t, cycle.position, evidence=result.evidence)
    )
    if status.rejected and status.code is not Code.UNRESOLVABLE:
        reasons = (*cycle.post_filter.reasons, *status.reasons)
        cycle.post_filter = Status(Code.UNSCHEDULABLE, reasons, cycle.post_filter.plugin or plugin.name)
        if result.nominated_node is not None:
            cycle.nomination = result.nominated_node
        return step, Turn.NEXT
    cycle.post_filter = status
    cycle.nomination = result.nominated_node if status.ok or status.rejected else None
    if status.ok:
        cycle.preemption = result
    return step, Turn.NOBODY


def leave(
    cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState
) -> PhaseResult | None:
    """The pod is unschedulable, whatever was done for it."""
    message = fit_error(cycle)
    cycle.failure = Status(Code.UNSCHEDULABLE, (message,))
    cycle.outcome, cycle.message = "unschedulable", message
    return PhaseResult.REFUSED


def status_codes(cycle: SchedulingCycle) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    """The status code of every row of a cycle in which no node was feasible, int8[n]."""
    n = len(cycle.nodes)
    if not cycle.pre_filter_status.ok:
        return np.full(n, int(cycle.pre_filter_status.code), np.int8)
    # kube: a node without a status of its own, or outside PreFilter's result, is unresolvable
    codes = np.full(n, int(Code.UNRESOLVABLE), np.int8)
    codes[cycle.refused_by == EXCLUDED] = int(cycle.absent.code)
    for i, step in enumerate(cycle.steps):
        if step.verdicts is None or not step.refused:
            continue
        mine = np.flatnonzero(cycle.refused_by == i)
        by_reason = np.array([int(status.code) for status in step.verdicts.statuses], np.int8)
        codes[mine] = by_reason[cycle.reason[mine]]
    return codes
