"""A step: one plugin run once at one extension point, and what its record says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from scheduler_core.cluster.table import NodeTable
from scheduler_core.framework.plugin import Point, Rows, Scores, Verdicts
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.state import SharedState
from scheduler_core.trace.kinds import PluginRan, StatusData
from scheduler_core.trace.records import LazyFacts


@dataclass(slots=True, eq=False)
class PluginStep(SharedState):
    """What one plugin did at one extension point. `rows`, `verdicts` and `scores` are node-wise detail, read when somebody looks.

    Never changed once made; it is not `frozen` because that makes it five times as slow to make, and an attempt makes about thirty.
    """

    point: Point
    plugin: str
    status: Status = SUCCESS
    t: int = 0
    position: int = 0
    evaluated: int = 0
    refused: int = 0
    rows: Rows | None = None
    verdicts: Verdicts | None = None
    scores: Scores | None = None
    node_names: frozenset[str] | None = None
    timeout: int = 0
    stage: str = ""  # of Filter: which pass
    evidence: Any = None  # of PostFilter: what the plugin looked at

    @property
    def skipped(self) -> bool:
        return self.status.code is Code.SKIP

    def facts(self, pod: str, nodes: NodeTable | None = None) -> PluginRan:
        """What the step's record says; without the nodes what is told node by node is left out."""
        status = self.status.to_json()
        if nodes is None:
            return PluginRan(self.point.value, self.plugin, pod, status, self.evaluated, self.refused)
        return PluginRan(
            self.point.value,
            self.plugin,
            pod,
            status,
            self.evaluated,
            self.refused,
            self._refusals(nodes),
            self._scores(nodes),
            None if self.node_names is None else sorted(self.node_names),
            self.stage,
            None if self.evidence is None else self.evidence.to_json(),
        )

    def _refusals(self, nodes: NodeTable) -> dict[str, StatusData] | None:
        if self.rows is None or self.verdicts is None:
            return None
        return {
            nodes.names[int(row)]: self.verdicts.statuses[int(reason)].to_json()
            for row, reason in zip(self.rows, self.verdicts.reason, strict=True)
            if reason >= 0
        }

    def _scores(self, nodes: NodeTable) -> dict[str, int] | None:
        if self.rows is None or self.scores is None:
            return None
        return {nodes.names[int(r)]: int(s) for r, s in zip(self.rows, self.scores, strict=True)}


class StepFacts(LazyFacts):
    """Makes the facts of a step's record. What is told node by node is made only when the record is looked at; `brief` is the rest."""

    __slots__ = ("nodes", "pod", "step")

    KIND: ClassVar[str] = PluginRan.KIND
    step: PluginStep
    pod: str
    nodes: NodeTable

    def __init__(self, step: PluginStep, pod: str, nodes: NodeTable) -> None:
        self.step = step
        self.pod = pod
        self.nodes = nodes

    def __call__(self) -> PluginRan:
        return self.step.facts(self.pod, self.nodes)

    def brief(self) -> dict[str, Any]:
        """The record's data without the parts that grow with the number of nodes."""
        return self.step.facts(self.pod).to_json()

    def codes(self) -> list[str]:
        """The codes that the plugin answered with: for the pod, and for at least one node each."""
        step, out = self.step, [self.step.status.code.kube_name]
        if step.verdicts is not None and step.refused:
            statuses = step.verdicts.statuses
            out += [
                status.code.kube_name
                for i, status in enumerate(statuses)
                if np.any(step.verdicts.reason == i)
            ]
        return out

    def code_of(self, node: str) -> str | None:
        """The code for one node: of its refusal, or Success where it passed or got a score; None where it was not asked."""
        step, row = self.step, self.nodes.row(node)
        if step.rows is None or row is None:
            return None
        places = np.flatnonzero(step.rows == row)
        if not len(places):
            return None
        reason = -1 if step.verdicts is None else int(step.verdicts.reason[places[0]])
        if step.verdicts is None or reason < 0:
            return Code.SUCCESS.kube_name
        return step.verdicts.statuses[reason].code.kube_name
