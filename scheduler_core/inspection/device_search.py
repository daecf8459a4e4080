"""The search for devices on one node, made again so that it can be walked; the one place that asks the plugin for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scheduler_core.framework.plugin import Point
from scheduler_core.plugins.dynamicresources.plugin import DynamicResources
from scheduler_core.view import ProfileView, SchedulingCycleView


@dataclass(frozen=True, slots=True)
class DeviceSearch:
    """`tree` is that of scheduler_core/devices/watch.py: plain data, JSON-safe. `left_out` counts what it leaves out.

    `order_dependent`: "allocation" where a real cluster may choose other devices, as it goes through slices and pools in another order
    each time; "status" where it may even decide otherwise about the node; "" where nothing was found to depend on it.
    """

    tree: dict[str, Any]
    left_out: int
    order_dependent: str


def device_search(profile: ProfileView, cycle: SchedulingCycleView, node: str) -> DeviceSearch | None:
    """Of a node of the cycle's snapshot; None where DynamicResources had nothing to search there."""
    row = cycle.nodes.row(node)
    plugin = next((each for each in profile.at(Point.FILTER) if isinstance(each, DynamicResources)), None)
    if row is None or plugin is None:
        return None
    tree = plugin.search_tree(cycle.state, cycle.pod, cycle.nodes, row)
    if tree is None:
        return None
    order = plugin.order_dependence(cycle.state, cycle.pod, cycle.nodes, row)
    return DeviceSearch(tree.root, tree.left_out, order)
