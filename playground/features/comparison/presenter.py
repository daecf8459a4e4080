"""Two sessions side by side: the result of sessions/web/jobs/comparisons.py, prepared for display."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypedDict

from playground.presenters.scene import short
from playground.presenters.words import SECOND, Message, beside, clock, gettext_noop, message
from playground.sessions.protocol import comparing
from playground.sessions.protocol.looking import ConfiguredWorld

MOST_FIELDS = 40
MOST_PREEMPTIONS = 200


class ScoredMoment(Protocol):
    """An attempt or a moment with scores, and the node that they selected."""

    @property
    def node(self) -> str: ...
    @property
    def board(self) -> comparing.ScoreBoard | None: ...


class FirstDifference(NamedTuple):
    """The first attempt that differs: the kinds of difference, and both attempts."""

    number: int
    kinds: list[Message]
    attempts: tuple[comparing.AttemptDetail | None, comparing.AttemptDetail | None]


class ClockDifference(NamedTuple):
    """The first attempt that began or ended at another virtual time, and its end on both sides."""

    number: int
    ends: list[str]


class ComparisonSummary(TypedDict):
    common: int
    identical: bool
    first: FirstDifference | None
    clock: ClockDifference | None
    late: bool
    cut: bool
    commands: comparing.CommandDifferences
    configuration: list[ChangedField]
    summary: list[Sum]
    resources: list[UsedPair]
    preemptions: Preemptions
    charts: list[Figure]


def present(comparison: comparing.Comparison) -> ComparisonSummary:
    """Return everything that the page shows, except for the table of pods (`pods`) and the scores of a chosen pod (`scores`)."""
    sides, begin = comparison.sides, comparison.sides[0].first + 1
    apart = [] if comparison.clock is None else [side.attempts[comparison.clock] for side in sides]
    pair = comparison.attempts
    return {
        "common": comparison.common,
        "identical": identical(comparison),
        "first": None
        if comparison.first is None
        else FirstDifference(begin + comparison.first, what_differs(*pair), pair),
        "clock": ClockDifference(begin + (comparison.clock or 0), [clock(one.ended) for one in apart])
        if apart
        else None,
        "late": comparison.late,
        "cut": sides[0].cut or sides[1].cut,
        "commands": comparison.commands,
        "configuration": configuration_differences(sides[0].configuration, sides[1].configuration),
        "summary": _summary(sides),
        "resources": _resources(sides),
        "preemptions": _preemptions(sides),
        "charts": [utilisation(sides), plot_bound_pods(sides)],
    }


def identical(comparison: comparing.Comparison) -> bool:
    """Return whether both histories are equal up to the end of the shorter one."""
    return comparison.common == min(comparison.heads)


def what_differs(ours: comparing.AttemptDetail | None, theirs: comparing.AttemptDetail | None) -> list[Message]:
    """Return the differences as messages, most important first."""
    if ours is None or theirs is None:
        pod = next((short(attempt.pod) for attempt in (ours, theirs) if attempt is not None), "")
        return [message("only one side makes this attempt, for %(pod)s", pod=pod)]
    if ours.pod != theirs.pod:
        return [
            message(
                "the order of the queue: A tries %(pod)s, B tries %(name)s", pod=short(ours.pod), name=short(theirs.pod)
            )
        ]
    kinds = [line for names, line in _CHECKS if any(getattr(ours, name) != getattr(theirs, name) for name in names)]
    return kinds or [message("a detail of a plugin's result")]


# The fields in which two attempts may differ, with their display names.
_CHECKS: tuple[tuple[tuple[str, ...], Message], ...] = (
    (("outcome",), message("the outcome")),
    (("node",), message("the node")),
    (("nominated", "victims"), message("the preemption")),
    (("refusals",), message("the refusals")),
    (("board",), message("the scores")),
    (("evaluated",), message("the number of examined nodes")),
    (("feasible",), message("the number of feasible nodes")),
    (("tied",), message("the number of tied nodes")),
)


# Pods.

_DIGITS = re.compile(r"(\d{1,18})")


NOWHERE = comparing.OutlinedPod("", "", 0)  # the place of a pod that one of the two does not have


class PlacedPod(NamedTuple):
    key: str
    sides: tuple[comparing.OutlinedPod, comparing.OutlinedPod]
    differs: bool


def pods(comparison: comparing.Comparison, everything: bool) -> list[PlacedPod]:
    """Return each pod's place in both sessions, those that differ first. `everything` includes the others."""
    ours, theirs = (side.pods for side in comparison.sides)
    keys = [*ours, *(key for key in theirs if key not in ours)]
    rows = [_row(key, ours.get(key, NOWHERE), theirs.get(key, NOWHERE)) for key in keys]
    rows.sort(key=lambda row: (not row.differs, _natural(row.key)))
    return rows if everything else [row for row in rows if row.differs]


