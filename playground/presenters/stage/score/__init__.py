"""Score: which node is best. Totals first, then each plugin's points. Each number links to its calculation."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

import numpy as np

from playground.presenters.look import Look
from playground.presenters.panel import Stage
from playground.presenters.scene import cycle_of, scheduler_of, short
from playground.presenters.stage.score.board import Column, ScoringState, WhatIf, build_score_board, what_if
from playground.presenters.stage.score.why import WhyPlugin, WhyRow, WhyTotal, read_numbers, why
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import SchedulingCycleView, WorldView

# A page of the best nodes: each with its total and every plugin's number, as bars and as text.

WINDOW = 12
PEERS = 24  # named nodes of a row
LABELLED = 4.5  # percent of the width from which a bar has room for its number
ROOMY = 8.0  # the same limit on a narrow stage


class BoardWindow(TypedDict):
    rows: list[BoardRow]
    nodes: int
    page: int
    pages: int
    more: int


def window(scored: ScoringState, look: Look, plugin: str) -> BoardWindow:
    """Return the requested page of rows, and the chosen node even if it is on another page.

    Nodes with equal numbers share a row; in the table, each node has its own.
    """
    totals, chosen = scored.totals, scored.place(look.node)
    groups = _group_alike(scored) if look.form != "table" else [[i] for i in range(len(totals))]
    groups.sort(key=lambda group: -int(totals[group[0]]))
    pages = max(-(-len(groups) // WINDOW), 1)
    page = min(look.page, pages - 1)
    shown = groups[page * WINDOW : (page + 1) * WINDOW]
    shown += [group for group in groups if chosen in group and group not in shown]
    span = max(scored.possible, int(totals.max(initial=0)), 1)
    return {
        "rows": [_row(scored, group, k, span, look, plugin) for k, group in enumerate(shown)],
        "nodes": len(totals),
        "page": page,
        "pages": pages,
        "more": sum(map(len, groups[(page + 1) * WINDOW :])),
    }


def _group_alike(scored: ScoringState) -> list[list[int]]:
    """Group the places of nodes for which all plugins have equal numbers, in the order of the board."""
    numbers = [each for column in scored.columns for each in (column.raw, column.points) if each is not None]
    alike: dict[tuple[int, ...], list[int]] = {}
    for i, row in enumerate(np.array([*numbers, scored.totals]).T.tolist()):
        alike.setdefault(tuple(row), []).append(i)
    return list(alike.values())


class BoardRow(TypedDict):
    id: int
    node: str
    cells: list[BoardCell]
    segments: list[BoardSegment]
    total: int
    drawn: bool
    chosen: bool
    tied: bool
    count: int
    peers: list[Peer]


class Peer(TypedDict):
    node: str
    drawn: bool
    chosen: bool


def _row(scored: ScoringState, group: list[int], k: int, span: int, look: Look, plugin: str) -> BoardRow:
    """Return a row of equal nodes, named by the chosen or drawn node. `tied`: they share the highest total."""
    drawn = scored.cycle.chosen
    named = sorted(group, key=lambda i: (scored.name(i) != look.node, scored.name(i) != drawn))
    i, peers = named[0], sorted(named[:PEERS], key=scored.name)
    name = scored.name(i)
    cells = [_cell(column, i, plugin) for column in scored.columns]
    return {
        "id": k,
        "node": name,
        "cells": cells,
        "segments": _segments(scored.columns, cells, span),
        "total": int(scored.totals[i]),
        "drawn": any(scored.name(each) == drawn for each in group),
        "chosen": name == look.node,
        "tied": scored.summed and int(scored.totals[i]) == int(scored.totals.max()),
        "count": len(group),
        "peers": []
        if len(group) == 1
        else [
            {"node": (node := scored.name(each)), "drawn": node == drawn, "chosen": node == look.node} for each in peers
        ],
    }


class BoardCell(WhyRow):
    bar: int
    on: bool


def _cell(column: Column, i: int, plugin: str) -> BoardCell:
    """Return a cell. `bar`: the share of the plugin's maximum, in percent."""
    numbers, most = read_numbers(column, i), max(column.weight * 100, 1)
    bar = max(0, min(100, round(100 * (numbers["points"] or 0) / most)))
    return {**numbers, "bar": bar, "on": column.name == plugin}


class BoardSegment(TypedDict):
    plugin: str
    points: int
    norm: int | None
    weight: int
    shade: int
    on: bool
    x: float
    width: float
    labelled: bool
    tight: bool


