"""NodeResourcesBalancedAllocation: prefers nodes whose resources would be used in equal shares.

kube: plugins/noderesources/balanced_allocation.go @ v1.34.1
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.resources import Resources, is_scalar_name
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import SKIP, SUCCESS, CycleState, Explanation, Formula, Status, gettext_noop
from scheduler_core.scheduler.framework.plugin import MAX_NODE_SCORE, Handle, Plugin, Point, Rows, Scores
from scheduler_core.scheduler.plugins.noderesources.amounts import explain_weighed
from scheduler_core.scheduler.plugins.noderesources.formula import build_balanced_formula
from scheduler_core.scheduler.plugins.noderesources.resource_allocation import (
    BALANCED_ALLOCATION,
    WeighedResource,
    weigh,
)

NAME = "NodeResourcesBalancedAllocation"

HALF = MAX_NODE_SCORE // 2
_SIGN = 1 << 63

Fractions = NDArray[np.float64]


class NodeResourcesBalancedAllocation(Plugin):
    """Scores 100 * (1 - standard deviation of the used shares), on real requests; best-effort pods are skipped.

    Since 1.36 the change of that score counts: 50 + (50 + the score with the pod - the score without it) / 2.
    """

    name = NAME
    skips = {Point.PRE_SCORE: gettext_noop("the pod requests none of the resources to balance")}
    arguments = BALANCED_ALLOCATION

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._by_change = Behavior.BALANCE_BY_CHANGE in handle.features.behaviors
        self._kept_as = NAME, self._by_change, *(resource["name"] for resource in self.args["resources"])

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Status:
        return SKIP if self._best_effort(pod) else SUCCESS

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Scores:
        if self._best_effort(pod):  # for a profile without PreScore
            return np.zeros(len(rows), np.int64)
        return nodes.keep(rows, self._kept_as, self._score, self._score_row, pod.requests)

    def _score(self, nodes: NodeTable, rows: Rows, requests: Resources) -> Scores:
        weighed = weigh(nodes, rows, self.args["resources"], requests, nonzero=False)
        scores = score_balance(weighed)
        if self._by_change:
            before = score_balance([replace(w, requested=w.requested - w.incoming) for w in weighed])
            scores = (scores - before + 3 * HALF) >> 1  # HALF, and the half of the change and HALF
        return scores

    def _score_row(self, nodes: NodeTable, row: int, requests: Resources) -> int:
        """Return the score of one row, without vectors, which would take ten times as long."""
        used, allocatable = nodes.requested[row].tolist(), nodes.allocatable[row].tolist()
        before, after = [], []
        for resource in self.args["resources"]:
            name = resource["name"]
            column, incoming = nodes.resources.columns.get(name), requests.get(name)
            if column is None or column >= len(used) or (not incoming and is_scalar_name(name)):
                continue
            if (room := allocatable[column]) != 0:
                before.append(min(float(used[column]) / float(max(room, 1)), 1.0))
                total = (used[column] + incoming + _SIGN) % (2 * _SIGN) - _SIGN  # as int64 wraps
                after.append(min(float(total) / float(max(room, 1)), 1.0))
        score = _score_one(after)
        return (score - _score_one(before) + 3 * HALF) >> 1 if self._by_change else score

    def describe_prepared(self, point: Point, state: CycleState, pod: Pod, nodes: NodeTable) -> Explanation:
        return explain_weighed(self.args["resources"], pod.requests)

    def formula(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Formula:
        return build_balanced_formula(self.args["resources"], pod, nodes, row, self._by_change)

    def _best_effort(self, pod: Pod) -> bool:
        return not any(pod.requests.get(resource["name"]) for resource in self.args["resources"])


def score_balance(weighed: Sequence[WeighedResource]) -> Scores:
    """Score the balance. Resources that a node lacks do not count; nodes that lack the same resources are computed together."""
    fractions = [np.minimum(w.requested / np.maximum(w.allocatable, 1), 1.0) for w in weighed]
    if all(np.count_nonzero(w.allocatable) == len(w.allocatable) for w in weighed):
        return _score(fractions, len(fractions[0]))
    has = np.array([w.allocatable != 0 for w in weighed])
    result = np.zeros(has.shape[1], np.int64)
    for pattern in np.unique(has, axis=1).T:
        alike = (has == pattern[:, None]).all(axis=0)
        present = [f[alike] for f, has_it in zip(fractions, pattern, strict=True) if has_it]
        result[alike] = _score(present, int(alike.sum()))
    return result


def _score(fractions: Sequence[Fractions], rows: int) -> Scores:
    if len(fractions) < 2:
        return np.full(rows, MAX_NODE_SCORE, np.int64)
    scores: Scores = ((1.0 - _deviate(fractions)) * float(MAX_NODE_SCORE)).astype(np.int64)
    return scores


def _score_one(fractions: Sequence[float]) -> int:
    return MAX_NODE_SCORE if len(fractions) < 2 else int((1.0 - _deviate(fractions)) * float(MAX_NODE_SCORE))


def _deviate(fractions: Sequence[Any]) -> Any:
    """Return the standard deviation of numbers or of vectors, by Go's float64 operations in Go's order."""
    if len(fractions) == 2:
        return abs((fractions[0] - fractions[1]) / 2.0)
    # Loops in kube's order instead of np.std or sum: a sum in another order may
    # differ in the last bit, and the score is cut off.
    total = squares = 0.0
    for fraction in fractions:
        total = total + fraction
    mean = total / float(len(fractions))
    for fraction in fractions:
        squares = squares + (fraction - mean) * (fraction - mean)
    return np.sqrt(squares / float(len(fractions)))
