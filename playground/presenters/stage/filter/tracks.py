"""A track for each node: a letter a column (p pass, r refuse, u refuse unresolvably, t to come), which ends where the node was refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from playground.presenters.cluster_map.search import Mask
from playground.presenters.look import AIM, Look
from playground.presenters.refusals import FEASIBLE, UNSEEN, Refusals, is_filter_over
from playground.presenters.stage.filter.columns import Columns
from scheduler_core.world.readonly import Code, SchedulingCycleView

WINDOW = 20
ALL = 40
_LETTERS = {"ran": "p", "todo": "t", "never": "n"}


def track_id(name: str) -> str:
    return f"track-{name}"


def window(
    cycle: SchedulingCycleView, look: Look, refused: Refusals, mask: Mask | None
) -> tuple[list[int], int]:
    """The rows to show and how many there are to page through: all of few, in the cluster's order; of many those that the search means.

    The chosen node comes first, in few where the stage is aimed at it.
    """
    rows = np.arange(len(refused.group), dtype=np.intp)
    chosen = cycle.nodes.row(look.node) if look.node else None
    if len(rows) <= ALL:
        aimed = look.stage == AIM and look.about == "node"
        return sorted(rows.tolist(), key=lambda row: aimed and row != chosen), len(rows)
    if mask is not None:
        rows = rows[mask]
    order = np.where(refused.group == FEASIBLE, 0, np.where(refused.group == UNSEEN, 2, 1))[rows]
    rows = rows[np.argsort(order, kind="stable")]
    start = min(look.page, max(len(rows) - 1, 0) // WINDOW) * WINDOW
    shown = rows[start : start + WINDOW].tolist()
    if chosen is None or chosen >= len(refused.group):
        return shown, len(rows)
    return [chosen, *(row for row in shown if row != chosen)], len(rows)


def track(
    cycle: SchedulingCycleView,
    row: int,
    refused: Refusals,
    columns: Columns,
    look: Look,
    dim: bool,
    just: bool,
) -> dict[str, Any]:
    """The card of one node's track. `verdict`: ok, passes (so far), no, unseen, waits (Filter has not come to it)."""
    group, name = int(refused.group[row]), cycle.nodes.names[row]
    card: dict[str, Any] = {
        "id": track_id(name),
        "kind": "track",
        "node": name,
        "verdict": _verdict(group, is_filter_over(cycle)),
        "cells": _cells(refused, group, columns),
        "text": refused.text(row),
    }
    marks = {"chosen": name == look.node, "placed": name == cycle.chosen, "dim": dim, "just": just}
    return card | {mark: True for mark, holds in marks.items() if holds}


def _verdict(group: int, over: bool) -> str:
    if group >= 0:
        return "no"
    if group == FEASIBLE:
        return "ok" if over else "passes"
    return "unseen" if over else "waits"


def _cells(refused: Refusals, group: int, columns: Columns) -> str:
    if group == UNSEEN:
        return ""
    ends = columns.of(refused.statuses[group].plugin) if group >= 0 else None
    cells = ""
    for name in columns.names:
        if name == ends:
            return cells + ("u" if refused.statuses[group].code is Code.UNRESOLVABLE else "r")
        cells += _LETTERS[columns.states[name]]
    return cells
