"""Score: which node is best. Raw, normalised, times weight, total; the best nodes first, with ties and the draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from playground.charts.scores import stacked
from playground.presenters.look import Look
from playground.presenters.scene import cycle_of, short, without_scheme
from playground.presenters.stage.shape import Stage
from playground.presenters.words import gettext_noop, message
from scheduler_core.view import SchedulingCycleView, ScoreBoard, WorldView

WINDOW = 10


def present(sim: WorldView, look: Look, key: str) -> Stage:
    """The scores of the feasible nodes."""
    return Stage(
        question=message(gettext_noop("Which node is best for %(pod)s?"), pod=short(key) or "…"),
        forms={"table": gettext_noop("Table"), "nodes": gettext_noop("Nodes")},
        body=_scores(sim, look, key),
    )


def _scores(sim: WorldView, look: Look, key: str) -> dict[str, Any]:
    """The board of the present cycle's best nodes, and the chosen node's even if it is not among them."""
    cycle = cycle_of(sim)
    if cycle is None or cycle.pod.key != key:
        return {"kind": "elsewhere", "pod": key}
    if cycle.scores is None or not cycle.scores.plugins:
        return {"kind": _without(cycle), "node": cycle.chosen or ""}
    return _board(cycle, cycle.scores, look)


def _without(cycle: SchedulingCycleView) -> str:
    """Why there are no scores: not yet, one feasible node, or none."""
    if cycle.feasible is None:
        return "not yet"
    return {0: "none feasible", 1: "one feasible"}.get(len(cycle.feasible), "not yet")


def _board(cycle: SchedulingCycleView, board: ScoreBoard, look: Look) -> dict[str, Any]:
    total = board.total if board.total is not None else np.sum(board.weighted, axis=0)
    order = np.argsort(-total, kind="stable")
    shown = [int(k) for k in order[:WINDOW]]
    names = cycle.nodes.names
    chosen = [k for k, row in enumerate(board.rows.tolist()) if names[row] == look.node] if look.node else []
    if chosen and chosen[0] not in shown:
        shown.append(chosen[0])
    columns = [
        *zip(board.plugins, board.weights, strict=True),
        *((without_scheme(url), "10 ×") for url in board.extenders),
    ]
    rows = [_row(board, k, int(total[k]), names[int(board.rows[k])], cycle, look) for k in shown]
    return {
        "kind": "board",
        "plugins": [{"name": name, "weight": weight} for name, weight in columns],
        "rows": rows,
        "nodes": len(board.rows),
        "summed": board.total is not None,
        "tied": list(cycle.tied[:6]),
        "ties": len(cycle.tied),
        "draw": cycle.draw,
        "node": cycle.chosen or "",
        "chart": stacked(board.plugins, board.weights, rows),
    }


def _row(
    board: ScoreBoard, k: int, total: int, name: str, cycle: SchedulingCycleView, look: Look
) -> dict[str, Any]:
    cells = [
        {"raw": int(raw[k]), "norm": int(norm[k]), "weighted": int(norm[k]) * weight}
        for raw, norm, weight in zip(board.raw, board.normalized, board.weights, strict=True)
    ]
    cells += [
        {"raw": int(scores[k]), "norm": int(scores[k]), "weighted": int(scores[k])}
        for scores in board.extended
    ]
    return {
        "node": name,
        "cells": cells,
        "total": total,
        "tied": len(cycle.tied) > 1 and name in cycle.tied,
        "drawn": name == cycle.chosen,
        "chosen": name == look.node,
    }
