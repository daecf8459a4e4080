"""NodeResourcesBalancedAllocation: prefers nodes whose resources would be used in equal shares.

kube: plugins/noderesources/balanced_allocation.go @ v1.34.1
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from math import sqrt
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.resources import Resources, is_scalar_name
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.explanation import Explanation, gettext_noop
from scheduler_core.scheduler.framework.formula import Formula
from scheduler_core.scheduler.framework.plugin import MAX_NODE_SCORE, Handle, Plugin, Point, Rows, Scores
from scheduler_core.scheduler.framework.status import SKIP, SUCCESS, Status
from scheduler_core.scheduler.plugins.noderesources.amounts import explain_weighed
from scheduler_core.scheduler.plugins.noderesources.formula import build_balanced_formula
from scheduler_core.scheduler.plugins.noderesources.resource_allocation import BALANCED_ALLOCATION, Weighed, weigh

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

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Status:
        return SKIP if self._best_effort(pod) else SUCCESS

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Scores:
        if self._best_effort(pod):  # where the profile leaves out PreScore
            return np.zeros(len(rows), np.int64)
        requests = pod.requests
        return nodes.keep(
            (self, requests),
            rows,
            lambda late: self._score(nodes, late, requests),
            lambda row: self._score_row(nodes, row, requests),
        )

    def _score(self, nodes: NodeTable, rows: Rows, requests: Resources) -> Scores:
        weighed = weigh(nodes, rows, self.args["resources"], requests, nonzero=False, both=self._by_change)
        scores = score_balance(weighed)
        if not self._by_change:
            return scores
        change: Scores = scores[0] - scores[1]  # with the pod, and without
        change += 3 * HALF
        change >>= 1  # HALF, and the half of the change and HALF, which are at least 0
        return change

    def _score_row(self, nodes: NodeTable, row: int, requests: Resources) -> int:
        """Return one row's score, for which vectors would take ten times as long."""
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
        score = _balance(after)
        return (score - _balance(before) + 3 * HALF) >> 1 if self._by_change else score

    def describe_prepared(self, point: Point, state: CycleState, pod: Pod, nodes: NodeTable) -> Explanation:
        return explain_weighed(self.args["resources"], pod.requests)

    def formula(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Formula:
        return build_balanced_formula(self.args["resources"], pod, nodes, row, self._by_change)

    def _best_effort(self, pod: Pod) -> bool:
        return not any(pod.requests.get(resource["name"]) for resource in self.args["resources"])


def score_balance(weighed: Sequence[Weighed]) -> Scores:
    """Nodes that lack a resource leave it out; they are computed together with those that lack the same ones.

    `requested` may have a row for each of several situations, and so has the result then.
    """
    fractions = [_fraction(w) for w in weighed]
    if all(np.count_nonzero(w.allocatable) == len(w.allocatable) for w in weighed):
        return _score(fractions, fractions[0].shape)
    has = np.array([w.allocatable != 0 for w in weighed])
    result = np.zeros(fractions[0].shape, np.int64)
    for pattern in np.unique(has, axis=1).T:
        alike = (has == pattern[:, None]).all(axis=0)
        present = [f[..., alike] for f, has_it in zip(fractions, pattern, strict=True) if has_it]
        result[..., alike] = _score(present, result[..., alike].shape)
    return result


def _balance(fractions: Sequence[float]) -> int:
    """Return the score of one node, by the same operations in the same order as `_score`."""
    if len(fractions) < 2:
        return MAX_NODE_SCORE
    if len(fractions) == 2:
        deviation = abs((fractions[0] - fractions[1]) / 2.0)
    else:
        mean = reduce(add, fractions, 0.0) / len(fractions)  # not `sum`, which rounds otherwise since Python 3.12
        deviation = sqrt(reduce(add, [(each - mean) * (each - mean) for each in fractions], 0.0) / len(fractions))
    return int((1.0 - deviation) * MAX_NODE_SCORE)


def _fraction(w: Weighed) -> Fractions:
    fraction = w.requested / np.maximum(w.allocatable, 1)
    return np.minimum(fraction, 1.0, out=fraction)


def _score(fractions: Sequence[Fractions], shape: tuple[int, ...]) -> Scores:
    """Return the score in Go's order of float64 operations, truncated; the maximum for fewer than two resources."""
    if len(fractions) < 2:
        return np.full(shape, MAX_NODE_SCORE, np.int64)
    if len(fractions) == 2:
        deviation = fractions[0] - fractions[1]
        deviation /= 2.0
        np.abs(deviation, out=deviation)
    else:
        # A loop in kube's order instead of np.std: a sum in another order may
        # differ in the last bit, and the score is cut off.
        total = np.zeros_like(fractions[0])
        for fraction in fractions:
            total = total + fraction
        mean = total / float(len(fractions))
        squares = np.zeros_like(mean)
        for fraction in fractions:
            squares = squares + (fraction - mean) * (fraction - mean)
        deviation = np.sqrt(squares / float(len(fractions)))
    np.subtract(1.0, deviation, out=deviation)
    deviation *= float(MAX_NODE_SCORE)
    return deviation.astype(np.int64)
