"""FewestPodsFirst: PreScore, Score and NormalizeScore, for all feasible nodes at once: `rows` are their places in the NodeTable."""

from __future__ import annotations

import numpy as np

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.plugin import Plugin, Rows, Scores
from scheduler_core.scheduler.framework.status import SKIP, SUCCESS, Status


class FewestPodsFirst(Plugin):
    """The fewer pods a node has, the better."""

    name = "FewestPodsFirst"

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Status:
        return SUCCESS if nodes.pod_count[rows].any() else SKIP  # then Score is not asked in this cycle

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Scores:
        return nodes.pod_count[rows].astype(np.int64)

    def normalize(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, scores: Scores) -> Scores:
        """0 to 100: the most pods get 0."""
        return 100 - scores * 100 // max(int(scores.max()), 1)
