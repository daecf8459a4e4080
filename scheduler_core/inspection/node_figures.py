"""Figures: what each plugin of a cycle sees on one node in its own terms. The one place that asks plugins for it."""

from __future__ import annotations

from scheduler_core.framework.explanation import Explanation
from scheduler_core.framework.plugin import Point
from scheduler_core.view import ProfileView, SchedulingCycleView


def figures(
    profile: ProfileView, cycle: SchedulingCycleView, node: str, only: str = ""
) -> dict[str, Explanation]:
    """Plugin name -> its explanation of a node of the cycle's snapshot, of the Filter plugins that ran; of one alone where `only` names it.

    Empty where the node is not in the snapshot, or while PreFilter has not ended.
    """
    row = cycle.nodes.row(node)
    ran = {step.plugin for step in cycle.steps if step.point is Point.FILTER}
    if row is None:
        return {}
    return {
        plugin.name: plugin.explain(cycle.state, cycle.pod, cycle.nodes, row)
        for plugin in profile.at(Point.FILTER)
        if plugin.name in ran and only in ("", plugin.name)
    }
