"""Workings: how a plugin's score of a node came about. The one place that asks plugins for their formulas."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduler_core.apimachinery.dra.watch import MOST_NODES, SearchTree
from scheduler_core.scheduler.framework import Explanation, Formula, PluginStep, Point
from scheduler_core.scheduler.plugins.dynamicresources.plugin import DynamicResources
from scheduler_core.world.readonly import PluginView, ProfileView, SchedulingCycleView


@dataclass(frozen=True, slots=True)
class ScoreWorking:
    """A plugin's numbers for a node, and the formulas they come from; None where there is none that comes to the number.

    `normalizes`: the plugin takes part in NormalizeScore, so that there is to be a `normalization`; `normalized` is None until it ran.
    """

    plugin: str
    raw: int
    normalized: int | None
    weight: int
    formula: Formula | None
    normalization: Formula | None
    normalizes: bool


def working(profile: ProfileView, cycle: SchedulingCycleView, plugin: str, node: str) -> ScoreWorking | None:
    """None where the plugin has not scored the node."""
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
    """Objects that plugins look up live may have changed since the cycle: a formula that comes to something else is none."""
    return formula if formula is not None and formula.result == number else None


# Figures: what each plugin of a cycle sees on one node in its own terms. The one place that asks plugins for it.


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


# The search for devices on one node, made again while somebody looks on: the past is run up to the step at which Filter made it.
# kube: plugins/dynamicresources/dynamicresources.go (Filter) @ v1.34.1

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
