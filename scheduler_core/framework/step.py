"""A step: one plugin run once at one extension point, and what its record says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduler_core.cluster.table import NodeTable
from scheduler_core.framework.plugin import Point, Rows, Scores, Verdicts
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.state import SharedState


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
        return self.status.skipped

    def refusals(self) -> list[tuple[int, Status]]:
        """The rows that Filter refused, each with its status as the plugin gave it."""
        if self.rows is None or self.verdicts is None:
            return []
        return self.verdicts.refusals(self.rows)

    def summary(self, pod: str) -> dict[str, Any]:
        """The step in short, as JSON data."""
        return {
            "point": self.point.value,
            "plugin": self.plugin,
            "pod": pod,
            "status": self.status.to_json(),
            "evaluated": self.evaluated,
            "refusals": self.refused,
        }

    def detail(self, nodes: NodeTable | None) -> dict[str, Any]:
        """The step node by node, as JSON data: refusals with their statuses, or scores. `nodes` names the rows of one that has some."""
        out: dict[str, Any] = {}
        if nodes is not None and self.verdicts is not None:
            out["refused"] = {nodes.names[row]: status.to_json() for row, status in self.refusals()}
        if nodes is not None and self.rows is not None and self.scores is not None:
            out["scores"] = {nodes.names[int(r)]: int(s) for r, s in zip(self.rows, self.scores, strict=True)}
        if self.node_names is not None:
            out["nodes"] = sorted(self.node_names)
        if self.stage:
            out["stage"] = self.stage
        if self.evidence is not None:
            out["evidence"] = self.evidence.to_json()
        return out


class StepFacts:
    """The data of a step's record. What is per node is computed only when the record is looked at; `brief` is the rest."""

    __slots__ = ("nodes", "pod", "step")

    def __init__(self, step: PluginStep, pod: str, nodes: NodeTable | None) -> None:
        self.step = step
        self.pod = pod
        self.nodes = nodes

    def __call__(self) -> dict[str, Any]:
        return self.step.summary(self.pod) | self.step.detail(self.nodes)

    def brief(self) -> dict[str, Any]:
        """The data without the parts that grow with the number of nodes."""
        return self.step.summary(self.pod)

    def codes(self) -> list[str]:
        """The codes that the plugin answered with: for the pod, and for at least one node each."""
        step, out = self.step, [self.step.status.code.kube_name]
        if step.verdicts is not None and step.refused:
            out += [status.code.kube_name for status, _ in step.verdicts.counted()]
        return out

    def code_of(self, node: str) -> str | None:
        """The code for one node: of its refusal, or Success where it passed or got a score; None where it was not asked."""
        step, row = self.step, None if self.nodes is None else self.nodes.row(node)
        if step.rows is None or row is None:
            return None
        places = np.flatnonzero(step.rows == row)
        if not len(places):
            return None
        refusal = None if step.verdicts is None else step.verdicts.status_at(int(places[0]))
        return (SUCCESS if refusal is None else refusal).code.kube_name
