"""The records of steps: the only place that writes them, from the step alone. Plugins know nothing of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from scheduler_core.cluster.table import NodeTable
from scheduler_core.framework.runtime.cycles import Cycle
from scheduler_core.framework.step import PluginStep, StepFacts
from scheduler_core.objects.pod import Pod
from scheduler_core.trace.records import Data


class Trace(Protocol):
    """Where records are written."""

    def record(
        self, kind: str, data: Data | Callable[[], Data], scheduler: str = "", parent: int = 0
    ) -> int: ...


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
        data = {"point": str(step.point), "pod": cycle.pod.key}
        cycle.point_span = trace.record("point_started", data, scheduler, cycle.span)
    trace.record("plugin_ran", StepFacts(step, cycle.pod.key, nodes), scheduler, cycle.point_span)


def record_gate(trace: Trace, scheduler: str, pod: Pod, step: PluginStep) -> None:
    """Writes that PreEnqueue holds a pod back; it belongs to no cycle."""
    data = {"point": step.point.value, "plugin": step.plugin, "pod": pod.key, "status": step.status.to_json()}
    trace.record("plugin_ran", data, scheduler)
