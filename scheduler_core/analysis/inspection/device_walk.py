"""The search for devices on one node, made again while somebody looks on: the past is run up to the step at which Filter made it.

kube: plugins/dynamicresources/dynamicresources.go (Filter) @ v1.34.1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.dra.watch import MOST_NODES, SearchTree
from scheduler_core.scheduler.framework.plugin import Point
from scheduler_core.scheduler.framework.step import PluginStep
from scheduler_core.scheduler.plugins.dynamicresources.plugin import DynamicResources
from scheduler_core.world.readonly import ProfileView, SchedulingCycleView

TOO_LONG = 4  # how many times more than is kept a search is watched


@dataclass(frozen=True, slots=True)
class DeviceSearch:
    """`tree` is as devices/watch.py has it. `left_out`: what of it is not kept; `cut`: the search went on for longer than it was watched.

    `order_dependent`: what of the node's answer may be another in a real cluster: "status", "allocation", or "".
    """

    tree: dict[str, Any]
    left_out: int
    cut: bool
    order_dependent: str


def device_step(cycle: SchedulingCycleView) -> PluginStep | None:
    """The cycle's last step at which devices were searched for; None where there is none."""
    for step in reversed(cycle.steps):
        if step.point is Point.FILTER and step.plugin == DynamicResources.name:
            return step
    return None


def device_search(
    profile: ProfileView, cycle: SchedulingCycleView, node: str, most: int = MOST_NODES
) -> DeviceSearch | None:
    """Return the search on a node by a cycle at that step, at most `most` tree nodes; None if there was no search."""
    row = cycle.nodes.row(node)
    plugin = profile.plugin(DynamicResources.name)
    if row is None or not isinstance(plugin, DynamicResources):
        return None
    tree = SearchTree(most, patience=TOO_LONG * most)
    if plugin.search_tree(cycle.state, cycle.pod, cycle.nodes, row, tree) is None:
        return None
    order = "" if tree.cut else plugin.order_dependence(cycle.state, cycle.pod, cycle.nodes, row)
    return DeviceSearch(tree.root, tree.left_out, tree.cut, order)
