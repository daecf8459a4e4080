"""PreScore, Score, NormalizeScore and the choice among the best nodes.

kube: schedule_one.go (prioritizeNodes, selectHost), framework/runtime/framework.go (RunScorePlugins) @ v1.34.1
"""

from __future__ import annotations

import numpy as np

from scheduler_core.framework.plugin import MAX_NODE_SCORE, MIN_NODE_SCORE, Plugin, Point
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.scores import ScoreBoard
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.framework.step import PluginStep
from scheduler_core.scheduler.algorithm.algorithm_state import AlgorithmState
from scheduler_core.scheduler.cycles.scheduling_cycle import SchedulingCycle


def run_pre_score(cycle: SchedulingCycle, plugin: Plugin) -> tuple[PluginStep, str]:
    """One plugin's PreScore; the text is an internal error's."""
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
        return step, f'running PreScore plugin "{plugin.name}": {status.message}'
    return step, ""


def run_score(cycle: SchedulingCycle, framework: Framework, plugin: Plugin) -> tuple[PluginStep, str]:
    """One plugin's raw scores; the text is an internal error's."""
    board = board_of(cycle)
    raw = plugin.score(cycle.state, cycle.pod, cycle.nodes, board.rows)
    if isinstance(raw, Status):
        step = PluginStep(Point.SCORE, plugin.name, raw.by(plugin.name), cycle.t, cycle.position)
        return cycle.did(step), f'running Score plugins: plugin "{plugin.name}" failed with: {raw.message}'
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
    return cycle.did(step), ""


def run_normalize(cycle: SchedulingCycle, plugin: Plugin) -> PluginStep:
    """One plugin's normalised scores."""
    board = board_of(cycle)
    i = board.plugins.index(plugin.name)
    scores = plugin.normalize(cycle.state, cycle.pod, cycle.nodes, board.rows, board.raw[i])
    board.normalized[i] = scores
    return cycle.did(
        PluginStep(
            Point.NORMALIZE_SCORE,
            plugin.name,
            SUCCESS,
            cycle.t,
            cycle.position,
            evaluated=len(scores),
            rows=board.rows,
            scores=scores,
        )
    )


def board_of(cycle: SchedulingCycle) -> ScoreBoard:
    """The scores of a cycle that has come to Score."""
    assert cycle.scores is not None
    return cycle.scores


def sum_up(cycle: SchedulingCycle) -> str:
    """Weights and adds the scores; the text is an internal error's: a score out of range."""
    board = board_of(cycle)
    total = np.zeros(len(board.rows), np.int64)
    for name, weight, scores in zip(board.plugins, board.weights, board.normalized, strict=True):
        if int(scores.view(np.uint64).max()) > MAX_NODE_SCORE:  # seen so, a negative score is a huge one
            wrong = scores[(scores < MIN_NODE_SCORE) | (scores > MAX_NODE_SCORE)]
            return (
                f'applying score defaultWeights on Score plugins: plugin "{name}" returns an invalid score '
                f"{int(wrong[0])}, it should in the range of [{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after normalizing"
            )
        total += scores * weight
    board.total = total
    return ""


def select(cycle: SchedulingCycle, algorithm_state: AlgorithmState) -> None:
    """Draws among the best nodes, which stand in list order."""
    board = board_of(cycle)
    assert board.total is not None
    best = np.sort(board.rows[board.total == board.total.max()])
    cycle.tied_rows = best
    if len(best) > 1:
        cycle.draw = algorithm_state.draw(len(best))
    cycle.chosen = cycle.nodes.names[int(best[cycle.draw or 0])]
