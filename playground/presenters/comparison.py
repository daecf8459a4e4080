"""Two sessions side by side: what sessions/web/jobs/comparisons.py found, made ready to be shown.

A comparison (`found`), its sides, attempts and scores are read by attribute, as sessions/protocol/comparing.py names them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from msgspec import structs

from playground.charts.comparison import bound_over_time, utilisation
from playground.presenters.amounts import amount, clock
from playground.presenters.scene import short
from playground.presenters.words import Message, gettext_noop, message

MOST_FIELDS = 40
MOST_PREEMPTIONS = 200

Found = Any  # a Comparison
Side = Any  # a HistoryOutline
Attempt = Any  # an OutlinedAttempt, or an AttemptDetail


def present(found: Found) -> dict[str, Any]:
    """Everything that the page shows but the paged table of pods (`pods`) and the scores of a chosen pod (`scores`)."""
    sides = found.sides
    return {
        "common": found.common,
        "heads": found.heads,
        "identical": identical(found),
        "first": _first(found),
        "clock": _clock(found),
        "late": found.late,
        "cut": sides[0].cut or sides[1].cut,
        "commands": found.commands,
        "configuration": configuration_differences(sides[0].configuration, sides[1].configuration),
        "summary": _summary(sides),
        "resources": _resources(sides),
        "preemptions": _preemptions(sides),
        "charts": [utilisation(sides), bound_over_time(sides)],
    }


def identical(found: Found) -> bool:
    """Whether one history is the beginning of the other, or both are the same."""
    return bool(found.common == min(found.heads))


def _first(found: Found) -> dict[str, Any] | None:
    """The first attempt that differs: what differs in words, and both attempts."""
    if found.first is None:
        return None
    ours, theirs = found.attempts
    return {
        "number": found.sides[0].first + found.first + 1,
        "kinds": what_differs(ours, theirs),
        "attempts": [_attempt(one) for one in (ours, theirs)],
        "pod": (ours or theirs).pod,
    }


def _attempt(one: Attempt | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        **structs.asdict(one),
        "name": short(one.pod),
        "time": clock(one.ended),
        "victims": [short(v) for v in one.victims],
    }


def what_differs(ours: Attempt | None, theirs: Attempt | None) -> list[Message]:
    """In words, the weightiest first."""
    if ours is None or theirs is None:
        only = ours or theirs
        pod = short(only.pod) if only else ""
        return [message(gettext_noop("only one of the two makes this attempt, for %(pod)s"), pod=pod)]
    if ours.pod != theirs.pod:
        return [
            message(
                gettext_noop("the order of the queue: A tries %(pod)s, B tries %(name)s"),
                pod=short(ours.pod),
                name=short(theirs.pod),
            )
        ]
    kinds = [
        line for names, line in _CHECKS if any(getattr(ours, name) != getattr(theirs, name) for name in names)
    ]
    return kinds or [message(gettext_noop("a detail of what a plugin did"))]


# The fields of an attempt in which the two differ, and what that is called.
_CHECKS: tuple[tuple[tuple[str, ...], Message], ...] = (
    (("outcome",), message(gettext_noop("the outcome"))),
    (("node",), message(gettext_noop("the node"))),
    (("nominated", "victims"), message(gettext_noop("the preemption"))),
    (("refusals",), message(gettext_noop("the refusals"))),
    (("board",), message(gettext_noop("the scores"))),
    (("evaluated",), message(gettext_noop("how many nodes were looked at"))),
    (("feasible",), message(gettext_noop("how many nodes are feasible"))),
    (("tied",), message(gettext_noop("how many nodes tie"))),
)


def _clock(found: Found) -> dict[str, Any] | None:
    """The first attempt that began or ended at another virtual time."""
    if found.clock is None:
        return None
    pair = [side.attempts[found.clock] for side in found.sides]
    return {
        "number": found.sides[0].first + found.clock + 1,
        "times": [[clock(one.started), clock(one.ended)] for one in pair],
        "at": [one.last_position for one in pair],
    }


# Pods.

_DIGITS = re.compile(r"(\d{1,18})")


class Place(NamedTuple):
    """Where a pod is; of one that is not there."""

    node: str = ""
    place: str = ""
    at: int = 0


def pods(found: Found, everything: bool) -> list[dict[str, Any]]:
    """Where each pod is in both, those that differ first; `everything`: the others too."""
    ours, theirs = (side.pods for side in found.sides)
    keys = [*ours, *(key for key in theirs if key not in ours)]
    rows = [_row(key, ours.get(key, Place()), theirs.get(key, Place())) for key in keys]
    rows.sort(key=lambda row: (not row["differs"], _natural(row["key"])))
    return rows if everything else [row for row in rows if row["differs"]]


def _natural(key: str) -> list[tuple[int, str]]:
    """Orders web-2 before web-10."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in _DIGITS.split(key)]


def _row(key: str, ours: Any, theirs: Any) -> dict[str, Any]:
    differs = ours.node != theirs.node or _settled(ours.place) != _settled(theirs.place)
    return {"key": key, "name": short(key), "sides": [ours, theirs], "differs": differs}


def _settled(place: str) -> str:
    """A pod that runs is bound; that its kubelet is a little later in one of the two is no difference."""
    return "bound" if place == "running" else place


# Scores.


def scores(ours: Attempt | None, theirs: Attempt | None) -> dict[str, Any] | None:
    """The nodes that either attempt scored, per plugin raw, normalised and weighted in both; None where neither did."""
    boards = [one.board if one is not None else None for one in (ours, theirs)]
    if boards[0] is None and boards[1] is None:
        return None
    plugins: dict[str, list[int | None]] = {}
    for i, board in enumerate(boards):
        for plugin in board.plugins if board else ():
            plugins.setdefault(plugin.name, [None, None])[i] = plugin.weight
    tables = [{row.node: row for row in board.rows} if board else {} for board in boards]
    nodes = list(dict.fromkeys([*tables[0], *tables[1]]))
    return {
        "plugins": [{"name": name, "weights": weights} for name, weights in plugins.items()],
        "rows": [_scored(node, list(plugins), tables, (ours, theirs)) for node in nodes],
    }


