"""Runs of plugins on nodes outside of a cycle's search, for batching: they create neither steps nor records.

kube: framework/runtime/batch.go (refreshHintCandidates, rescoreHintedNode) @ v1.37.2
"""

from collections.abc import Mapping

import numpy as np

from scheduler_core.scheduler.framework.plugin import Point, Rows, Scores
from scheduler_core.scheduler.framework.runtime.framework import Framework, SnapshotCycle
from scheduler_core.scheduler.framework.status import Status

Raw = tuple[tuple[str, Scores], ...]


def find_refusal(framework: Framework, cycle: SnapshotCycle, rows: Rows) -> Status | None:
    """Return the first plugin's refusal of a node, without nominated pods; None if the pod fits."""
    for i in framework.running(Point.FILTER, cycle.state.skip_filter):
        verdicts = framework.at(Point.FILTER)[i].filter(cycle.state, cycle.pod, cycle.nodes, rows)
        refusal = None if verdicts is None else verdicts.first()
        if refusal is not None:
            return refusal
    return None


def rescore(
    framework: Framework, cycle: SnapshotCycle, rows: Rows, before: Mapping[str, Scores]
) -> tuple[Raw, Scores] | str:
    """Score the last row, and use the raw scores `before` for the others. Return raw scores and totals, or kube's reason of a failure."""
    pod, nodes, state = cycle.pod, cycle.nodes, cycle.state.copy()
    state.skip_score = ()
    for plugin in framework.at(Point.PRE_SCORE):
        status = plugin.pre_score(state, pod, nodes, rows)
        if status.skipped:
            state.skip_score = (*state.skip_score, plugin.name)
        elif not status.ok:
            return "prescore_error"
    fresh: list[tuple[str, Scores]] = []
    totals = np.zeros(len(rows), np.int64)
    for i in framework.running(Point.SCORE, state.skip_score):
        plugin = framework.at(Point.SCORE)[i]
        last = plugin.score(state, pod, nodes, rows[-1:])
        if isinstance(last, Status):
            return "rescore_error"
        scores = np.concatenate([before.get(plugin.name, np.zeros(len(rows) - 1, np.int64)), last])
        fresh.append((plugin.name, scores))
        normalized: Scores | Status = scores
        if plugin in framework.at(Point.NORMALIZE_SCORE):
            normalized = plugin.normalize(state, pod, nodes, rows, scores)
        if isinstance(normalized, Status):
            return "normalize_error"
        totals = totals + normalized * framework.weights[plugin.name]
    return tuple(fresh), totals
