"""Filter: the plugins run one after the other over blocks of rows in order from the start index, until enough nodes are feasible.

The pod's nominated node is evaluated first. If other pods are nominated to a node of the block, its filters run twice: with those pods
(stage NOMINATED) and without (stage MAIN).

kube: schedule_one.go (findNodesThatFitPod, evaluateNominatedNode, findNodesThatPassFilters) @ v1.34.1
"""

import numpy as np

from scheduler_core.scheduler.core.algorithm import batching
from scheduler_core.scheduler.core.algorithm.algorithm_state import (
    FIRST,
    NEXT,
    NOBODY,
    AlgorithmState,
    StepResult,
    internal_error,
)
from scheduler_core.scheduler.core.cycles.phases import Extension, PhaseResult
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle, Search, Stage
from scheduler_core.scheduler.extenders.extender import Verb
from scheduler_core.scheduler.framework import Code, Plugin, Point, Rows, Status, Verdicts, error, unresolvable
from scheduler_core.scheduler.framework.node_to_status import EXCLUDED, NOT_EVALUATED, PASSED, PluginStep
from scheduler_core.scheduler.framework.per_node import ScoreBoard
from scheduler_core.scheduler.framework.runtime.filters import FilterRunner, filter_error, find_nominated_rows
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.framework.runtime.points import run_filter

OF_NOMINATED = "nominated"  # stage of an extender's step about the node that the pod is nominated to
SILENT = unresolvable()  # like kube's default for a node without a status, such as one that an extender leaves out

MIN_FEASIBLE_NODES = 100
MIN_FEASIBLE_PERCENTAGE = 5


