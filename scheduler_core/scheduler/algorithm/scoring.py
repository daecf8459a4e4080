"""PreScore, Score, NormalizeScore and the choice among the best nodes.

kube: schedule_one.go (prioritizeNodes, selectHost), framework/runtime/framework.go (RunScorePlugins) @ v1.34.1
"""

from __future__ import annotations

import numpy as np

from scheduler_core.framework.plugin import MAX_NODE_SCORE, MIN_NODE_SCORE, Point
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.scores import ScoreBoard
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.framework.step import PluginStep
from scheduler_core.scheduler.algorithm.algorithm_state import AlgorithmState
from scheduler_core.scheduler.algorithm.turns import Ran, Turn, internal_error
from scheduler_core.scheduler.cycles.phases import PhaseResult
from scheduler_core.scheduler.cycles.scheduling_cycle import SchedulingCycle


def run_pre_score(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> Ran:
    """One plugin's PreScore."""
    assert cycle.feasible is not None
    plugin = framework.at(Point.PRE_SCORE)[cycle.run[cycle.index]]
    status = plugin.pre_score(cycle.state, cycle.pod, cycle.nodes, cycle.feasible).by(plugin.name)
    step = cycle.did(
        PluginStep(
            Point.PRE_SCORE, plugin.name, status, cycle.t, cycle.position, evaluated=len(cycle.feasible)
        )
    )
    if status.code is Code.SKIP:
        cycle.state.skip_score = (*cycle.state.skip_score, plugin.name)
    elif not status.ok:
        return step, internal_error(cycle, f'running PreScore plugin "{plugin.name}": {status.message}')
    return step, Turn.NEXT


def run_score(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> Ran:
    """One plugin's raw scores."""
    board = board_of(cycle)
    plugin = framework.at(Point.SCORE)[cycle.run[cycle.index]]
    raw = plugin.score(cycle.state, cycle.pod, cycle.nodes, board.rows)
    if isinstance(raw, Status):
        step = PluginStep(Point.SCORE, plugin.name, raw.by(plugin.name), cycle.t, cycle.position)
        text = f'running Score plugins: plugin "{plugin.name}" failed with: {raw.message}'
        return cycle.did(step), internal_error(cycle, text)
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
    return cycle.did(step), Turn.NEXT


def run_normalize(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> Ran:
    """One plugin's normalised scores."""
    board = board_of(cycle)
    plugin = framework.at(Point.NORMALIZE_SCORE)[cycle.run[cycle.index]]
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
    return cycle.did(step), Turn.NEXT


def board_of(cycle: SchedulingCycle) -> ScoreBoard:
    """The scores of a cycle that has come to Score."""
    assert cycle.scores is not None
    return cycle.scores


def sum_up(
    cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState
) -> PhaseResult | None:
    """Weights and adds the scores, where there are any; one out of range is an error."""
    board = board_of(cycle)
    if board.total is not None:
        return None
    total = np.zeros(len(board.rows), np.int64)
    for name, weight, scores in zip(board.plugins, board.weights, board.normalized, strict=True):
        if int(scores.view(np.uint64).max()) > MAX_NODE_SCORE:  # seen so, a negative score is a huge one
            wrong = scores[(scores < MIN_NODE_SCORE) | (scores > MAX_NODE_SCORE)]
            text = (
                f'applying score defaultWeights on Score plugins: plugin "{name}" returns an invalid score '
                f"{int(wrong[0])}, it should in the range of [{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after normalizing"
            )
            return internal_error(cycle, text)
        total += scores * weight
    board.total = total
    return None


def select(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> Ran:
    """Draws among the best nodes, which stand in list order."""
    board = board_of(cycle)
    assert board.total is not None
    best = np.sort(board.rows[board.total == board.total.max()])
    cycle.tied_rows = best
    if len(best) > 1:
        cycle.draw = algorithm_state.draw(len(best))
    cycle.chosen = cycle.nodes.names[int(best[cycle.draw or 0])]
    return None, PhaseResult.SUCCESS
