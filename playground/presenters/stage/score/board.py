"""The score board as columns: the scoring plugins, their weights, and their progress."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from playground.presenters.look import Look
from playground.presenters.scene import framework_of, present_step, without_scheme
from playground.presenters.stage.group import list_serving_extenders
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import Point, SchedulingCycleView, ScoreBoard, Verb, WorldView

MOST_POINTS = 100  # points of a plugin, before its weight
SHADES = 7  # the ramp of magnitudes in tokens.css
_SCORING = (Point.SCORE, Point.NORMALIZE_SCORE)

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Column:
    """A plugin or an extender (by its address). `state`: todo, raw (Score ran, NormalizeScore has not), or done.

    `points` are weighted; an extender returns them so.
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
class ScoringState:
    """`skipped` are plugins that returned Skip in PreScore. `now` is the plugin that this step ran, or ""."""

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
        """The highest possible total."""
        return sum(column.weight * MOST_POINTS for column in self.columns)

    def name(self, i: int) -> str:
        """Return the node at a place on the board."""
        return self.cycle.nodes.names[int(self.board.rows[i])]

    def place(self, node: str) -> int | None:
        """Return a node's place on the board, or None."""
        row = self.cycle.nodes.row(node) if node else None
        places = [] if row is None else np.flatnonzero(self.board.rows == row).tolist()
        return int(places[0]) if places else None


def build_score_board(sim: WorldView, cycle: SchedulingCycleView) -> ScoringState | None:
    """Return the score board, or None if nothing is scored, or not yet."""
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
    return ScoringState(cycle, board, tuple(columns), skipped, _now(sim))


def _shade(i: int, count: int) -> int:
    return i + 1 if count <= SHADES else 1 + i * SHADES // count


def _not_normalized(cycle: SchedulingCycleView, normalizing: Sequence[str]) -> set[str]:
    """Return the plugins whose NormalizeScore has not run yet."""
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


MOST = 10  # a slider's maximum; higher if the profile has a higher weight
TIPS = 3
NAMED = 3


@dataclass(frozen=True, slots=True)
class _Lead:
    """The leading nodes for some weights, and their lead over the others. `places` index the board."""

    places: tuple[int, ...]
    total: int
    ahead: int

    @property
    def first(self) -> int:
        return self.places[0]


@dataclass(frozen=True, slots=True)
class _Sums:
    columns: Sequence[Column]
    given: Numbers  # the extenders' points

    def totals(self, weights: Sequence[int]) -> Numbers:
        total = self.given.copy()
        for column, weight in zip(self.columns, weights, strict=True):
            if column.normalized is not None:
                total += column.normalized * np.int64(weight)
        return total

    def lead(self, weights: Sequence[int]) -> _Lead:
        totals = self.totals(weights)
        best = int(totals.max())
        places = np.flatnonzero(totals == best).tolist()
        rest = totals[totals < best]
        return _Lead(tuple(places), best, best - int(rest.max()) if len(rest) else 0)


class Slider(TypedDict):
    plugin: str
    weight: int
    was: int
    most: int


class WhatIf(TypedDict):
    sliders: list[Slider]
    changed: bool
    sentences: list[Message]


def what_if(scored: ScoringState, look: Look) -> WhatIf:
    """Return the sliders and the effects of their weights."""
    columns = [column for column in scored.columns if not column.extender]
    extended = [column.points for column in scored.columns if column.extender and column.points is not None]
    sums = _Sums(columns, np.sum(extended, axis=0) if extended else np.zeros(len(scored.board.rows), np.int64))
    present = [column.weight for column in columns]
    numbers = [int(part) for part in look.weights.split(".")] if look.weights else []
    wanted = (numbers if len(numbers) == len(columns) else None) or present
    return {
        "sliders": [
            {"plugin": c.name, "weight": w, "was": c.weight, "most": max(MOST, c.weight)}
            for c, w in zip(columns, wanted, strict=True)
        ],
        "changed": wanted != present,
        "sentences": _describe_weight_change(scored, sums, present, wanted),
    }


