"""Workings: how a plugin's score of a node came about. The one place that asks plugins for their formulas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduler_core.scheduler.framework.formula import Formula
from scheduler_core.scheduler.framework.plugin import Point
from scheduler_core.world.readonly import PluginView, ProfileView, SchedulingCycleView


@dataclass(frozen=True, slots=True)
class Working:
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


def working(profile: ProfileView, cycle: SchedulingCycleView, plugin: str, node: str) -> Working | None:
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


def _working(cycle: SchedulingCycleView, plugin: PluginView, column: int, i: int, normalizes: bool) -> Working:
    board = cycle.scores
    assert board is not None
    raw, scores = int(board.raw[column][i]), board.raw[column]
    ran = any(step.plugin == plugin.name and step.point is Point.NORMALIZE_SCORE for step in cycle.steps)
    normalized = int(board.normalized[column][i]) if ran or not normalizes else None
    row, about = int(board.rows[i]), (cycle.state, cycle.pod, cycle.nodes)
    normalization = plugin.normalization(*about, board.rows, scores, i) if normalizes and ran else None
    return Working(
        plugin.name,
        raw,
        normalized,
        board.weights[column],
        _coming_to(raw, plugin.formula(*about, row)),
        _coming_to(normalized, normalization),
        normalizes,
    )


def _coming_to(number: int | None, formula: Formula | None) -> Formula | None:
    """Objects that plugins look up live may have changed since the cycle: a formula that comes to something else is none."""
    return formula if formula is not None and formula.result == number else None
