"""The scheduling algorithm of one cycle, one plugin at a time, from PreFilter to Select. The table of phases has the order.

`advance` runs the cycle's current plugin and moves the cycle on; it needs only the framework and the cycle, no Simulation.

kube: schedule_one.go (schedulePod, findNodesThatFitPod, prioritizeNodes, selectHost), framework/runtime/framework.go @ v1.34.1
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scheduler_core.scheduler.core.algorithm import (
    extender_filter,
    extender_preempt,
    extender_prioritize,
    post_filter,
    pre_filter,
    scoring,
    search,
)
from scheduler_core.scheduler.core.algorithm.algorithm_state import (
    FIRST,
    NEXT,
    NOBODY,
    AlgorithmState,
    StepResult,
    internal_error,
)
from scheduler_core.scheduler.core.algorithm.post_filter import NO_NODES
from scheduler_core.scheduler.core.cycles.phases import (
    Phase,
    PhaseResult,
    PhaseRow,
    not_skipped_at_pre_filter,
    not_skipped_at_pre_score,
)
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.framework import PluginStep, Point, Status, unresolvable
from scheduler_core.scheduler.framework.runtime.framework import Framework

Part = Callable[[SchedulingCycle, Framework, AlgorithmState], PhaseResult | None]


def _nothing(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PhaseResult | None:
    return None


def _success(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PhaseResult | None:
    return PhaseResult.SUCCESS


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmPhase(PhaseRow):
    """`prepare` runs before the first plugin, `run` is one plugin, `leave` runs after the last. None: the phase continues."""

    run: Callable[[SchedulingCycle, Framework, AlgorithmState], StepResult]
    prepare: Part = _nothing
    leave: Part = _success


ALGORITHM = (
    AlgorithmPhase(
        phase=Phase.PRE_FILTER,
        point=Point.PRE_FILTER,
        run=pre_filter.run,
        leave=pre_filter.leave,
        then={
            PhaseResult.SUCCESS: Phase.FILTER,
            PhaseResult.REFUSED: Phase.POST_FILTER,
            PhaseResult.ERROR: Phase.FAILED,
        },
    ),
    AlgorithmPhase(
        phase=Phase.FILTER,
        point=Point.FILTER,
        skips=not_skipped_at_pre_filter,
        prepare=search.prepare,
        run=search.run,
        leave=search.leave,
        then={
            PhaseResult.SUCCESS: Phase.PRE_SCORE,
            PhaseResult.ONE_FEASIBLE: Phase.RESERVE,
            PhaseResult.NOT_SCORED: Phase.SELECT,
            PhaseResult.EXTENDED: Phase.EXTENDER_FILTER,
            PhaseResult.REFUSED: Phase.POST_FILTER,
            PhaseResult.ERROR: Phase.FAILED,
        },
    ),
    AlgorithmPhase(
        phase=Phase.EXTENDER_FILTER,
        prepare=extender_filter.prepare,
        run=extender_filter.run,
        leave=extender_filter.leave,
        then={
            PhaseResult.SUCCESS: Phase.PRE_SCORE,
            PhaseResult.ONE_FEASIBLE: Phase.RESERVE,
            PhaseResult.ALL_NODES: Phase.FILTER,
            PhaseResult.REFUSED: Phase.POST_FILTER,
            PhaseResult.ERROR: Phase.FAILED,
        },
    ),
    AlgorithmPhase(
        phase=Phase.POST_FILTER,
        point=Point.POST_FILTER,
        prepare=post_filter.prepare,
        run=post_filter.run,
        leave=post_filter.leave,
        then={PhaseResult.EXTENDED: Phase.EXTENDER_PREEMPT, PhaseResult.REFUSED: Phase.FAILED},
    ),
    AlgorithmPhase(
        phase=Phase.EXTENDER_PREEMPT,
        prepare=extender_preempt.prepare,
        run=extender_preempt.run,
        leave=extender_preempt.leave,
        then={PhaseResult.RESUMED: Phase.POST_FILTER, PhaseResult.REFUSED: Phase.FAILED},
    ),
    AlgorithmPhase(
        phase=Phase.PRE_SCORE,
        point=Point.PRE_SCORE,
        run=scoring.run_pre_score,
        then={PhaseResult.SUCCESS: Phase.SCORE, PhaseResult.ERROR: Phase.FAILED},
    ),
    AlgorithmPhase(
        phase=Phase.SCORE,
        point=Point.SCORE,
        skips=not_skipped_at_pre_score,
        run=scoring.run_score,
        then={PhaseResult.SUCCESS: Phase.NORMALIZE_SCORE, PhaseResult.ERROR: Phase.FAILED},
    ),
    AlgorithmPhase(
        phase=Phase.NORMALIZE_SCORE,
        point=Point.NORMALIZE_SCORE,
        skips=not_skipped_at_pre_score,
        run=scoring.run_normalize,
        leave=scoring.leave_plugins,
        then={
            PhaseResult.SUCCESS: Phase.SELECT,
            PhaseResult.EXTENDED: Phase.EXTENDER_PRIORITIZE,
            PhaseResult.ERROR: Phase.FAILED,
        },
    ),
    AlgorithmPhase(
        phase=Phase.EXTENDER_PRIORITIZE,
        prepare=extender_prioritize.prepare,
        run=extender_prioritize.run,
        then={PhaseResult.SUCCESS: Phase.SELECT},
    ),
    AlgorithmPhase(
        phase=Phase.SELECT,
        prepare=scoring.sum_up,
        run=scoring.select,
        then={PhaseResult.SUCCESS: Phase.RESERVE, PhaseResult.ERROR: Phase.FAILED},
    ),
)
_ROWS: Mapping[Phase, AlgorithmPhase] = {row.phase: row for row in ALGORITHM}
IN_ALGORITHM = frozenset(_ROWS)


def begin(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> None:
    """Start a new cycle in its first phase. If the cluster has no nodes, the cycle fails at once."""
    if not len(cycle.nodes):
        cycle.failure = unresolvable(NO_NODES)
        cycle.nomination = ""
        cycle.phase, cycle.outcome, cycle.message = Phase.FAILED, "unschedulable", NO_NODES
        return
    _enter(cycle, framework, algorithm_state, Phase.PRE_FILTER)


def fail_unsorted(cycle: SchedulingCycle, plugin: str, status: Status) -> None:
    """Fail a new cycle because the QueueSort plugin returned an error for its pod."""
    internal_error(cycle, f'running QueueSort plugin "{plugin}": {status.message}')
    cycle.phase = Phase.FAILED


def advance(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PluginStep | None:
    """Run the next plugin (or the selection) and move the cycle on. Return the plugin's step, or None."""
    row = _ROWS[cycle.phase]
    step, turn = row.run(cycle, framework, algorithm_state)
    result: PhaseResult | None = None
    if turn is NEXT:
        cycle.index += 1
        if cycle.index >= len(cycle.run):
            result = row.leave(cycle, framework, algorithm_state)
    elif turn is NOBODY:
        result = row.leave(cycle, framework, algorithm_state)
    elif turn is FIRST:
        cycle.index = 0
    elif isinstance(turn, PhaseResult):
        result = turn
    if result is not None:
        _enter(cycle, framework, algorithm_state, row.then[result])
    return step


def _enter(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState, phase: Phase) -> None:
    """Enter a phase. A phase without a plugin to run is left at once."""
    while True:
        cycle.phase, cycle.index = phase, 0
        row = _ROWS.get(phase)
        if row is None:
            return  # the algorithm is over
        result = row.prepare(cycle, framework, algorithm_state)
        if result is None and row.point is not None:
            cycle.run = framework.running(row.point, row.skips(cycle.state))
            if not cycle.run:
                result = row.leave(cycle, framework, algorithm_state)
        if result is None:
            return
        phase = row.then[result]