def prepare(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PhaseResult | None:
    """Begin the search. Without Filter plugins, the search ends at once."""
    if cycle.extension is not None and cycle.extension.lost:
        cycle.refused_by[search_of(cycle).order] = NOT_EVALUATED
        open_main_search(cycle, framework, algorithm_state)
    else:
        open_search(cycle, framework, algorithm_state)
    if framework.has(Point.FILTER):
        return None
    return _conclude(cycle, framework, algorithm_state, take_unseen(cycle, algorithm_state))


def run(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> StepResult:
    """Run one plugin's Filter on all rows that still pass."""
    plugin = framework.at(Point.FILTER)[cycle.run[cycle.index]]
    step, failed = ask(cycle, plugin)
    if failed is None:
        return step, NEXT if _has_rows(cycle) else NOBODY
    failure = filter_error(plugin.name, failed)
    if not search_of(cycle).own_nomination:
        return step, internal_error(cycle, failure.message)
    search = search_of(cycle)
    cycle.nominated_refusal = failure
    cycle.refused_by[search.order] = NOT_EVALUATED
    cycle.reason[search.order] = 0
    open_main_search(cycle, framework, algorithm_state)
    return step, FIRST if _has_rows(cycle) else NOBODY


def leave(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PhaseResult | None:
    """Continue with the next stage or block (None), or end the search."""
    while next_stage(cycle) or next_block(cycle, framework, algorithm_state):
        cycle.index = 0
        if cycle.run and _has_rows(cycle):
            return None
    feasible = close_search(cycle, algorithm_state)
    if feasible is not None:
        return _conclude(cycle, framework, algorithm_state, feasible)
    open_main_search(cycle, framework, algorithm_state)
    cycle.index = 0
    return None if cycle.run and _has_rows(cycle) else leave(cycle, framework, algorithm_state)


def _has_rows(cycle: SchedulingCycle) -> bool:
    rows = search_of(cycle).rows
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
    # kube uses a single node at once, without scoring, so no draw is consumed.
    if len(feasible) == 1:
        cycle.chosen = cycle.nodes.names[int(feasible[0])]
        cycle.tied_rows = feasible
        if algorithm_state.batches is not None:
            batching.store(cycle, framework, algorithm_state.batches)
        return PhaseResult.ONE_FEASIBLE
    if not framework.has(Point.SCORE) and not algorithm_state.extenders:
        # kube gives every node the score 1 if nothing scores, so the choice is a draw among all.
        cycle.scores = ScoreBoard(feasible, total=np.ones(len(feasible), np.int64))
        return PhaseResult.NOT_SCORED
    cycle.scores = ScoreBoard(feasible)
    return PhaseResult.SUCCESS


def feasible_nodes_to_find(percentage: int, nodes: int) -> int:
    """Return how many feasible nodes end the search among `nodes` nodes; percentage 0 adapts to the cluster's size."""
    if nodes < MIN_FEASIBLE_NODES:
        return nodes
    if percentage == 0:
        # kube's formula: about 50% of 100 nodes, 10% of 5000, and never less than 5%.
        percentage = max(50 - nodes // 125, MIN_FEASIBLE_PERCENTAGE)
    return max(nodes * percentage // 100, MIN_FEASIBLE_NODES)


def open_search(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> None:
    """Begin the search, with the pod's nominated node if there is one."""
    n = len(cycle.nodes)
    cycle.refused_by = np.full(n, NOT_EVALUATED, np.int32)
    cycle.reason = np.zeros(n, np.int32)
    name = cycle.pod.nominated_node_name
    if algorithm_state.batches is not None:
        hint = batching.find_hint(cycle, framework, algorithm_state.batches, algorithm_state.grouped)
        name = name or hint
    nominated = cycle.nodes.row(name) if name and (cycle.within is None or name in cycle.within) else None
    if name and nominated is None:
        cycle.nominated_refusal = error(f'nodeinfo not found for node name "{name}"')
    if nominated is None:
        open_main_search(cycle, framework, algorithm_state)
        return
    cycle.search = Search(np.array([nominated], np.intp), 1, own_nomination=True)
    if framework.has(Point.FILTER):
        open_block(cycle, framework, algorithm_state)


def open_main_search(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> None:
    """Begin the search over all nodes, or over the nodes of PreFilter's result."""
    rows = _rows_to_search(cycle)
    own = framework.percentage_of_nodes_to_score
    wanted = feasible_nodes_to_find(algorithm_state.percentage if own is None else own, len(rows))
    if not framework.has(Point.SCORE) and not any(
        e.has(Verb.FILTER) or e.has(Verb.PRIORITIZE) for e in algorithm_state.extenders
    ):
        # Without scores all feasible nodes are equal, so kube stops at the first.
        wanted = 1
    if len(rows):
        start = algorithm_state.next_start % len(rows)
        if start:
            rows = np.concatenate([rows[start:], rows[:start]])
    cycle.search = Search(rows, wanted)
    if framework.has(Point.FILTER):
        open_block(cycle, framework, algorithm_state)


def _rows_to_search(cycle: SchedulingCycle) -> Rows:
    names, within = cycle.node_names, cycle.within
    if names is None and within is None:
        return np.arange(len(cycle.nodes), dtype=np.intp)
    if within is not None:
        names = within if names is None else names & within
    left = [row for name in names or () if (row := cycle.nodes.row(name)) is not None]
    # kube walks a Go set here, in random order; list order makes a run reproducible.
    rows = np.array(sorted(left), np.intp)
    if cycle.node_names is None:
        return rows
    outside = np.array([within is None or name in within for name in cycle.nodes.names], np.bool_)
    outside[rows] = False
    cycle.refused_by[outside & (cycle.refused_by == NOT_EVALUATED)] = EXCLUDED
    cycle.absent = unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(_list_narrowing_plugins(cycle))}]")
    return rows


def _list_narrowing_plugins(cycle: SchedulingCycle) -> list[str]:
    """Return the plugins that kube names for an empty search, including the plugin that refused the nominated node: both share one set.

    kube: schedule_one.go (findNodesThatFitPod, evaluateNominatedNode)
    """
    refusal = cycle.nominated_refusal
    nominated = "" if refusal is None or refusal.code is Code.ERROR else refusal.plugin
    return sorted({*cycle.narrowed_by, nominated} - {""})


def open_block(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> None:
    """Open the next block: all rows if all are wanted, else slightly more rows than needed at the share that passed so far."""
    search = search_of(cycle)
    left = len(search.order) - search.start
    if search.wanted >= len(search.order):
        size = left
    else:
        # One more than wanted: in kube the worker that finds this one cancels the search, and the node is dropped.
        missing = search.wanted + 1 - search.found
        needed = missing * search.start // max(search.found, 1) if search.start else missing
        size = min(left, needed + needed // 4 + 16)
    search.stop = search.start + size
    rows = search.order[search.start : search.stop]
    cycle.refused_by[rows] = PASSED
    nominated = find_nominated_rows(algorithm_state.nominator, cycle.pod, cycle.nodes, rows)
    # kube: filters also pass without the nominated pods, since some (such as inter-pod affinity) may pass only thanks
    # to a nominated pod, which may never be bound.
    if nominated:
        search.nominated = True
        runner = FilterRunner(framework, algorithm_state.nominator)
        search.view, search.state = runner.with_nominated(cycle.state, cycle.pod, cycle.nodes, nominated)
        mine = np.isin(rows, np.array(list(nominated), np.intp))
        search.stage, search.rows, search.rest = Stage.NOMINATED, rows[mine], rows
    else:
        search.rows = rows


def search_of(cycle: SchedulingCycle) -> Search:
    """Return the search of a cycle that has reached Filter."""
    assert cycle.search is not None
    return cycle.search


def ask(cycle: SchedulingCycle, plugin: Plugin) -> tuple[PluginStep, Status | None]:
    """Run one plugin on the rows that still pass. Return its step, and the status of an internal error or None."""
    search = search_of(cycle)
    rows = search.rows
    assert rows is not None
    nodes = cycle.nodes if search.view is None else search.view
    state = cycle.state if search.state is None else search.state
    step, refused = run_filter(plugin, cycle, state, nodes, rows, search.stage.value)
    if refused is None:
        return step, None
    assert step.verdicts is not None
    out = rows[refused]
    cycle.refused_by[out] = len(cycle.steps) - 1
    cycle.reason[out] = step.verdicts.reason[refused]
    search.rows = rows[~refused]
    return step, _first_error(cycle, step.verdicts)


def _first_error(cycle: SchedulingCycle, verdicts: Verdicts) -> Status | None:
    """Return the internal error that ends the search, or None. In kube the search ends before an error behind the wanted nodes."""
    at = verdicts.first_error()
    if at is None:
        return None
    search = search_of(cycle)
    if search.stage is Stage.MAIN and cycle.index == len(cycle.run) - 1:
        if search.found + int(np.count_nonzero(~verdicts.refused[:at])) > search.wanted:
            return None
    return verdicts.status_at(at)


def next_stage(cycle: SchedulingCycle) -> bool:
    """Switch from the pass with nominated pods to the main pass of the block. Return False if the main pass is done."""
    search = search_of(cycle)
    if search.stage is Stage.MAIN:
        return False
    assert search.rest is not None and search.state is not None
    cycle.state.notes |= search.state.notes  # a copy of the cycle has separate notes
    search.rows = search.rest[cycle.refused_by[search.rest] == PASSED]
    search.stage, search.rest, search.view, search.state = Stage.MAIN, None, None, None
    return True


def next_block(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> bool:
    """Open the next block if more feasible nodes are wanted and rows are left. Return whether it did."""
    search = search_of(cycle)
    assert search.rows is not None
    search.found += len(search.rows)
    search.start = search.stop
    if search.found > search.wanted or search.stop >= len(search.order):
        return False
    open_block(cycle, framework, algorithm_state)
    return True


def close_search(cycle: SchedulingCycle, algorithm_state: AlgorithmState) -> Rows | None:
    """Return the feasible rows in search order, or None if the pod's nominated node failed and all nodes are to be searched."""
    search = search_of(cycle)
    seen = search.order[: search.stop]
    passing = np.flatnonzero(cycle.refused_by[seen] == PASSED)
    if search.own_nomination:
        if len(passing):
            return seen[passing]
        row = int(seen[0])
        cycle.nominated_mark = (row, int(cycle.refused_by[row]), int(cycle.reason[row]))
        cycle.nominated_refusal = cycle.status_of(row)
        return None
    search.seen = len(seen)
    if len(passing) > search.wanted:
        end = int(passing[search.wanted])
        search.beyond = int(seen[end])
        # The block extends beyond the node at which kube's loop ends. In kube the nodes behind it are not evaluated.
        cycle.refused_by[seen[end:]] = NOT_EVALUATED
        seen = seen[:end]
        search.seen = end + 1
        passing = passing[: search.wanted]
    _remember_nominated(cycle)
    # kube's processedNodes: the feasible nodes and those with a status, which moves the start of the next search.
    refused = int(np.count_nonzero(cycle.refused_by >= 0))
    search.processed = len(passing) + refused
    if cycle.extension is not None:
        search.processed += _count_extender_statuses(cycle, cycle.extension)
    algorithm_state.next_start = (algorithm_state.next_start + search.processed) % cycle.size
    return seen[passing]


def _count_extender_statuses(cycle: SchedulingCycle, extension: Extension) -> int:
    """Count the nodes with an extender status from the nominated-node pass; drop statuses that later plugin verdicts replace."""
    for name in list(extension.statuses):
        row = cycle.nodes.row(name)
        if row is not None and int(cycle.refused_by[row]) >= 0:
            del extension.statuses[name]
    return len(extension.statuses)


def write_extended(cycle: SchedulingCycle, extension: Extension) -> None:
    """Write the extenders' refusals to the node rows, except for nodes that passed in the end."""
    kept = {kept.node.name for kept in extension.kept}
    for number, step in enumerate(cycle.steps):
        if step.point is not Point.EXTENDER_FILTER or step.verdicts is None or step.rows is None:
            continue
        for row, reason in zip(step.rows.tolist(), step.verdicts.reason.tolist(), strict=True):
            if cycle.nodes.names[row] in kept:
                continue
            if reason >= 0 and _replaces(cycle, step, row, step.verdicts.statuses[reason]):
                cycle.refused_by[row], cycle.reason[row] = number, reason


def _replaces(cycle: SchedulingCycle, step: PluginStep, row: int, status: Status) -> bool:
    """Return whether a status replaces a row's. SILENT replaces only a pass; the nominated node's pass replaces no plugin's status."""
    before = int(cycle.refused_by[row])
    if status == SILENT:
        return before == PASSED and step.stage != OF_NOMINATED
    return step.stage != OF_NOMINATED or before < 0 or cycle.steps[before].point is not Point.FILTER


def _remember_nominated(cycle: SchedulingCycle) -> None:
    """Restore the status of a rejected nominated node that the search did not reach."""
    if cycle.nominated_mark is None:
        return
    row, step, reason = cycle.nominated_mark
    if cycle.refused_by[row] == NOT_EVALUATED:
        cycle.refused_by[row], cycle.reason[row] = step, reason


def take_unseen(cycle: SchedulingCycle, algorithm_state: AlgorithmState) -> Rows:
    """Return the rows without running filters: the nominated node, or the first rows from the start index."""
    search = search_of(cycle)
    taken = search.order[: search.wanted]
    cycle.refused_by[taken] = PASSED
    if search.own_nomination:
        return taken
    search.processed = len(taken)
    if cycle.extension is not None:
        search.processed += _count_extender_statuses(cycle, cycle.extension)
    algorithm_state.next_start = (algorithm_state.next_start + search.processed) % cycle.size
    return taken
