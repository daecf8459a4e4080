"""The scheduling algorithm of one cycle, one plugin at a time: PreFilter to Select.

`advance` runs the plugin at which the cycle stands and moves the cycle on; it needs the framework and the
cycle, and nothing of a Simulation.

kube: schedule_one.go (schedulePod, findNodesThatFitPod, prioritizeNodes, selectHost),
framework/runtime/framework.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scheduler_core.framework.plugin import Failure, Plugin, Point, Rows
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.scores import ScoreBoard
from scheduler_core.framework.status import Code, Status, error, unresolvable
from scheduler_core.framework.step import PluginStep
from scheduler_core.scheduler.algorithm import scoring, search
from scheduler_core.scheduler.algorithm.algorithm_state import AlgorithmState
from scheduler_core.scheduler.algorithm.filtering import FilterRunner
from scheduler_core.scheduler.algorithm.fit_error import NO_NODES, fit_error
from scheduler_core.scheduler.cycles.phases import Phase
from scheduler_core.scheduler.cycles.scheduling_cycle import EXCLUDED, SchedulingCycle


def begin(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> None:
    """Sets a new cycle on its first point; a cluster without nodes fails it at once."""
    if not len(cycle.nodes):
        cycle.failure = unresolvable(NO_NODES)
        cycle.nomination = ""
        _fail(cycle, "unschedulable", NO_NODES)
        return
    _enter(cycle, framework, Phase.PRE_FILTER, algorithm_state)


def advance(
    cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState
) -> PluginStep | None:
    """Runs the next plugin (or the selection) and moves the cycle on; returns what the plugin did."""
    return _HANDLERS[cycle.phase](cycle, framework, algorithm_state)


IN_ALGORITHM = frozenset(
    {
        Phase.PRE_FILTER,
        Phase.FILTER,
        Phase.POST_FILTER,
        Phase.PRE_SCORE,
        Phase.SCORE,
        Phase.NORMALIZE_SCORE,
        Phase.SELECT,
    }
)

_POINT = {phase: Point(phase.value) for phase in IN_ALGORITHM - {Phase.SELECT}}


def plugins_to_run(cycle: SchedulingCycle, framework: Framework, phase: Phase) -> tuple[int, ...]:
    """Indices of the plugins that run in a phase of this cycle, those that asked to be skipped left out."""
    skip: tuple[str, ...] = ()
    if phase is Phase.FILTER:
        skip = cycle.state.skip_filter
    elif phase is Phase.SCORE or phase is Phase.NORMALIZE_SCORE:
        skip = cycle.state.skip_score
    return framework.running(_POINT[phase], skip)


def _current(cycle: SchedulingCycle, framework: Framework) -> Plugin:
    return framework.at(_POINT[cycle.phase])[cycle.run[cycle.index]]


def _fail(cycle: SchedulingCycle, outcome: str, message: str) -> None:
    cycle.phase = Phase.FAILED
    cycle.outcome = outcome
    cycle.message = message


def _internal_error(cycle: SchedulingCycle, message: str) -> None:
    cycle.failure = error(message)
    cycle.nomination = ""
    _fail(cycle, "error", message)


def _enter(
    cycle: SchedulingCycle, framework: Framework, phase: Phase, algorithm_state: AlgorithmState
) -> None:
    """Moves to a phase; one with no plugin to run is passed through at once."""
    cycle.phase, cycle.index = phase, 0
    if phase is Phase.FILTER:
        search.open_search(cycle, framework, algorithm_state)
        if not framework.has(Point.FILTER):
            _found(cycle, framework, search.take_unseen(cycle, algorithm_state), algorithm_state)
            return
    elif phase is Phase.SELECT:
        _sum_up(cycle)
        return
    cycle.run = plugins_to_run(cycle, framework, phase)
    if not cycle.run:
        _leave(cycle, framework, algorithm_state)


def _leave(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> None:
    """All plugins of the phase have run."""
    if cycle.phase is Phase.PRE_FILTER and not cycle.pre_filter_status.ok:
        _refuse_in_pre_filter(cycle, framework, algorithm_state)
    elif cycle.phase is Phase.FILTER:
        _leave_filter(cycle, framework, algorithm_state)
    elif cycle.phase is Phase.POST_FILTER:
        _give_up(cycle)
    else:
        _enter(cycle, framework, _AFTER[cycle.phase], algorithm_state)


_AFTER = {
    Phase.PRE_FILTER: Phase.FILTER,
    Phase.PRE_SCORE: Phase.SCORE,
    Phase.SCORE: Phase.NORMALIZE_SCORE,
    Phase.NORMALIZE_SCORE: Phase.SELECT,
}


def _next(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> None:
    cycle.index += 1
    if cycle.index >= len(cycle.run):
        _leave(cycle, framework, algorithm_state)


# PreFilter


def _pre_filter(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PluginStep:
    plugin = _current(cycle, framework)
    result = plugin.pre_filter(cycle.state, cycle.pod, cycle.nodes)
    status = result.status.by(plugin.name)
    step = cycle.did(
        PluginStep(
            Point.PRE_FILTER, plugin.name, status, cycle.t, cycle.position, node_names=result.node_names
        )
    )
    if status.code is Code.SKIP:
        cycle.state.skip_filter = (*cycle.state.skip_filter, plugin.name)
    elif status.code is Code.UNRESOLVABLE:
        cycle.pre_filter_status = status
        _refuse_in_pre_filter(cycle, framework, algorithm_state)
        return step
    elif status.code is Code.UNSCHEDULABLE:
        cycle.pre_filter_status = status
    elif not status.ok:
        _internal_error(cycle, f'running PreFilter plugin "{plugin.name}": {status.message}')
        return step
    elif result.node_names is not None and not _narrow(cycle, plugin.name, result.node_names):
        _refuse_in_pre_filter(cycle, framework, algorithm_state)
        return step
    _next(cycle, framework, algorithm_state)
    return step


def _narrow(cycle: SchedulingCycle, plugin: str, names: frozenset[str]) -> bool:
    """Merges a plugin's nodes into the result; False when none is left."""
    cycle.narrowed_by = tuple(sorted({*cycle.narrowed_by, plugin}))
    cycle.node_names = names if cycle.node_names is None else cycle.node_names & names
    if cycle.node_names:
        return True
    if len(cycle.narrowed_by) == 1:
        text = f"node(s) didn't satisfy plugin {cycle.narrowed_by[0]}"
    else:
        text = f"node(s) didn't satisfy plugin(s) [{' '.join(cycle.narrowed_by)}] simultaneously"
    cycle.pre_filter_status = unresolvable(text)
    return False


