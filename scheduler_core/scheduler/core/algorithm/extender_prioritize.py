"""The extenders' scores: all extenders are called at once, and their scores are added to the plugins' totals.

kube: schedule_one.go (prioritizeNodes) @ v1.34.1
"""

from collections import Counter

import numpy as np

from scheduler_core.scheduler.core.algorithm import extender_calls
from scheduler_core.scheduler.core.algorithm.algorithm_state import NEXT, SAME, AlgorithmState, StepResult
from scheduler_core.scheduler.core.algorithm.extender_calls import extension_of
from scheduler_core.scheduler.core.algorithm.scoring import board_of
from scheduler_core.scheduler.core.cycles.phases import PhaseResult
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.extenders.exchange import Effect
from scheduler_core.scheduler.extenders.extender import Request, Verb
from scheduler_core.scheduler.extenders.results import ExtenderError, read_prioritize
from scheduler_core.scheduler.framework.plugin import MAX_NODE_SCORE
from scheduler_core.scheduler.framework.runtime.framework import Framework

MAX_EXTENDER_PRIORITY = 10
_WRAP, _HALF = 1 << 64, 1 << 63


def prepare(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PhaseResult | None:
    """Set the extenders to call."""
    cycle.run = extender_calls.serving(algorithm_state.extenders, Verb.PRIORITIZE, cycle)
    return None if cycle.run else PhaseResult.SUCCESS


def run(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> StepResult:
    """Call all extenders, or process one answer. An error is ignored, even if the extender is not ignorable."""
    extension, board = extension_of(cycle), board_of(cycle)
    if not extension.open:
        nodes = tuple([cycle.nodes.nodes[row] for row in board.rows.tolist()])
        for i in cycle.run:
            extender = algorithm_state.extenders[i]
            request = Request(cycle.pod, nodes, names_only=extender.node_cache_capable)
            extender_calls.ask(extension, cycle, extender, Verb.PRIORITIZE, request)
        return None, SAME
    exchange = extension.current()
    try:
        hosts = read_prioritize(exchange)
    except ExtenderError as problem:
        return extender_calls.take(extension, cycle, Effect(ignored=True), str(problem)), NEXT
    sums: Counter[str] = Counter()
    scale = exchange.extender.weight * (MAX_NODE_SCORE // MAX_EXTENDER_PRIORITY)
    for host, score in hosts:
        sums[host] = _int64(sums[host] + _int64(score * scale))
    names = cycle.nodes.names
    scores = np.array([sums.get(names[row], 0) for row in board.rows.tolist()], np.int64)
    board.extenders.append(exchange.extender.url_prefix)
    board.extended.append(scores)
    effect = Effect(scores=tuple(sums.items()))
    return extender_calls.take(extension, cycle, effect, rows=board.rows, scores=scores), NEXT


def _int64(number: int) -> int:
    """Wrap a number to int64, like Go's arithmetic."""
    return (number + _HALF) % _WRAP - _HALF
