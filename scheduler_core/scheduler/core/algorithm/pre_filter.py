"""PreFilter: plugins precompute their state, and may narrow the search to some nodes.

kube: framework/runtime/framework.go (RunPreFilterPlugins) @ v1.34.1
"""

import numpy as np

from scheduler_core.scheduler.core.algorithm.algorithm_state import (
    NEXT,
    NOBODY,
    AlgorithmState,
    StepResult,
    internal_error,
)
from scheduler_core.scheduler.core.cycles.phases import PhaseResult
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.framework import Code, PluginStep, Point, unresolvable
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.framework.runtime.points import run_pre_filter


def run(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> StepResult:
    """Run one plugin's PreFilter. UnschedulableAndUnresolvable ends the phase; after Unschedulable the other plugins still run."""
    plugin = framework.at(Point.PRE_FILTER)[cycle.run[cycle.index]]
    step = run_pre_filter(plugin, cycle)
    status = step.status
    if status.skipped:
        return step, NEXT
    if status.ok:
        return step, NEXT if _narrow(cycle, step) else NOBODY
    if status.code not in (Code.UNSCHEDULABLE, Code.UNRESOLVABLE):
        return step, internal_error(cycle, f'running PreFilter plugin "{plugin.name}": {status.message}')
    cycle.pre_filter_status = status
    return step, NOBODY if status.code is Code.UNRESOLVABLE else NEXT


def leave(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PhaseResult | None:
    """End the phase: the search begins, unless a plugin rejected the pod."""
    status = cycle.pre_filter_status
    if status.ok:
        return PhaseResult.SUCCESS
    cycle.absent = status
    signed = {status.plugin} - {""}
    alone = status.code is Code.UNRESOLVABLE and signed
    cycle.unschedulable_plugins = tuple(sorted(signed if alone else {*cycle.narrowed_by, *signed}))
    cycle.feasible = np.zeros(0, np.intp)
    return PhaseResult.REFUSED


def _narrow(cycle: SchedulingCycle, step: PluginStep) -> bool:
    """Intersect the plugin's node names, if any, with the result of PreFilter. Return False if no node is left."""
    names = step.node_names
    if names is None:
        return True
    cycle.narrowed_by = tuple(sorted({*cycle.narrowed_by, step.plugin}))
    cycle.node_names = names if cycle.node_names is None else cycle.node_names & names
    if cycle.node_names:
        return True
    if len(cycle.narrowed_by) == 1:
        text = f"node(s) didn't satisfy plugin {cycle.narrowed_by[0]}"
    else:
        text = f"node(s) didn't satisfy plugin(s) [{' '.join(cycle.narrowed_by)}] simultaneously"
    cycle.pre_filter_status = unresolvable(text)
    return False