def _refuse_in_pre_filter(
    cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState
) -> None:
    status = cycle.absent = cycle.pre_filter_status
    signed = {status.plugin} - {""}
    alone = status.code is Code.UNRESOLVABLE and signed
    cycle.unschedulable_plugins = tuple(sorted(signed if alone else {*cycle.narrowed_by, *signed}))
    cycle.feasible = np.zeros(0, np.intp)
    _enter(cycle, framework, Phase.POST_FILTER, algorithm_state)


# Filter


def _filter(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PluginStep:
    plugin = _current(cycle, framework)
    step, failed = search.run_filter(cycle, plugin)
    rows = search.search_of(cycle).rows
    text = "" if failed is None else f'running "{plugin.name}" filter plugin: {failed.message}'
    if text and search.search_of(cycle).own_nomination:
        search.leave_nominated(cycle, framework, algorithm_state, error(text).by(plugin.name))
        _start_search(cycle, framework, algorithm_state)
    elif text:
        _internal_error(cycle, text)
    elif rows is not None and not len(rows):
        _leave(cycle, framework, algorithm_state)  # nothing left to ask the others about
    else:
        _next(cycle, framework, algorithm_state)
    return step


def _leave_filter(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> None:
    while search.next_stage(cycle) or search.next_block(cycle, framework, algorithm_state):
        cycle.index = 0
        rows = search.search_of(cycle).rows
        if cycle.run and rows is not None and len(rows):
            return
    feasible = search.close_search(cycle, algorithm_state)
    if feasible is not None:
        _found(cycle, framework, feasible, algorithm_state)
        return
    search.open_main_search(cycle, framework, algorithm_state)
    _start_search(cycle, framework, algorithm_state)


def _start_search(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> None:
    """From the first plugin, over the rows of the search that has just been opened."""
    cycle.index = 0
    rows = search.search_of(cycle).rows
    if not cycle.run or rows is None or not len(rows):
        _leave_filter(cycle, framework, algorithm_state)


def _found(
    cycle: SchedulingCycle, framework: Framework, feasible: Rows, algorithm_state: AlgorithmState
) -> None:
    cycle.feasible = feasible
    if len(feasible) == 0:
        steps = {int(i) for i in np.unique(cycle.refused_by) if i >= 0}
        refusing = {cycle.steps[i].plugin for i in steps}
        cycle.unschedulable_plugins = tuple(sorted(refusing | set(cycle.narrowed_by)))
        _enter(cycle, framework, Phase.POST_FILTER, algorithm_state)
    elif len(feasible) == 1:
        cycle.chosen = cycle.nodes.names[int(feasible[0])]
        cycle.tied_rows = feasible
        cycle.phase, cycle.index = Phase.RESERVE, 0
    elif not framework.has(Point.SCORE):
        cycle.scores = ScoreBoard(feasible, total=np.ones(len(feasible), np.int64))
        cycle.phase, cycle.index = Phase.SELECT, 0
    else:
        cycle.scores = ScoreBoard(feasible)
        _enter(cycle, framework, Phase.PRE_SCORE, algorithm_state)


# PostFilter


def _post_filter(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PluginStep:
    """kube: framework/runtime/framework.go RunPostFilterPlugins"""
    plugin = _current(cycle, framework)
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
        _next(cycle, framework, algorithm_state)
        return step
    cycle.post_filter = status
    cycle.nomination = result.nominated_node if status.ok or status.rejected else None
    if status.ok:
        cycle.preemption = result
    _give_up(cycle)
    return step


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


def _give_up(cycle: SchedulingCycle) -> None:
    message = fit_error(cycle)
    cycle.failure = Status(Code.UNSCHEDULABLE, (message,))
    _fail(cycle, "unschedulable", message)


# PreScore, Score, NormalizeScore, Select


def _pre_score(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PluginStep:
    step, failed = scoring.run_pre_score(cycle, _current(cycle, framework))
    if failed:
        _internal_error(cycle, failed)
    else:
        _next(cycle, framework, algorithm_state)
    return step


def _score(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PluginStep:
    step, failed = scoring.run_score(cycle, framework, _current(cycle, framework))
    if failed:
        _internal_error(cycle, failed)
    else:
        _next(cycle, framework, algorithm_state)
    return step


def _normalize(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PluginStep:
    step = scoring.run_normalize(cycle, _current(cycle, framework))
    _next(cycle, framework, algorithm_state)
    return step


def _sum_up(cycle: SchedulingCycle) -> None:
    failed = scoring.sum_up(cycle)
    if failed:
        _internal_error(cycle, failed)


def _select(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> None:
    scoring.select(cycle, algorithm_state)
    cycle.phase, cycle.index = Phase.RESERVE, 0


_HANDLERS: dict[Phase, Callable[[SchedulingCycle, Framework, AlgorithmState], PluginStep | None]] = {
    Phase.PRE_FILTER: _pre_filter,
    Phase.FILTER: _filter,
    Phase.POST_FILTER: _post_filter,
    Phase.PRE_SCORE: _pre_score,
    Phase.SCORE: _score,
    Phase.NORMALIZE_SCORE: _normalize,
    Phase.SELECT: _select,
}
