"""Why a number: a node's total by its plugins, or one plugin's points by their formulas."""

from __future__ import annotations

from typing import Any

from playground.presenters.look import Look
from playground.presenters.scene import framework_of
from playground.presenters.stage.score.board import Column, Scored
from playground.presenters.stage.score.formulas import lines, notes
from playground.presenters.stage.score.sampling import describe_sampling
from scheduler_core.analysis.inspection import working
from scheduler_core.world.readonly import WorldView


def why(sim: WorldView, scored: Scored, look: Look) -> dict[str, Any] | None:
    """About the chosen node, else the one that leads; about the chosen plugin, else all of them."""
    place = scored.place(look.node)
    if place is None:
        place = (
            int(scored.totals.argmax()) if scored.cycle.chosen is None else scored.place(scored.cycle.chosen)
        )
    if place is None:
        return None
    column = next((each for each in scored.columns if each.name == look.plugin), None)
    if column is None or column.raw is None:
        return _of_total(scored, place)
    return _of_plugin(sim, scored, column, place)


def _of_total(scored: Scored, place: int) -> dict[str, Any]:
    return {
        "kind": "total",
        "node": scored.name(place),
        "total": int(scored.totals[place]),
        "summed": scored.summed,
        "rows": [_row(column, place) for column in scored.columns],
        "skipped": list(scored.skipped),
        "sampled": describe_sampling(scored.cycle),
    }


def _row(column: Column, i: int) -> dict[str, Any]:
    return {
        "plugin": column.name,
        "weight": column.weight,
        "extender": column.extender,
        "raw": None if column.raw is None else int(column.raw[i]),
        "norm": None if column.normalized is None or column.extender else int(column.normalized[i]),
        "points": None if column.points is None else int(column.points[i]),
    }


def _of_plugin(sim: WorldView, scored: Scored, column: Column, place: int) -> dict[str, Any]:
    node, row = scored.name(place), _row(column, place)
    common = {"kind": "plugin", "node": node, "extender": column.extender, **row}
    if column.extender:
        return {**common, "number": row["points"], "lines": [], "scaled": [], "notes": []}
    found = working(framework_of(sim), scored.cycle, column.name, node)
    formula = found.formula if found is not None else None
    scaled = found.normalization if found is not None else None
    number = row["points"] if row["points"] is not None else row["raw"]
    return {
        **common,
        "number": number,
        "pending": column.state == "raw",
        "changed": formula is None,
        "lines": lines(formula),
        "scaled": lines(scaled),
        "normalizes": found is not None and found.normalizes,
        "notes": [*notes(formula), *notes(scaled)],
        "sampled": describe_sampling(scored.cycle),
    }
