"""Workings: the formulas behind a plugin's score of a node. Only this module calls plugins for their formulas."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduler_core.apimachinery.dra.watch import MOST_NODES, SearchTree
from scheduler_core.scheduler.framework import Explanation, Formula, PluginStep, Point
from scheduler_core.scheduler.plugins.dynamicresources.plugin import DynamicResources
from scheduler_core.world.readonly import PluginView, ProfileView, SchedulingCycleView


@dataclass(frozen=True, slots=True)
class ScoreWorking:
    """A plugin's numbers for a node, and the formulas behind them, or None if no formula has that result.

    `normalizes`: the plugin takes part in NormalizeScore, so a `normalization` follows; `normalized` is None until it ran.
    """

    plugin: str
    raw: int
    normalized: int | None
    weight: int
    formula: Formula | None
    normalization: Formula | None
    normalizes: bool


def working(profile: ProfileView, cycle: SchedulingCycleView, plugin: str, node: str) -> ScoreWorking | None:
    """Return the working of a plugin's score for a node, or None if the plugin has not scored the node."""
    board, row = cycle.scores, cycle.nodes.row(node)
    if board is None or row is None or plugin not in board.plugins:
        return None
    places = np.flatnonzero(board.rows == row).tolist()
    asked = next((each for each in profile.at(Point.SCORE) if each.name == plugin), None)
    if not places or asked is None:
        return None
    normalizes = asked in profile.at(Point.NORMALIZE_SCORE)
    return _working(cycle, asked, board.plugins.index(plugin), places[0], normalizes)


def _working(cycle: SchedulingCycleView, plugin: PluginView, column: int, i: int, normalizes: bool) -> ScoreWorking:
    board = cycle.scores
    assert board is not None
    raw, scores = int(board.raw[column][i]), board.raw[column]
    ran = any(step.plugin == plugin.name and step.point is Point.NORMALIZE_SCORE for step in cycle.steps)
    normalized = int(board.normalized[column][i]) if ran or not normalizes else None
    row, about = int(board.rows[i]), (cycle.state, cycle.pod, cycle.nodes)
    normalization = plugin.normalization(*about, board.rows, scores, i) if normalizes and ran else None
    formulas = _coming_to(raw, plugin.formula(*about, row)), _coming_to(normalized, normalization)
    return ScoreWorking(plugin.name, raw, normalized, board.weights[column], *formulas, normalizes)


def _coming_to(number: int | None, formula: Formula | None) -> Formula | None:
    """Return a formula if it has this result, else None: objects that plugins look up live may have changed since the cycle."""
    return formula if formula is not None and formula.result == number else None


# Figures: each plugin's view of one node of a cycle. Only this module calls plugins for it.


def figures(profile: ProfileView, cycle: SchedulingCycleView, node: str, only: str = "") -> dict[str, Explanation]:
    """Return each plugin's explanation of a node in the cycle's snapshot, of the plugins that ran at a point they explain.

    `only`: the name of a single plugin. Return {} if the node is not in the snapshot, or if PreFilter has not ended.
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


# The search for devices on one node, repeated with a watcher: a replay stops at the step at which Filter searched.
# kube: plugins/dynamicresources/dynamicresources.go (Filter) @ v1.34.1

TOO_LONG = 4  # a search is watched for this many times the kept nodes


@dataclass(frozen=True, slots=True)
class DeviceSearch:
    """`tree` is in the form of devices/watch.py. `left_out`: the nodes of the tree that are not kept; `cut`: the search exceeded the
    watched part.

    `order_dependent`: the part of the result that may differ in a real cluster: "status", "allocation", or "".
    """

    tree: dict[str, Any]
    left_out: int
    cut: bool
    order_dependent: str


def device_step(cycle: SchedulingCycleView) -> PluginStep | None:
    """Return the cycle's last step that searched for devices, or None."""
    for step in reversed(cycle.steps):
        if step.point is Point.FILTER and step.plugin == DynamicResources.name:
            return step
    return None


def device_search(
    profile: ProfileView, cycle: SchedulingCycleView, node: str, most: int = MOST_NODES
) -> DeviceSearch | None:
    """Return the search on a node by a cycle at that step, at most `most` tree nodes, or None if there was no search."""
    row = cycle.nodes.row(node)
    plugin = profile.plugin(DynamicResources.name)
    if row is None or not isinstance(plugin, DynamicResources):
        return None
    tree = SearchTree(most, patience=TOO_LONG * most)
    if plugin.search_tree(cycle.state, cycle.pod, cycle.nodes, row, tree) is None:
        return None
    order = "" if tree.cut else plugin.order_dependence(cycle.state, cycle.pod, cycle.nodes, row)
    return DeviceSearch(tree.root, tree.left_out, tree.cut, order)
