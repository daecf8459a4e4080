"""The scheduling algorithm of one cycle, one plugin at a time: PreFilter to Select.

`advance` runs the plugin at which the cycle stands and moves the cycle on; it needs the framework and the
cycle, and nothing of a Simulation.

kube: schedule_one.go (schedulePod, findNodesThatFitPod, prioritizeNodes, selectHost),
framework/runtime/framework.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scheduler_core.framework.plugin import MAX_NODE_SCORE, MIN_NODE_SCORE, Plugin, Point, Rows, Verdicts
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import SUCCESS, Code, Status, error, unresolvable
from scheduler_core.scheduler.cycle import (
    EXCLUDED,
    NOT_EVALUATED,
    PASSED,
    Phase,
    PluginStep,
    SchedulingCycle,
    ScoreBoard,
    Search,
)
from scheduler_core.scheduler.fit_error import NO_NODES, fit_error

MIN_FEASIBLE_NODES = 100
MIN_FEASIBLE_PERCENTAGE = 5


@dataclass(slots=True)
class Sampling:
    """What a scheduler remembers between cycles, and how it draws among tied nodes."""

    percentage: int = 0  # global percentageOfNodesToScore; 0: adaptive
    next_start: int = 0
    draw: Callable[[int], int] = lambda n: 0  # n tied nodes -> index in list order


def feasible_nodes_to_find(percentage: int, nodes: int) -> int:
    """How many feasible nodes end the search among `nodes` nodes; percentage 0 adapts to the cluster's size."""
    if nodes < MIN_FEASIBLE_NODES:
        return nodes
    if percentage == 0:
        percentage = max(50 - nodes // 125, MIN_FEASIBLE_PERCENTAGE)
    return max(nodes * percentage // 100, MIN_FEASIBLE_NODES)


def begin(cycle: SchedulingCycle, framework: Framework, sampling: Sampling) -> None:
    """Sets a new cycle on its first point; a cluster without nodes fails it at once."""
    if not len(cycle.nodes):
        cycle.failure = unresolvable(NO_NODES)
        _fail(cycle, "unschedulable", NO_NODES)
        return
    _enter(cycle, framework, Phase.PRE_FILTER, sampling)


def advance(cycle: SchedulingCycle, framework: Framework, sampling: Sampling) -> PluginStep | None:
    """Runs the next plugin (or the selection) and moves the cycle on; returns what the plugin did."""
    return _HANDLERS[cycle.phase](cycle, framework, sampling)


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
    plugins = framework.at(_POINT[phase])
    skip: tuple[str, ...] = ()
    if phase is Phase.FILTER:
        skip = cycle.state.skip_filter
    elif phase is Phase.SCORE or phase is Phase.NORMALIZE_SCORE:
        skip = cycle.state.skip_score
    if not skip:
        return tuple(range(len(plugins)))
    return tuple(i for i, plugin in enumerate(plugins) if plugin.name not in skip)


def _current(cycle: SchedulingCycle, framework: Framework) -> Plugin:
    return framework.at(_POINT[cycle.phase])[cycle.run[cycle.index]]


def _fail(cycle: SchedulingCycle, outcome: str, message: str) -> None:
    cycle.phase = Phase.FAILED
    cycle.outcome = outcome
    cycle.message = message


def _internal_error(cycle: SchedulingCycle, message: str) -> None:
    cycle.failure = error(message)
    _fail(cycle, "error", message)


def _enter(cycle: SchedulingCycle, framework: Framework, phase: Phase, sampling: Sampling) -> None:
    """Moves to a phase; one with no plugin to run is passed through at once."""
    cycle.phase, cycle.index = phase, 0
    if phase is Phase.FILTER:
        _open_search(cycle, framework, sampling)
        if not framework.has(Point.FILTER):
            _take_unseen(cycle, framework, sampling)
            return
    if phase is Phase.SELECT:
        return
    cycle.run = plugins_to_run(cycle, framework, phase)
    if not cycle.run:
        _leave(cycle, framework, phase, sampling)


def _leave(cycle: SchedulingCycle, framework: Framework, phase: Phase, sampling: Sampling) -> None:
    if phase is Phase.FILTER:
        _close_block(cycle, framework, sampling)
    elif phase is Phase.POST_FILTER:
        _give_up(cycle)
    else:
        _enter(cycle, framework, _AFTER[phase], sampling)


_AFTER = {
    Phase.PRE_FILTER: Phase.FILTER,
    Phase.PRE_SCORE: Phase.SCORE,
    Phase.SCORE: Phase.NORMALIZE_SCORE,
    Phase.NORMALIZE_SCORE: Phase.SELECT,
}


def _next(cycle: SchedulingCycle, framework: Framework, sampling: Sampling) -> None:
    cycle.index += 1
    exhausted = cycle.phase is Phase.FILTER and _block_is_refused(cycle)
    if cycle.index >= len(cycle.run) or exhausted:
        phase = cycle.phase
        if phase is Phase.PRE_FILTER and not cycle.pre_filter_status.ok:
            _refuse_in_pre_filter(cycle, framework, sampling)
        else:
            _leave(cycle, framework, phase, sampling)


def _block_is_refused(cycle: SchedulingCycle) -> bool:
    search = cycle.search
    return search is not None and search.rows is not None and not len(search.rows)


# PreFilter


def _pre_filter(cycle: SchedulingCycle, framework: Framework, sampling: Sampling) -> PluginStep:
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
        _refuse_in_pre_filter(cycle, framework, sampling)
        return step
    elif status.code is Code.UNSCHEDULABLE:
        cycle.pre_filter_status = status
    elif not status.ok:
        _internal_error(cycle, f'running PreFilter plugin "{plugin.name}": {status.message}')
        return step
    elif result.node_names is not None and not _narrow(cycle, plugin.name, result.node_names):
        _refuse_in_pre_filter(cycle, framework, sampling)
        return step
    _next(cycle, framework, sampling)
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


def _refuse_in_pre_filter(cycle: SchedulingCycle, framework: Framework, sampling: Sampling) -> None:
    cycle.absent = cycle.pre_filter_status
    signed = {cycle.pre_filter_status.plugin} - {""}
    plugins = (
        signed
        if cycle.pre_filter_status.code is Code.UNRESOLVABLE and signed
        else {*cycle.narrowed_by, *signed}
    )
    cycle.unschedulable_plugins = tuple(sorted(plugins))
    cycle.feasible = np.zeros(0, np.intp)
    _enter(cycle, framework, Phase.POST_FILTER, sampling)


# Filter


def _open_search(cycle: SchedulingCycle, framework: Framework, sampling: Sampling) -> None:
    n = len(cycle.nodes)
    cycle.refused_by = np.full(n, NOT_EVALUATED, np.int32)
    cycle.reason = np.zeros(n, np.int32)
    if cycle.node_names is None:
        rows = np.arange(n, dtype=np.intp)
    else:
        found = [row for name in cycle.node_names if (row := cycle.nodes.row(name)) is not None]
        rows = np.array(sorted(found), np.intp)
        cycle.refused_by[:] = EXCLUDED
        cycle.refused_by[rows] = NOT_EVALUATED
        cycle.absent = unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(cycle.narrowed_by)}]")
    own = framework.percentage_of_nodes_to_score
    wanted = feasible_nodes_to_find(sampling.percentage if own is None else own, len(rows))
    if not framework.has(Point.SCORE):
        wanted = 1
    if len(rows):
        start = sampling.next_start % len(rows)
        if start:
            rows = np.concatenate([rows[start:], rows[:start]])
    cycle.search = Search(rows, wanted)
    _open_block(cycle, cycle.search)


