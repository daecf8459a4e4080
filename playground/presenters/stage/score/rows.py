"""The best nodes, a window of them: each with its total and every plugin's number, as bars and as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from playground.presenters.look import Look
from playground.presenters.stage.score.board import Column, Scored

WINDOW = 12
LABELLED = 4.5  # percent of the width from which on a bar has room for its number
ROOMY = 8.0  # the same on a narrow stage


def window(scored: Scored, look: Look, plugin: str) -> dict[str, Any]:
    """The page of rows that the viewer looks at, the chosen node among them even if it is on another page."""
    totals = scored.totals
    order = np.argsort(-totals, kind="stable")
    pages = max(-(-len(order) // WINDOW), 1)
    page = min(look.page, pages - 1)
    shown = [int(i) for i in order[page * WINDOW : (page + 1) * WINDOW]]
    chosen = scored.place(look.node)
    if chosen is not None and chosen not in shown:
        shown.append(chosen)
    span = max(scored.possible, int(totals.max(initial=0)), 1)
    rows = [_row(scored, i, k, span, look, plugin) for k, i in enumerate(shown)]
    return {
        "rows": rows,
        "nodes": len(order),
        "page": page,
        "pages": pages,
        "more": len(order) - min((page + 1) * WINDOW, len(order)),
    }


def _row(scored: Scored, i: int, k: int, span: int, look: Look, plugin: str) -> dict[str, Any]:
    name, tied = scored.name(i), scored.cycle.tied
    cells = [_cell(column, i, plugin) for column in scored.columns]
    return {
        "id": k,
        "node": name,
        "cells": cells,
        "segments": _segments(scored.columns, cells, span),
        "total": int(scored.totals[i]),
        "tied": len(tied) > 1 and name in tied,
        "drawn": name == scored.cycle.chosen,
        "chosen": name == look.node,
    }


def _cell(column: Column, i: int, plugin: str) -> dict[str, Any]:
    """`bar`: the share of what the plugin could give, in percent."""
    norm = None if column.normalized is None or column.extender else int(column.normalized[i])
    points = None if column.points is None else int(column.points[i])
    most = max(column.weight * 100, 1)
    return {
        "plugin": column.name,
        "raw": None if column.raw is None else int(column.raw[i]),
        "norm": norm,
        "weighted": points,
        "bar": 0 if points is None else max(0, min(100, round(100 * points / most))),
        "on": column.name == plugin,
    }


def _segments(columns: tuple[Column, ...], cells: list[dict[str, Any]], span: int) -> list[dict[str, Any]]:
    """The points side by side: where each begins and how wide it is, in percent."""
    segments, x = [], 0.0
    for column, cell in zip(columns, cells, strict=True):
        points = cell["weighted"]
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
