"""The records of steps: the only place that writes them, from the step alone. Plugins know nothing of it."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.trace.kinds import Facts, PluginRan, PointStarted, StatusData
from scheduler_core.base.trace.records import LazyFacts
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.runtime.cycles import Cycle
from scheduler_core.scheduler.framework.status import SUCCESS
from scheduler_core.scheduler.framework.step import PluginStep


class Trace(Protocol):
    """A destination for records."""

    def record(self, facts: Facts | LazyFacts, scheduler: str = "", parent: int = 0) -> int: ...


class RecordedCycle(Cycle, Protocol):
    """A cycle with the span of its records, and of the present extension point's."""

    span: int
    point_span: int


def record_step(
    trace: Trace, scheduler: str, cycle: RecordedCycle, step: PluginStep, nodes: NodeTable | None = None
) -> None:
    """Writes the record of the cycle's last step, and before it one of its point where it is the point's first.

    `nodes` names the rows of a step that has answers node by node.
    """
    steps = cycle.steps
    if len(steps) < 2 or steps[-2].point is not step.point:
        started = PointStarted(step.point.value, cycle.pod.key)
        cycle.point_span = trace.record(started, scheduler, cycle.span)
    trace.record(StepFacts(step, cycle.pod.key, nodes), scheduler, cycle.point_span)


def record_gate(trace: Trace, scheduler: str, pod: Pod, step: PluginStep) -> None:
    """Writes that PreEnqueue holds a pod back; it belongs to no cycle."""
    trace.record(PluginRan(step.point.value, step.plugin, pod.key, step.status.to_json()), scheduler)


def facts_of(step: PluginStep, pod: str, nodes: NodeTable | None = None) -> PluginRan:
    """Return the record of a step; without `nodes`, it omits per-node facts."""
    status = step.status.to_json()
    if nodes is None:
        return PluginRan(step.point.value, step.plugin, pod, status, step.evaluated, step.refused)
    return PluginRan(
        step.point.value,
        step.plugin,
        pod,
        status,
        step.evaluated,
        step.refused,
        _collect_refusals(step, nodes),
        _scores(step, nodes),
        None if step.node_names is None else sorted(step.node_names),
        step.stage,
        None if step.evidence is None else step.evidence.to_json(),
    )


def _collect_refusals(step: PluginStep, nodes: NodeTable) -> dict[str, StatusData] | None:
    if step.verdicts is None:
        return None
    return {nodes.names[row]: status.to_json() for row, status in step.refusals()}


def _scores(step: PluginStep, nodes: NodeTable) -> dict[str, int] | None:
    if step.rows is None or step.scores is None:
        return None
    return {nodes.names[int(r)]: int(s) for r, s in zip(step.rows, step.scores, strict=True)}


class StepFacts(LazyFacts):
    """Makes the facts of a step's record. What is told node by node is made only when the record is looked at; `brief` is the rest."""

    __slots__ = ("nodes", "pod", "step")

    KIND: ClassVar[str] = PluginRan.KIND
    step: PluginStep
    pod: str
    nodes: NodeTable | None

    def __init__(self, step: PluginStep, pod: str, nodes: NodeTable | None) -> None:
        self.step = step
        self.pod = pod
        self.nodes = nodes

    def __call__(self) -> PluginRan:
        return facts_of(self.step, self.pod, self.nodes)

    def brief(self) -> dict[str, Any]:
        """The record's data without the parts that grow with the number of nodes."""
        return facts_of(self.step, self.pod).to_json()

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