def _natural(key: str) -> list[tuple[int, str]]:
    """Return a sort key that places web-2 before web-10."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in _DIGITS.split(key)]


def _row(key: str, ours: comparing.OutlinedPod, theirs: comparing.OutlinedPod) -> PlacedPod:
    differs = ours.node != theirs.node or _normalize_place(ours.place) != _normalize_place(theirs.place)
    return PlacedPod(key, (ours, theirs), differs)


def _normalize_place(place: str) -> str:
    """Return "bound" for a running pod, because a later kubelet is no difference."""
    return "bound" if place == "running" else place


# Scores.


class WeighedPlugin(NamedTuple):
    name: str
    weights: list[int | None]


class ScoreCell(NamedTuple):
    plugin: str
    sides: list[tuple[int, int, int] | None]
    differs: bool


class ScoreRow(TypedDict):
    node: str
    cells: list[ScoreCell]
    totals: list[int | None]
    differs: bool
    chosen: list[bool]


class ScoreTable(TypedDict):
    plugins: list[WeighedPlugin]
    rows: list[ScoreRow]


def scores(ours: ScoredMoment | None, theirs: ScoredMoment | None) -> ScoreTable | None:
    """Return the nodes that either attempt scored, with raw, normalized, and weighted scores of both, or None without any."""
    boards: list[comparing.ScoreBoard | None] = [
        attempt.board if attempt is not None else None for attempt in (ours, theirs)
    ]
    if boards[0] is None and boards[1] is None:
        return None
    plugins: dict[str, list[int | None]] = {}
    for i, board in enumerate(boards):
        for plugin in board.plugins if board else ():
            plugins.setdefault(plugin.name, [None, None])[i] = plugin.weight
    tables = [{row.node: row for row in board.rows} if board else {} for board in boards]
    nodes = list(dict.fromkeys([*tables[0], *tables[1]]))
    return {
        "plugins": [WeighedPlugin(name, weights) for name, weights in plugins.items()],
        "rows": [_build_score_row(node, list(plugins), tables, (ours, theirs)) for node in nodes],
    }


def _build_score_row(
    node: str,
    plugins: Sequence[str],
    tables: Sequence[Mapping[str, comparing.ScoredNode]],
    attempts: Sequence[ScoredMoment | None],
) -> ScoreRow:
    rows = [table.get(node) for table in tables]
    pairs = [(plugin, [row.cells.get(plugin) if row else None for row in rows]) for plugin in plugins]
    totals = [row.total if row else None for row in rows]
    return {
        "node": node,
        "cells": [ScoreCell(plugin, pair, pair[0] != pair[1]) for plugin, pair in pairs],
        "totals": totals,
        "differs": totals[0] != totals[1],
        "chosen": [attempt is not None and attempt.node == node for attempt in attempts],
    }


# Totals.


class Sum(NamedTuple):
    what: str
    sides: list[str]
    change: int | None = None


def _summary(sides: Sequence[comparing.HistoryOutline]) -> list[Sum]:
    rows = [
        (gettext_noop("nodes"), [side.nodes for side in sides]),
        (gettext_noop("pods with a node"), [side.bound[-1][1] for side in sides]),
        (gettext_noop("pods that wait"), [_waiting(side) for side in sides]),
        (gettext_noop("attempts"), [side.tried for side in sides]),
        (gettext_noop("failed attempts since divergence"), [_count_failures(side) for side in sides]),
        (gettext_noop("preempted pods since divergence"), [_count_victims(side) for side in sides]),
    ]
    last = [max((t for t, _ in _changes(side)), default=0) for side in sides]
    return [
        *(Sum(what, [f"{value:,}" for value in pair], pair[1] - pair[0]) for what, pair in rows),
        Sum(gettext_noop("last pod scheduled at virtual time"), [clock(t) for t in last]),
        Sum(gettext_noop("virtual time now"), [clock(side.now) for side in sides]),
    ]


def _changes(side: comparing.HistoryOutline) -> list[tuple[int, int]]:
    """Return the moments at which more pods had a node than before."""
    return [point for before, point in pairwise(side.bound) if point[1] > before[1]]


def _waiting(side: comparing.HistoryOutline) -> int:
    return sum(pod.place not in ("bound", "running", "deleted", "binding", "ignored") for pod in side.pods.values())


def _count_failures(side: comparing.HistoryOutline) -> int:
    return sum(attempt.outcome != "scheduled" for attempt in side.attempts)


def _count_victims(side: comparing.HistoryOutline) -> int:
    return sum(len(attempt.victims) for attempt in side.attempts)


class UsedResource(NamedTuple):
    requested: str
    allocatable: str
    percent: str


class UsedPair(NamedTuple):
    resource: str
    sides: list[UsedResource | None]


def _resources(sides: Sequence[comparing.HistoryOutline]) -> list[UsedPair]:
    """Return, by resource, the requested and allocatable amounts of both sides."""
    tables = [{use.resource: use for use in side.resources} for side in sides]
    names = dict.fromkeys([*tables[0], *tables[1]])
    return [UsedPair(name, [_used(table.get(name)) for table in tables]) for name in names]


def _used(use: comparing.ResourceUse | None) -> UsedResource | None:
    if use is None:
        return None
    requested, allocatable = beside(use.resource, use.requested, use.allocatable)
    return UsedResource(requested, allocatable, f"{100 * use.requested / use.allocatable:.1f} %")


class PreemptionPair(NamedTuple):
    pod: str
    sides: list[comparing.OutlinedAttempt | None]
    differs: bool


class Preemptions(NamedTuple):
    rows: list[PreemptionPair]
    more: int


def _preemptions(sides: Sequence[comparing.HistoryOutline]) -> Preemptions:
    """Return the preemptions after the first difference, pairing the n-th of a pod with its n-th on the other side."""
    tables: list[dict[tuple[str, int], comparing.OutlinedAttempt]] = []
    for side in sides:
        table: dict[tuple[str, int], comparing.OutlinedAttempt] = {}
        counts: dict[str, int] = {}
        for attempt in side.attempts:
            if attempt.victims:
                counts[attempt.pod] = counts.get(attempt.pod, 0) + 1
                table[attempt.pod, counts[attempt.pod]] = attempt
        tables.append(table)
    keys = list(dict.fromkeys([*tables[0], *tables[1]]))
    rows = []
    for key in keys[:MOST_PREEMPTIONS]:
        pair = [table.get(key) for table in tables]
        choices = [None if attempt is None else (attempt.nominated, *attempt.victims) for attempt in pair]
        rows.append(PreemptionPair(key[0], pair, choices[0] != choices[1]))
    return Preemptions(rows, max(0, len(keys) - MOST_PREEMPTIONS))


# Configurations.


class ChangedField(NamedTuple):
    path: str
    sides: list[str]


def configuration_differences(ours: ConfiguredWorld, theirs: ConfiguredWorld) -> list[ChangedField]:
    """Return the differing fields of the schedulers' configurations and of the settings, at most MOST_FIELDS."""
    tables = [
        {"settings": side.settings, **{scheduler.name: scheduler.manifest for scheduler in side.schedulers}}
        for side in (ours, theirs)
    ]
    rows: list[ChangedField] = []
    _differ(tables[0], tables[1], "", rows)
    return rows


