"""Score: which node is best. Totals first, then each plugin's points; every number leads to how it came about."""

from __future__ import annotations

from typing import Any

from playground.presenters.look import Look
from playground.presenters.scene import cycle_of, scheduler_of, short
from playground.presenters.stage.score.board import Scored, build_score_board
from playground.presenters.stage.score.rows import window
from playground.presenters.stage.score.ties import other_draws, summarize_totals
from playground.presenters.stage.score.weights import what_if
from playground.presenters.stage.score.why import why
from playground.presenters.stage.shape import Stage
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import SchedulingCycleView, WorldView

FORMS = {
    "stacked": gettext_noop("Stacked"),
    "lined": gettext_noop("Lined up"),
    "table": gettext_noop("Table"),
    "nodes": gettext_noop("Nodes"),
}


def present(sim: WorldView, look: Look, key: str) -> Stage:
    """The scores of the feasible nodes."""
    cycle = cycle_of(sim)
    scored = None if cycle is None or cycle.pod.key != key else build_score_board(sim, cycle)
    return Stage(
        question=message(gettext_noop("Which node is best for %(pod)s?"), pod=short(key) or "…"),
        detail=_detail(scored),
        forms=FORMS,
        body=_empty(cycle, key) if scored is None else _body(sim, scored, look),
    )


def _detail(scored: Scored | None) -> Message | None:
    if scored is None:
        return None
    nodes, points = f"{len(scored.board.rows):,}", f"{scored.possible:,}"
    if len(scored.columns) == 1:
        return message(
            gettext_noop("%(nodes)s nodes, 1 plugin, at most %(points)s points"), nodes=nodes, points=points
        )
    return message(
        gettext_noop("%(nodes)s nodes, %(plugins)s plugins, at most %(points)s points"),
        nodes=nodes,
        plugins=len(scored.columns),
        points=points,
    )


def _empty(cycle: SchedulingCycleView | None, key: str) -> dict[str, Any]:
    """Return why there are no scores: another pod's cycle, not yet, one feasible node, or none."""
    if cycle is None or cycle.pod.key != key:
        return {"kind": "elsewhere", "pod": key}
    feasible = -1 if cycle.feasible is None else len(cycle.feasible)
    kind = {0: "none feasible", 1: "one feasible"}.get(feasible, "not yet")
    return {"kind": kind, "node": cycle.chosen or ""}


def _body(sim: WorldView, scored: Scored, look: Look) -> dict[str, Any]:
    cycle = scored.cycle
    plugin = look.plugin or scored.now
    return {
        "kind": "board",
        "plugins": [
            {
                "name": column.name,
                "weight": column.weight,
                "shade": column.shade,
                "extender": column.extender,
                "state": column.state,
                "on": column.name == plugin,
            }
            for column in scored.columns
        ],
        "skipped": list(scored.skipped),
        "answered": sum(column.state != "todo" for column in scored.columns),
        "summed": scored.summed,
        **window(scored, look, plugin),
        "ties": len(cycle.tied),
        "draw": cycle.draw,
        "node": cycle.chosen or "",
        "told": summarize_totals(sim, scored),
        "draws": other_draws(scored),
        "why": why(sim, scored, look),
        "what_if": what_if(scored, look) if scored.summed else None,
        "scheduler": scheduler_of(sim).name,
        "profile": cycle.profile,
    }