def _scored(
    node: str, plugins: Sequence[str], tables: Sequence[Mapping[str, Any]], attempts: Sequence[Attempt | None]
) -> dict[str, Any]:
    rows = [table.get(node) for table in tables]
    cells = []
    for plugin in plugins:
        pair = [row.cells.get(plugin) if row else None for row in rows]
        cells.append({"sides": pair, "differs": pair[0] != pair[1]})
    totals = [row.total if row else None for row in rows]
    return {
        "node": node,
        "cells": cells,
        "totals": totals,
        "differs": totals[0] != totals[1],
        "chosen": [one is not None and one.node == node for one in attempts],
    }


# Sums.


def _summary(sides: Sequence[Side]) -> list[dict[str, Any]]:
    rows = [
        (gettext_noop("nodes"), [side.nodes for side in sides]),
        (gettext_noop("pods with a node"), [side.bound[-1][1] for side in sides]),
        (gettext_noop("pods that wait"), [_waiting(side) for side in sides]),
        (gettext_noop("attempts"), [side.tried for side in sides]),
        (gettext_noop("attempts that failed, since they part"), [_failed(side) for side in sides]),
        (gettext_noop("pods preempted, since they part"), [_preempted(side) for side in sides]),
    ]
    told_rows = [
        {"what": what, "sides": [f"{value:,}" for value in pair], "change": pair[1] - pair[0]}
        for what, pair in rows
    ]
    last = [max((t for t, _ in _changes(side)), default=0) for side in sides]
    told_rows.append(
        {
            "what": gettext_noop("virtual time when the last pod got its node"),
            "sides": [clock(t) for t in last],
            "change": None,
        }
    )
    told_rows.append(
        {
            "what": gettext_noop("virtual time now"),
            "sides": [clock(side.now) for side in sides],
            "change": None,
        }
    )
    return told_rows


def _changes(side: Side) -> list[tuple[int, int]]:
    """Moments when more pods had a node than before."""
    points = side.bound
    return [point for before, point in pairwise(points) if point[1] > before[1]]


def _waiting(side: Side) -> int:
    return sum(
        one.place not in ("bound", "running", "deleted", "binding", "ignored") for one in side.pods.values()
    )


def _failed(side: Side) -> int:
    return sum(one.outcome != "scheduled" for one in side.attempts)


def _preempted(side: Side) -> int:
    return sum(len(one.victims) for one in side.attempts)


def _resources(sides: Sequence[Side]) -> list[dict[str, Any]]:
    """Per resource what is requested of what there is, in both."""
    tables = [{one.resource: one for one in side.resources} for side in sides]
    rows = []
    for name in dict.fromkeys([*tables[0], *tables[1]]):
        pair = [table.get(name) for table in tables]
        rows.append({"resource": name, "sides": [_used(one) for one in pair]})
    return rows


def _used(use: Any) -> dict[str, Any] | None:
    if use is None:
        return None
    return {
        "requested": amount(use.resource, use.requested),
        "allocatable": amount(use.resource, use.allocatable),
        "percent": f"{100 * use.requested / use.allocatable:.1f} %",
    }


def _preemptions(sides: Sequence[Side]) -> dict[str, Any]:
    """Preemptions since the two part, the n-th of a pod beside its n-th."""
    tables: list[dict[tuple[str, int], Attempt]] = []
    for side in sides:
        table: dict[tuple[str, int], Attempt] = {}
        counts: dict[str, int] = {}
        for one in side.attempts:
            if one.victims:
                counts[one.pod] = counts.get(one.pod, 0) + 1
                table[one.pod, counts[one.pod]] = one
        tables.append(table)
    keys = list(dict.fromkeys([*tables[0], *tables[1]]))
    rows = []
    for key in keys[:MOST_PREEMPTIONS]:
        pair = [table.get(key) for table in tables]
        rows.append(
            {
                "pod": key[0],
                "name": short(key[0]),
                "sides": [_attempt(one) for one in pair],
                "differs": pair[0] is None
                or pair[1] is None
                or any(getattr(pair[0], name) != getattr(pair[1], name) for name in ("nominated", "victims")),
            }
        )
    return {"rows": rows, "more": max(0, len(keys) - MOST_PREEMPTIONS)}


# Configurations.


def configuration_differences(ours: Any, theirs: Any) -> list[dict[str, Any]]:
    """Fields of the schedulers' configurations and of the settings that differ, at most MOST_FIELDS."""
    tables = [
        {"settings": one.settings, **{each.name: each.manifest for each in one.schedulers}}
        for one in (ours, theirs)
    ]
    rows: list[dict[str, Any]] = []
    _differ(tables[0], tables[1], "", rows)
    return rows


def _differ(ours: Any, theirs: Any, path: str, rows: list[dict[str, Any]]) -> None:
    if ours == theirs or len(rows) >= MOST_FIELDS:
        return
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        for key in dict.fromkeys([*ours, *theirs]):
            _differ(ours.get(key), theirs.get(key), f"{path}.{key}" if path else str(key), rows)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            _differ(a, b, f"{path}[{i}]", rows)
    else:
        rows.append({"path": path, "sides": [_value(ours), _value(theirs)]})


def _value(value: object) -> str:
    text = "–" if value is None else str(value)
    return text if len(text) <= 200 else text[:199] + "…"
