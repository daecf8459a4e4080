"""The score board as columns: who scores, with which weight, and how far each of them is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from playground.presenters.scene import framework_of, present_step, without_scheme
from playground.presenters.stage.exchanges import list_serving_extenders
from scheduler_core.world.readonly import Point, SchedulingCycleView, ScoreBoard, Verb, WorldView

MOST_POINTS = 100  # of a plugin, before its weight
SHADES = 7  # the ramp of magnitudes in tokens.css
_SCORING = (Point.SCORE, Point.NORMALIZE_SCORE)

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Column:
    """A plugin or an extender (by its address). `state`: todo, raw (Score ran, NormalizeScore is still to run) or done.

    `points` are weighted; an extender's come so.
    """

    name: str
    weight: int
    state: str
    shade: int
    raw: Numbers | None
    normalized: Numbers | None
    points: Numbers | None
    extender: bool = False


@dataclass(frozen=True, slots=True)
class Scored:
    """`skipped` are plugins that PreScore had nothing to do for; `now` is the plugin that ran just now, or ""."""

    cycle: SchedulingCycleView
    board: ScoreBoard
    columns: tuple[Column, ...]
    skipped: tuple[str, ...]
    now: str

    @property
    def summed(self) -> bool:
        return self.board.total is not None

    @property
    def totals(self) -> Numbers:
        """The totals of the points so far."""
        if self.board.total is not None:
            return self.board.total
        points = [column.points for column in self.columns if column.points is not None]
        return np.sum(points, axis=0) if points else np.zeros(len(self.board.rows), np.int64)

    @property
    def possible(self) -> int:
        """The highest total that there could be."""
        return sum(column.weight * MOST_POINTS for column in self.columns)

    def name(self, i: int) -> str:
        """The node of a place on the board."""
        return self.cycle.nodes.names[int(self.board.rows[i])]

    def place(self, node: str) -> int | None:
        """A node's place on the board."""
        row = self.cycle.nodes.row(node) if node else None
        places = [] if row is None else np.flatnonzero(self.board.rows == row).tolist()
        return int(places[0]) if places else None


def build_score_board(sim: WorldView, cycle: SchedulingCycleView) -> Scored | None:
    """None where nobody scores, or not yet."""
    board, profile = cycle.scores, framework_of(sim)
    if board is None:
        return None
    order = [plugin.name for plugin in profile.at(Point.SCORE)]
    skipped = tuple(name for name in order if name in cycle.state.skip_score)
    names = [name for name in order if name not in skipped]
    extenders = [extender.url_prefix for extender in list_serving_extenders(sim, cycle, Verb.PRIORITIZE)]
    if not board.plugins and not board.extenders and cycle.chosen is not None:
        return None
    if not names and not extenders:
        return None
    raw = _not_normalized(cycle, [plugin.name for plugin in profile.at(Point.NORMALIZE_SCORE)])
    count = len(names) + len(extenders)
    columns = [_of_plugin(board, profile.weights, name, raw, _shade(i, count)) for i, name in enumerate(names)]
    weights = {extender.url_prefix: extender.weight for extender in list_serving_extenders(sim, cycle, Verb.PRIORITIZE)}
    columns += [
        _of_extender(board, url, weights[url], _shade(len(names) + i, count)) for i, url in enumerate(extenders)
    ]
    return Scored(cycle, board, tuple(columns), skipped, _now(sim))


def _shade(i: int, count: int) -> int:
    return i + 1 if count <= SHADES else 1 + i * SHADES // count


def _not_normalized(cycle: SchedulingCycleView, normalizing: Sequence[str]) -> set[str]:
    """Plugins whose NormalizeScore is still to run."""
    ran = {step.plugin for step in cycle.steps if step.point is Point.NORMALIZE_SCORE}
    return set(normalizing) - ran


def _of_plugin(board: ScoreBoard, weights: Mapping[str, int], name: str, raw: set[str], shade: int) -> Column:
    if name not in board.plugins:
        return Column(name, weights[name], "todo", shade, None, None, None)
    i = board.plugins.index(name)
    weight, scores = board.weights[i], board.raw[i]
    if name in raw:
        return Column(name, weight, "raw", shade, scores, None, None)
    return Column(name, weight, "done", shade, scores, board.normalized[i], board.weighted[i])


def _of_extender(board: ScoreBoard, url: str, weight: int, shade: int) -> Column:
    name = without_scheme(url)
    if url not in board.extenders:
        return Column(name, weight, "todo", shade, None, None, None, True)
    points = board.extended[board.extenders.index(url)]
    return Column(name, weight, "done", shade, points, points, points, True)


def _now(sim: WorldView) -> str:
    step = present_step(sim)
    return step[0].plugin if step is not None and step[0].point in _SCORING else ""
