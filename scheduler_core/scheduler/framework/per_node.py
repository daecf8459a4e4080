"""Plugins written node by node, as in kube, for custom plugins; in-tree plugins evaluate all nodes at once.

Filter, Score, AddPod and RemovePod are called for one node at a time. AddPod and RemovePod write to the what-if of that node alone, as
kube gives each node a copy of the CycleState.

kube: staging/src/k8s.io/kube-scheduler/framework/interface.go, framework/types.go (NodeInfo) @ v1.34.1
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects import Node, Pod
from scheduler_core.base.state import Copied, Shared, State
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.cache.what_if import Change
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.plugin import Plugin, Rows, Scores, Verdicts
from scheduler_core.scheduler.framework.status import Status

# The scores of one cycle, plugin by plugin.


@dataclass(slots=True)
class ScoreBoard(State):
    """Scores of the feasible rows: one vector per plugin, from raw over normalized to weighted, and their sum."""

    rows: Shared[Rows]
    plugins: Copied[list[str]] = field(default_factory=list)
    weights: Copied[list[int]] = field(default_factory=list)
    raw: Copied[list[Shared[Scores]]] = field(default_factory=list)
    normalized: Copied[list[Shared[Scores]]] = field(default_factory=list)
    total: Shared[Scores | None] = None
    extenders: Copied[list[str]] = field(default_factory=list)
    extended: Copied[list[Shared[Scores]]] = field(default_factory=list)  # of each of these, with its weight

    @property
    def weighted(self) -> list[Scores]:
        return [scores * weight for scores, weight in zip(self.normalized, self.weights, strict=True)]


_CHANGED = "rows/"


class NodeInfo:
    """One node of the snapshot, with its pods. Amounts are in millis of CPU, in bytes, else in whole numbers."""

    __slots__ = ("_row", "_table")

    def __init__(self, table: NodeTable, row: int) -> None:
        self._table = table
        self._row = row

    @property
    def name(self) -> str:
        return self._table.names[self._row]

    @property
    def node(self) -> Node:
        return self._table.nodes[self._row]

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods on the node, including assumed ones; in a what-if, the hypothetical pods."""
        return self._table.pods[self._row]

    @property
    def allocatable(self) -> Mapping[str, int]:
        """The allocatable amounts by resource; the number of pods as `pods`."""
        return {**self._amounts(self._table.allocatable), "pods": int(self._table.allowed_pods[self._row])}

    @property
    def requested(self) -> Mapping[str, int]:
        """The pods' total requests by resource; the number of pods as `pods`."""
        return {**self._amounts(self._table.requested), "pods": int(self._table.pod_count[self._row])}

    def _amounts(self, columns: Any) -> dict[str, int]:
        amounts = columns[self._row].tolist()
        return dict(zip(self._table.resources.names, amounts, strict=False))


class PerNodePlugin(Plugin):
    """A plugin that evaluates one node at a time. As with Plugin, a subclass overrides the methods of its extension points.

    `filter_node` and `score_node` implement Filter and Score, `add_pod` and `remove_pod` PreFilter's extensions.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for node_wise, method, whole in _WHOLE:
            if node_wise in vars(cls) and method not in vars(cls):
                setattr(cls, method, whole)

    def filter_node(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Return the status of the pod on a node. Success or None: the pod fits."""
        raise NotImplementedError

    def score_node(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Return a score from 0 to 100, or one that NormalizeScore maps to this range; a status ends the cycle as an error."""
        raise NotImplementedError

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, node: NodeInfo) -> None:
        """Update the state for a pod that was added to the node; `node` already includes it. kube: AddPod"""

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, node: NodeInfo) -> None:
        """Update the state for a pod that was removed from the node; `node` no longer includes it. kube: RemovePod"""


def _filter(self: PerNodePlugin, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
    changed = state.get(_CHANGED + self.name) or {}
    reason = np.full(len(rows), -1, np.int32)
    statuses: dict[Status, int] = {}
    for i, row in enumerate(rows.tolist()):
        status = self.filter_node(changed.get(row, state), pod, NodeInfo(nodes, row))
        if status is not None and not status.ok:
            reason[i] = statuses.setdefault(status, len(statuses))
            if not status.rejected:
                break  # an error ends the cycle
    return Verdicts(reason, tuple(statuses)) if statuses else None


def _score(self: PerNodePlugin, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Scores | Status:
    scores = np.zeros(len(rows), np.int64)
    for i, row in enumerate(rows.tolist()):
        score = self.score_node(state, pod, NodeInfo(nodes, row))
        if isinstance(score, Status):
            return score
        scores[i] = score
    return scores


def _adjust(self: PerNodePlugin, state: CycleState, pod: Pod, nodes: NodeTable, changes: Sequence[Change]) -> None:
    states = dict(state.get(_CHANGED + self.name) or {})
    for change in changes:
        # A state per row, as kube clones one per node: what-ifs of several nodes
        # run in one view and must not see each other.
        own = states[change.row] = (states.get(change.row) or state).copy()
        extension = self.add_pod if change.sign > 0 else self.remove_pod
        extension(own, pod, change.pod, NodeInfo(nodes, change.row))
    state.write(_CHANGED + self.name, states)


_WHOLE: tuple[tuple[str, str, Any], ...] = (
    ("filter_node", "filter", _filter),
    ("score_node", "score", _score),
    ("add_pod", "adjust", _adjust),
    ("remove_pod", "adjust", _adjust),
)