def _open_block(cycle: SchedulingCycle, search: Search) -> None:
    """The next rows to look at: all at once where all are wanted, else somewhat more than are still missing."""
    left = len(search.order) - search.start
    if search.wanted >= len(search.order):
        size = left
    else:
        missing = search.wanted + 1 - search.found
        size = min(left, missing + missing // 4 + 16)
    search.stop = search.start + size
    search.rows = search.order[search.start : search.stop]
    cycle.refused_by[search.rows] = PASSED


def _filter(cycle: SchedulingCycle, framework: Framework, sampling: Sampling) -> PluginStep:
    plugin = _current(cycle, framework)
    search = cycle.search
    assert search is not None and search.rows is not None
    rows = search.rows
    verdicts = plugin.filter(cycle.state, cycle.pod, cycle.nodes, rows) if len(rows) else None
    refused = verdicts.reason >= 0 if verdicts is not None else None
    count = int(np.count_nonzero(refused)) if refused is not None else 0
    status = _filter_status(verdicts, count, len(rows)).by(plugin.name)
    step = PluginStep(
        Point.FILTER,
        plugin.name,
        status,
        cycle.t,
        cycle.position,
        evaluated=len(rows),
        refused=count,
        rows=rows,
        verdicts=verdicts,
    )
    if verdicts is not None and refused is not None and count:
        failed = _first_error(verdicts)
        if failed is not None:
            cycle.did(step)
            _internal_error(cycle, f'running "{plugin.name}" filter plugin: {failed.message}')
            return step
        out = rows[refused]
        cycle.refused_by[out] = len(cycle.steps)
        cycle.reason[out] = verdicts.reason[refused]
        search.rows = rows[~refused]
    cycle.did(step)
    _next(cycle, framework, sampling)
    return step


def _first_error(verdicts: Verdicts) -> Status | None:
    for i, status in enumerate(verdicts.statuses):
        if status.code is Code.ERROR and np.any(verdicts.reason == i):
            return status
    return None


def _filter_status(verdicts: Verdicts | None, refused: int, evaluated: int) -> Status:
    """One status for the step: success while a row passes, else the status of the first refused row."""
    if verdicts is None or not refused or refused < evaluated:
        return SUCCESS
    return Status(verdicts.statuses[int(verdicts.reason[0])].code)


def _close_block(cycle: SchedulingCycle, framework: Framework, sampling: Sampling) -> None:
    search = cycle.search
    assert search is not None and search.rows is not None
    search.found += len(search.rows)
    search.start = search.stop
    if search.found <= search.wanted and search.stop < len(search.order):
        _open_block(cycle, search)
        cycle.index = 0
        if not cycle.run:
            _close_block(cycle, framework, sampling)
        return
    _close_search(cycle, framework, sampling, search)


def _close_search(cycle: SchedulingCycle, framework: Framework, sampling: Sampling, search: Search) -> None:
    seen = search.order[: search.stop]
    passing = np.flatnonzero(cycle.refused_by[seen] == PASSED)
    if len(passing) > search.wanted:
        end = int(passing[search.wanted])
        search.beyond = int(seen[end])
        cycle.refused_by[seen[end:]] = NOT_EVALUATED
        seen = seen[:end]
        passing = passing[: search.wanted]
    search.processed = len(seen)
    _found(cycle, framework, sampling, seen[passing])


def _take_unseen(cycle: SchedulingCycle, framework: Framework, sampling: Sampling) -> None:
    """Without Filter plugins the first rows from the start index are taken as they come."""
    search = cycle.search
    assert search is not None
    taken = search.order[: search.wanted]
    cycle.refused_by[search.order] = NOT_EVALUATED
    cycle.refused_by[taken] = PASSED
    search.processed = len(taken)
    _found(cycle, framework, sampling, taken)


def _found(cycle: SchedulingCycle, framework: Framework, sampling: Sampling, feasible: Rows) -> None:
    search = cycle.search
    assert search is not None
    sampling.next_start = (sampling.next_start + search.processed) % len(cycle.nodes)
    cycle.feasible = feasible
    steps = {int(i) for i in np.unique(cycle.refused_by) if i >= 0}
    cycle.unschedulable_plugins = tuple(
        sorted({cycle.steps[i].plugin for i in steps} | set(cycle.narrowed_by))
    )
    if not len(feasible):
        _enter(cycle, framework, Phase.POST_FILTER, sampling)
    elif len(feasible) == 1:
        cycle.chosen = cycle.nodes.names[int(feasible[0])]
        cycle.tied = (cycle.chosen,)
        cycle.phase = Phase.RESERVE
        cycle.index = 0
    elif not framework.has(Point.SCORE):
        cycle.scores = ScoreBoard(feasible, total=np.ones(len(feasible), np.int64))
        _enter(cycle, framework, Phase.SELECT, sampling)
    else:
        cycle.scores = ScoreBoard(feasible)
        _enter(cycle, framework, Phase.PRE_SCORE, sampling)


# PostFilter


def _post_filter(cycle: SchedulingCycle, framework: Framework, sampling: Sampling) -> PluginStep:
    plugin = _current(cycle, framework)
    status = plugin.post_filter(cycle.state, cycle.pod, cycle.nodes).by(plugin.name)
    step = cycle.did(PluginStep(Point.POST_FILTER, plugin.name, status, cycle.t, cycle.position))
    if status.message:
        joined = (
            [cycle.post_filter_message, status.message] if cycle.post_filter_message else [status.message]
        )
        cycle.post_filter_message = ", ".join(joined)
    _next(cycle, framework, sampling)
    return step


def _give_up(cycle: SchedulingCycle) -> None:
    message = fit_error(cycle)
    cycle.failure = Status(Code.UNSCHEDULABLE, (message,))
    _fail(cycle, "unschedulable", message)


# PreScore, Score, NormalizeScore


def _pre_score(cycle: SchedulingCycle, framework: Framework, sampling: Sampling) -> PluginStep:
    plugin = _current(cycle, framework)
    assert cycle.feasible is not None
    status = plugin.pre_score(cycle.state, cycle.pod, cycle.nodes, cycle.feasible).by(plugin.name)
    step = cycle.did(
        PluginStep(
            Point.PRE_SCORE, plugin.name, status, cycle.t, cycle.position, evaluated=len(cycle.feasible)
        )
    )
    if status.code is Code.SKIP:
        cycle.state.skip_score = (*cycle.state.skip_score, plugin.name)
    elif not status.ok:
        _internal_error(cycle, f'running PreScore plugin "{plugin.name}": {status.message}')
        return step
    _next(cycle, framework, sampling)
    return step


def _score(cycle: SchedulingCycle, framework: Framework, sampling: Sampling) -> PluginStep:
    plugin = _current(cycle, framework)
    board = cycle.scores
    assert board is not None
    raw = plugin.score(cycle.state, cycle.pod, cycle.nodes, board.rows)
    if isinstance(raw, Status):
        step = PluginStep(Point.SCORE, plugin.name, raw.by(plugin.name), cycle.t, cycle.position)
        cycle.did(step)
        _internal_error(cycle, f'running Score plugins: plugin "{plugin.name}" failed with: {raw.message}')
        return step
    board.plugins.append(plugin.name)
    board.weights.append(framework.weights[plugin.name])
    board.raw.append(raw)
    board.normalized.append(raw)
    step = PluginStep(
        Point.SCORE,
        plugin.name,
        SUCCESS,
        cycle.t,
        cycle.position,
        evaluated=len(raw),
        rows=board.rows,
        scores=raw,
    )
    cycle.did(step)
    cycle.index += 1
    if cycle.index >= len(cycle.run):
        _after_scores(cycle, framework, sampling)
    return step


def _after_scores(cycle: SchedulingCycle, framework: Framework, sampling: Sampling) -> None:
    """Goes to NormalizeScore where a plugin has it; else sums up."""
    cycle.phase, cycle.index = Phase.NORMALIZE_SCORE, 0
    cycle.run = plugins_to_run(cycle, framework, Phase.NORMALIZE_SCORE)
    if not cycle.run:
        _sum_up(cycle)


def _normalize(cycle: SchedulingCycle, framework: Framework, sampling: Sampling) -> PluginStep:
    plugin = _current(cycle, framework)
    board = cycle.scores
    assert board is not None
    i = board.plugins.index(plugin.name)
    scores = plugin.normalize(cycle.state, cycle.pod, cycle.nodes, board.rows, board.raw[i])
    board.normalized[i] = scores
    step = PluginStep(
        Point.NORMALIZE_SCORE,
        plugin.name,
        SUCCESS,
        cycle.t,
        cycle.position,
        evaluated=len(scores),
        rows=board.rows,
        scores=scores,
    )
    cycle.did(step)
    cycle.index += 1
    if cycle.index >= len(cycle.run):
        _sum_up(cycle)
    return step


def _sum_up(cycle: SchedulingCycle) -> None:
    board = cycle.scores
    assert board is not None
    total = np.zeros(len(board.rows), np.int64)
    for name, weight, scores in zip(board.plugins, board.weights, board.normalized, strict=True):
        low, high = int(scores.min()), int(scores.max())
        if low < MIN_NODE_SCORE or high > MAX_NODE_SCORE:
            wrong = scores[(scores < MIN_NODE_SCORE) | (scores > MAX_NODE_SCORE)]
            _internal_error(
                cycle,
                f'applying score defaultWeights on Score plugins: plugin "{name}" returns an invalid score '
                f"{int(wrong[0])}, it should in the range of [{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after normalizing",
            )
            return
        total += scores * weight
    board.total = total
    cycle.phase, cycle.index = Phase.SELECT, 0


# Select


def _select(cycle: SchedulingCycle, framework: Framework, sampling: Sampling) -> None:
    """Draws among the best nodes, which stand in list order."""
    board = cycle.scores
    assert board is not None
    if board.total is None:
        board.total = np.zeros(len(board.rows), np.int64)
    best = board.rows[board.total == board.total.max()]
    cycle.tied = tuple(cycle.nodes.names[int(row)] for row in np.sort(best, kind="stable"))
    if len(cycle.tied) > 1:
        cycle.draw = sampling.draw(len(cycle.tied))
        cycle.chosen = cycle.tied[cycle.draw]
    else:
        cycle.chosen = cycle.tied[0]
    cycle.phase, cycle.index = Phase.RESERVE, 0


_HANDLERS: dict[Phase, Callable[[SchedulingCycle, Framework, Sampling], PluginStep | None]] = {
    Phase.PRE_FILTER: _pre_filter,
    Phase.FILTER: _filter,
    Phase.POST_FILTER: _post_filter,
    Phase.PRE_SCORE: _pre_score,
    Phase.SCORE: _score,
    Phase.NORMALIZE_SCORE: _normalize,
    Phase.SELECT: _select,
}
