"""Figures: what each plugin of a cycle tells of one node in its own terms. The one place that asks plugins for it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from scheduler_core.framework.plugin import Point
from scheduler_core.framework.runtime import Framework
from scheduler_core.scheduler.cycles.scheduling_cycle import SchedulingCycle


def figures(
    framework: Framework, cycle: SchedulingCycle, node: str, wanted: Collection[str]
) -> dict[str, dict[str, Any]]:
    """Plugin name -> its `why` for a node of the cycle's snapshot, of the wanted plugins that take part in Filter and ran.

    Empty where the node is not in the snapshot, or while PreFilter has not ended.
    """
    row = cycle.nodes.row(node)
    ran = {step.plugin for step in cycle.steps if step.point is Point.FILTER}
    if row is None or not ran:
        return {}
    return {
        plugin.name: plugin.why(cycle.state, cycle.pod, cycle.nodes, row)
        for plugin in framework.at(Point.FILTER)
        if plugin.name in wanted and plugin.name in ran
    }