def _segments(columns: tuple[Column, ...], cells: list[BoardCell], span: int) -> list[BoardSegment]:
    """Return the points side by side: the start and width of each, in percent."""
    segments: list[BoardSegment] = []
    x = 0.0
    for column, cell in zip(columns, cells, strict=True):
        points = cell["points"]
        if not points or points < 0:
            continue
        width = 100 * points / span
        segments.append(
            {
                "plugin": column.name,
                "points": points,
                "norm": cell["norm"],
                "weight": column.weight,
                "shade": column.shade,
                "on": cell["on"],
                "x": round(x, 3),
                "width": round(width, 3),
                "labelled": width >= LABELLED,
                "tight": width < ROOMY,
            }
        )
        x += width
    return segments


NAMED = 3


def other_draws(scored: ScoringState) -> Message | None:
    """Describe the other possible results: kube-scheduler picks one of the tied nodes, each with equal probability. None without a tie."""
    tied = scored.cycle.tied
    if scored.cycle.chosen is None or len(tied) < 2:
        return None
    others = [name for name in tied if name != scored.cycle.chosen]
    text = gettext_noop("With another seed it could have been %(nodes)s (1 in %(count)s each).")
    if len(others) > NAMED:
        text = gettext_noop("With another seed it could have been any of the %(count)s (1 in %(count)s each).")
    return message(text, nodes=", ".join(others[:NAMED]), count=f"{len(tied):,}")


def _so_far(scored: ScoringState) -> Message:
    answered = [column for column in scored.columns if column.state != "todo"]
    raw = [column.name for column in scored.columns if column.state == "raw"]
    if not answered:
        return message("None of the %(all)s Score plugins has scored the nodes yet.", all=len(scored.columns))
    if len(answered) < len(scored.columns):
        return message(
            "%(count)s of %(all)s plugins have scored the nodes: %(names)s.",
            count=len(answered),
            all=len(scored.columns),
            names=", ".join(column.name for column in answered),
        )
    if raw:
        return message(
            "All plugins have scored the nodes. NormalizeScore still scales the scores of %(names)s.",
            names=", ".join(raw),
        )
    return message("All plugins have scored the nodes. Next: the total.")


FORMS = {
    "stacked": gettext_noop("Stacked"),
    "lined": gettext_noop("Side by side"),
    "table": gettext_noop("Table"),
    "nodes": gettext_noop("Nodes"),
}


def present(sim: WorldView, look: Look, key: str) -> Stage[Board | NoBoard, Any]:
    """Return the scores of the feasible nodes."""
    cycle = cycle_of(sim)
    scored = None if cycle is None or cycle.pod.key != key else build_score_board(sim, cycle)
    return Stage(
        question=message("Which node is best for %(pod)s?", pod=short(key) or "…"),
        detail=_detail(scored),
        forms=FORMS,
        body=_empty(cycle, key) if scored is None else _body(sim, scored, look),
    )


def _detail(scored: ScoringState | None) -> Message | None:
    if scored is None:
        return None
    nodes, points = f"{len(scored.board.rows):,}", f"{scored.possible:,}"
    return message(
        "%(nodes)s nodes, %(plugins)s plugins, at most %(points)s points",
        nodes=nodes,
        plugins=len(scored.columns),
        points=points,
    )


class NoBoard(TypedDict):
    """The reason for missing scores: another pod's cycle, not scored yet, a single feasible node, or none."""

    kind: str
    pod: NotRequired[str]
    node: NotRequired[str]


def _empty(cycle: SchedulingCycleView | None, key: str) -> NoBoard:
    if cycle is None or cycle.pod.key != key:
        return {"kind": "elsewhere", "pod": key}
    feasible = -1 if cycle.feasible is None else len(cycle.feasible)
    kind = {0: "none feasible", 1: "one feasible"}.get(feasible, "not yet")
    hinted = feasible == 1 and cycle.hint == cycle.chosen
    return {"kind": "hinted" if hinted else kind, "node": cycle.chosen or ""}


class BoardPlugin(TypedDict):
    name: str
    weight: int
    shade: int
    state: str
    on: bool


class Board(BoardWindow):
    kind: Literal["board"]
    plugins: list[BoardPlugin]
    skipped: list[str]
    node: str
    sentence: Message | None
    draws: Message | None
    why: WhyTotal | WhyPlugin | None
    what_if: WhatIf | None
    scheduler: str
    profile: str


def _body(sim: WorldView, scored: ScoringState, look: Look) -> Board:
    cycle = scored.cycle
    plugin = look.plugin or scored.now
    return {
        "kind": "board",
        "plugins": [
            {
                "name": column.name,
                "weight": column.weight,
                "shade": column.shade,
                "state": column.state,
                "on": column.name == plugin,
            }
            for column in scored.columns
        ],
        "skipped": list(scored.skipped),
        **window(scored, look, plugin),
        "node": cycle.chosen or "",
        "sentence": None if scored.summed else _so_far(scored),
        "draws": other_draws(scored),
        "why": why(sim, scored, look),
        "what_if": what_if(scored, look) if scored.summed else None,
        "scheduler": scheduler_of(sim).name,
        "profile": cycle.profile,
    }
