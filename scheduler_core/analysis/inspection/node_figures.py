"""Figures: what each plugin of a cycle sees on one node in its own terms. The one place that asks plugins for it."""

from __future__ import annotations

from scheduler_core.scheduler.framework.explanation import Explanation
from scheduler_core.scheduler.framework.plugin import Point
from scheduler_core.world.readonly import ProfileView, SchedulingCycleView


def figures(profile: ProfileView, cycle: SchedulingCycleView, node: str, only: str = "") -> dict[str, Explanation]:
    """Plugin name -> its explanation of a node of the cycle's snapshot, of those that ran at a point after which they can say it.

    Of one alone where `only` names it.
    Empty where the node is not in the snapshot, or while PreFilter has not ended.
    """
    row = cycle.nodes.row(node)
    ran = {(step.plugin, step.point) for step in cycle.steps}
    if row is None:
        return {}
    return {
        plugin.name: plugin.explain(cycle.state, cycle.pod, cycle.nodes, row)
        for plugin in dict.fromkeys((*profile.at(Point.FILTER), *profile.at(Point.SCORE)))
        if any((plugin.name, point) in ran for point in plugin.explains) and only in ("", plugin.name)
    }
