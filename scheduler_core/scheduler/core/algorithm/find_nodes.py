"""Filter: the search's plugins one after the other, block by block, until enough nodes are feasible (search.py).

kube: schedule_one.go (findNodesThatFitPod) @ v1.34.1
"""

from __future__ import annotations

import numpy as np

from scheduler_core.scheduler.core.algorithm import search
from scheduler_core.scheduler.core.algorithm.algorithm_state import AlgorithmState
from scheduler_core.scheduler.core.algorithm.turns import FIRST, NEXT, NOBODY, Ran, internal_error
from scheduler_core.scheduler.core.cycles.phases import PhaseResult
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.extenders.extender import Verb
from scheduler_core.scheduler.framework.plugin import Point, Rows
from scheduler_core.scheduler.framework.runtime.filters import filter_error
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.framework.scores import ScoreBoard


def prepare(
    cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState
) -> PhaseResult | None:
    """Opens the search; without Filter plugins it is over at once."""
    if cycle.extension is not None and cycle.extension.lost:
        search.leave_unextended(cycle, framework, algorithm_state)
    else:
        search.open_search(cycle, framework, algorithm_state)
    if framework.has(Point.FILTER):
        return None
    return _conclude(cycle, framework, algorithm_state, search.take_unseen(cycle, algorithm_state))


def run(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> Ran:
    """One plugin's Filter, for all rows that still pass."""
    plugin = framework.at(Point.FILTER)[cycle.run[cycle.index]]
    step, failed = search.ask(cycle, plugin)
    if failed is None:
        return step, NEXT if _has_rows(cycle) else NOBODY
    failure = filter_error(plugin.name, failed)
    if not search.search_of(cycle).own_nomination:
        return step, internal_error(cycle, failure.message)
    search.leave_nominated(cycle, framework, algorithm_state, failure)
    return step, FIRST if _has_rows(cycle) else NOBODY


def leave(
    cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState
) -> PhaseResult | None:
    """All have run on these rows: on to the next stage or block (None), or the search is over."""
    while search.next_stage(cycle) or search.next_block(cycle, framework, algorithm_state):
        cycle.index = 0
        if cycle.run and _has_rows(cycle):
            return None
    feasible = search.close_search(cycle, algorithm_state)
    if feasible is not None:
        return _conclude(cycle, framework, algorithm_state, feasible)
    search.open_main_search(cycle, framework, algorithm_state)
    cycle.index = 0
    return None if cycle.run and _has_rows(cycle) else leave(cycle, framework, algorithm_state)


def _has_rows(cycle: SchedulingCycle) -> bool:
    rows = search.search_of(cycle).rows
    return rows is not None and len(rows) > 0


def _conclude(
    cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState, feasible: Rows
) -> PhaseResult:
    cycle.feasible = feasible
    extenders = algorithm_state.extenders
    if extenders or len(feasible) == 0:
        refusing = cycle.node_to_status.plugins()
        cycle.unschedulable_plugins = tuple(sorted(refusing | set(cycle.narrowed_by)))
    if len(feasible) == 0:
        return PhaseResult.REFUSED
    if extenders and any(extender.serves(Verb.FILTER, cycle.pod) for extender in extenders):
        return PhaseResult.EXTENDED
    return conclude(cycle, framework, algorithm_state)


def conclude(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PhaseResult:
    """Choose the only feasible node, or prepare the scores."""
    feasible = cycle.feasible
    assert feasible is not None
    if len(feasible) == 1:
        cycle.chosen = cycle.nodes.names[int(feasible[0])]
        cycle.tied_rows = feasible
        return PhaseResult.ONE_FEASIBLE
    if not framework.has(Point.SCORE) and not algorithm_state.extenders:
        cycle.scores = ScoreBoard(feasible, total=np.ones(len(feasible), np.int64))
        return PhaseResult.NOT_SCORED
    cycle.scores = ScoreBoard(feasible)
    return PhaseResult.SUCCESS
