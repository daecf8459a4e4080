"""PostFilter: what can be done for a pod that fits on no node, such as preemption.

kube: framework/runtime/framework.go (RunPostFilterPlugins) @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.framework.plugin import Failure, Point
from scheduler_core.framework.runtime.filters import FilterRunner
from scheduler_core.framework.runtime.framework import Framework
from scheduler_core.framework.runtime.points import run_post_filter
from scheduler_core.framework.status import Code, Status
from scheduler_core.scheduler.algorithm.algorithm_state import AlgorithmState
from scheduler_core.scheduler.algorithm.fit_error import fit_error
from scheduler_core.scheduler.algorithm.turns import NEXT, NOBODY, Ran
from scheduler_core.scheduler.cycles.phases import PhaseResult
from scheduler_core.scheduler.cycles.scheduling_cycle import SchedulingCycle


def run(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> Ran:
    """One plugin's PostFilter; only Unschedulable lets the next one try."""
    plugin = framework.at(Point.POST_FILTER)[cycle.run[cycle.index]]
    failure = Failure(
        cycle.node_to_status.codes(len(cycle.nodes)),
        FilterRunner(framework, algorithm_state.nominator),
        algorithm_state.nominator.counted,
        algorithm_state.nominator.nodes,
        algorithm_state.draw_preemption,
        algorithm_state.epoch + cycle.t,
    )
    step, result = run_post_filter(plugin, cycle, failure)
    status = step.status
    if status.rejected and status.code is not Code.UNRESOLVABLE:
        reasons = (*cycle.post_filter.reasons, *status.reasons)
        cycle.post_filter = Status(Code.UNSCHEDULABLE, reasons, cycle.post_filter.plugin or plugin.name)
        if result.nominated_node is not None:
            cycle.nomination = result.nominated_node
        return step, NEXT
    cycle.post_filter = status
    cycle.nomination = result.nominated_node if status.ok or status.rejected else None
    if status.ok:
        cycle.preemption = result
    return step, NOBODY


def leave(
    cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState
) -> PhaseResult | None:
    """The pod is unschedulable, whatever was done for it."""
    message = fit_error(cycle)
    cycle.failure = Status(Code.UNSCHEDULABLE, (message,))
    cycle.outcome, cycle.message = "unschedulable", message
    return PhaseResult.REFUSED