def _differ(ours: object, theirs: object, path: str, rows: list[ChangedField]) -> None:
    if ours == theirs or len(rows) >= MOST_FIELDS:
        return
    if path.endswith(".pluginConfig") and isinstance(ours, list) and isinstance(theirs, list):
        ours, theirs = ({entry["name"]: entry for entry in entries} for entries in (ours, theirs))  # in any order
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        for key in dict.fromkeys([*ours, *theirs]):
            _differ(ours.get(key), theirs.get(key), f"{path}.{key}" if path else str(key), rows)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            _differ(a, b, f"{path}[{i}]", rows)
    else:
        rows.append(ChangedField(path, [_value(ours), _value(theirs)]))


def _value(value: object) -> str:
    text = "–" if value is None else str(value)
    return text if len(text) <= 200 else text[:199] + "…"


NAMES = ("A", "B")


class Figure(TypedDict):
    kind: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]


def utilisation(sides: Sequence[comparing.HistoryOutline]) -> Figure:
    """Return a figure of the requested percentage by resource, with one bar for each session."""
    names = list(dict.fromkeys(use.resource for side in sides for use in side.resources))
    data = []
    for name, side in zip(NAMES, sides, strict=True):
        used = {use.resource: 100 * use.requested / use.allocatable for use in side.resources}
        bars = [round(used.get(resource, 0.0), 1) for resource in names]
        data.append({"type": "bar", "name": name, "x": names, "y": bars})
    layout = {"barmode": "group", "yaxis": {"ticksuffix": " %", "rangemode": "tozero"}}
    return {"kind": "utilisation", "data": data, "layout": layout}


def plot_bound_pods(sides: Sequence[comparing.HistoryOutline]) -> Figure:
    """Return a figure of the pods with a node over virtual time in seconds, one line for each session."""
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "line": {"shape": "hv"},
            "name": name,
            "x": [t / SECOND for t, _ in side.bound],
            "y": [count for _, count in side.bound],
        }
        for name, side in zip(NAMES, sides, strict=True)
    ]
    return {"kind": "bound", "data": data, "layout": {"xaxis": {"ticksuffix": " s"}, "yaxis": {"rangemode": "tozero"}}}