def _describe_weight_change(scored: ScoringState, sums: _Sums, present: list[int], wanted: list[int]) -> list[Message]:
    changed = [i for i, (a, b) in enumerate(zip(present, wanted, strict=True)) if a != b]
    if not changed:
        return _tips(scored, sums, present)
    lead, before = sums.lead(wanted), sums.lead(present)
    if len(changed) > 1:
        return [_of_several(scored, lead, before)]
    return _of_one(scored, sums, present, wanted, changed[0], lead, before)


def _tips(scored: ScoringState, sums: _Sums, present: list[int]) -> list[Message]:
    """Return single changes of weights that change the leader, smallest change first."""
    before = set(sums.lead(present).places)
    found = []
    for i, column in enumerate(sums.columns):
        others = (weight for weight in range(max(MOST, column.weight) + 1) if weight != column.weight)
        for weight in sorted(others, key=lambda weight: (abs(weight - column.weight), weight)):
            lead = sums.lead(_with(present, i, weight))
            if not before & set(lead.places):
                found.append((abs(weight - column.weight), i, weight, lead))
                break
    return [
        message(
            "%(plugin)s ×%(was)s → ×%(weight)s: %(node)s would lead.",
            plugin=sums.columns[i].name,
            was=sums.columns[i].weight,
            weight=weight,
            node=scored.name(lead.first),
        )
        for _, i, weight, lead in sorted(found, key=lambda each: each[:2])[:TIPS]
    ] or [message("No single weight from 0 to %(most)s would change the leading node.", most=MOST)]


def _with(weights: list[int], i: int, weight: int) -> list[int]:
    return [*weights[:i], weight, *weights[i + 1 :]]


def _of_several(scored: ScoringState, lead: _Lead, before: _Lead) -> Message:
    if len(lead.places) > 1:
        text = gettext_noop("With these weights, %(nodes)s tie with %(total)s. The random seed decides.")
        return message(text, nodes=_names(scored, lead), total=lead.total)
    text = gettext_noop("With these weights, %(node)s leads with %(total)s, ahead by %(ahead)s.")
    if lead.first in before.places:
        text = gettext_noop("With these weights, %(node)s still leads with %(total)s, ahead by %(ahead)s.")
    return message(text, node=scored.name(lead.first), total=lead.total, ahead=lead.ahead)


def _of_one(
    scored: ScoringState, sums: _Sums, present: list[int], wanted: list[int], i: int, lead: _Lead, before: _Lead
) -> list[Message]:
    values = {"plugin": sums.columns[i].name, "was": present[i], "weight": wanted[i], "total": lead.total}
    if len(lead.places) > 1:
        text = gettext_noop("%(plugin)s ×%(was)s → ×%(weight)s: %(nodes)s tie with %(total)s. The random seed decides.")
        return [message(text, **values, nodes=_names(scored, lead))]
    values |= {"node": scored.name(lead.first), "ahead": lead.ahead}
    if lead.first in before.places:
        text = gettext_noop(
            "%(plugin)s ×%(was)s → ×%(weight)s: %(node)s still leads with %(total)s, ahead by %(ahead)s."
        )
        return [message(text, **values)]
    text = gettext_noop("%(plugin)s ×%(was)s → ×%(weight)s: %(node)s leads with %(total)s, ahead by %(ahead)s.")
    return [message(text, **values), *_until(sums, present, wanted, i, lead.first)]


def _until(sums: _Sums, present: list[int], wanted: list[int], i: int, node: int) -> list[Message]:
    """Return the last weight at which the new leader does not lead yet, and by how much it is behind there."""
    step = 1 if wanted[i] > present[i] else -1
    for weight in range(wanted[i] - step, present[i] - step, -step):
        totals = sums.totals(_with(present, i, weight))
        behind = int(totals.max() - totals[node])
        if behind:
            text = gettext_noop("Up to ×%(weight)s, the node stays %(behind)s behind.")
            if step < 0:
                text = gettext_noop("Down to ×%(weight)s, the node stays %(behind)s behind.")
            return [message(text, weight=weight, behind=behind)]
    return []


def _names(scored: ScoringState, lead: _Lead) -> str:
    names = [scored.name(i) for i in lead.places[:NAMED]]
    return ", ".join(names) + (", …" if len(lead.places) > NAMED else "")
