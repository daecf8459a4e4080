"""PreScore, Score, NormalizeScore and the choice among the best nodes.

kube: schedule_one.go (prioritizeNodes, selectHost), framework/runtime/framework.go (RunScorePlugins) @ v1.34.1
"""

import numpy as np

from scheduler_core.scheduler.core.algorithm import batching
from scheduler_core.scheduler.core.algorithm.algorithm_state import NEXT, AlgorithmState, StepResult, internal_error
from scheduler_core.scheduler.core.cycles.phases import PhaseResult
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.framework.per_node import ScoreBoard
from scheduler_core.scheduler.framework.plugin import MAX_NODE_SCORE, MIN_NODE_SCORE, Point, no_scores
from scheduler_core.scheduler.framework.runtime import points
from scheduler_core.scheduler.framework.runtime.framework import Framework


def run_pre_score(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> StepResult:
    """Run one plugin's PreScore."""
    assert cycle.feasible is not None
    plugin = framework.at(Point.PRE_SCORE)[cycle.run[cycle.index]]
    step = points.run_pre_score(plugin, cycle, cycle.feasible)
    status = step.status
    if not status.ok and not status.skipped:
        return step, internal_error(cycle, f'running PreScore plugin "{plugin.name}": {status.message}')
    return step, NEXT


def run_score(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> StepResult:
    """Run one plugin's Score."""
    board = board_of(cycle)
    plugin = framework.at(Point.SCORE)[cycle.run[cycle.index]]
    step = points.run_score(plugin, cycle, board.rows)
    raw = step.scores
    if raw is None:
        text = f'running Score plugins: plugin "{plugin.name}" failed with: {step.status.message}'
        return step, internal_error(cycle, text)
    board.plugins.append(plugin.name)
    board.weights.append(framework.weights[plugin.name])
    board.raw.append(raw)
    # A plugin without NormalizeScore counts with its raw scores.
    board.normalized.append(raw)
    return step, NEXT


def run_normalize(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> StepResult:
    """Run one plugin's NormalizeScore."""
    board = board_of(cycle)
    plugin = framework.at(Point.NORMALIZE_SCORE)[cycle.run[cycle.index]]
    i = board.plugins.index(plugin.name)
    step = points.run_normalize_score(plugin, cycle, board.rows, board.raw[i])
    if step.scores is None:
        text = f'running Normalize on Score plugins: plugin "{plugin.name}" failed with: {step.status.message}'
        return step, internal_error(cycle, text)
    board.normalized[i] = step.scores
    return step, NEXT


def board_of(cycle: SchedulingCycle) -> ScoreBoard:
    """Return the scores of a cycle that has reached Score."""
    assert cycle.scores is not None
    return cycle.scores


def leave_plugins(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PhaseResult:
    """Continue with the extenders, if there are any, after all plugins have scored."""
    return PhaseResult.EXTENDED if algorithm_state.extenders else PhaseResult.SUCCESS


def sum_up(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PhaseResult | None:
    """Compute the weighted sum of the scores, unless it exists. A score out of range is an error."""
    board = board_of(cycle)
    if board.total is not None:
        return None
    nothing = no_scores(len(board.rows))
    counted = [each for each in zip(board.weights, board.normalized, strict=True) if each[1] is not nothing]
    table = np.array([scores for _, scores in counted], np.int64).reshape(len(counted), len(board.rows))
    total = np.array([weight for weight, _ in counted], np.int64) @ table
    # As an unsigned integer, a negative score is huge.
    in_range = not table.size or int(table.view(np.uint64).max()) <= MAX_NODE_SCORE
    for name, scores in () if in_range else zip(board.plugins, board.normalized, strict=True):
        wrong = scores[(scores < MIN_NODE_SCORE) | (scores > MAX_NODE_SCORE)]
        if len(wrong):
            text = (
                f'applying score defaultWeights on Score plugins: plugin "{name}" returns an invalid score '
                f"{int(wrong[0])}, it should in the range of [{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after normalizing"
            )
            return internal_error(cycle, text)
    for scores in board.extended:
        total += scores
    board.total = total
    return None


def select(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> StepResult:
    """Draw one of the best nodes, which are in list order."""
    board = board_of(cycle)
    assert board.total is not None
    # Rows are in search order. Sorted, a draw selects the same node for any start index.
    is_best = board.total == board.total.max()
    places = np.flatnonzero(is_best)
    best = np.sort(board.rows[places])
    cycle.tied_rows = best
    row = int(best[0])
    if len(best) > 1 and algorithm_state.in_order and not algorithm_state.extenders:
        row = int(board.rows[batching.first_in_heap(is_best, places)])
    elif len(best) > 1:
        cycle.draw = algorithm_state.draw(len(best))
        row = int(best[cycle.draw])
    cycle.chosen = cycle.nodes.names[row]
    if algorithm_state.batches is not None:
        batching.store(cycle, framework, algorithm_state.batches)
    return None, PhaseResult.SUCCESS
