"""Filter: which nodes can run the pod. Each node against each Filter plugin, one letter a cell: p pass, r refuse, n not reached, t to come.

Plugins that PreFilter had skipped have no column; they are named below the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playground.presenters.inspector.figures import sections
from playground.presenters.look import Look
from playground.presenters.plain import in_plain_words
from playground.presenters.refusals import FEASIBLE, UNSEEN, Refusals, refusals
from playground.presenters.scene import cycle_of, framework_of, last_attempt, present_step, short
from playground.presenters.stage.exchanges import asked, exchanges
from playground.presenters.stage.shape import Stage
from playground.presenters.words import gettext_noop, message
from scheduler_core.view import Phase, Point, SchedulingCycleView, Verb, WorldView

_FILTERS = (Point.FILTER, Point.EXTENDER_FILTER)
WINDOW = 20
ALL = 40


def present(sim: WorldView, look: Look, key: str) -> Stage:
    """Each node's way through the plugins, with the map below it."""
    return Stage(
        question=message(gettext_noop("Which nodes can run %(pod)s?"), pod=short(key) or "…"),
        forms={"plugins": gettext_noop("Plugins"), "nodes": gettext_noop("Nodes")},
        body=_verdicts(sim, look, key),
        map=True,
    )


def _verdicts(sim: WorldView, look: Look, key: str) -> dict[str, Any]:
    """The matrix where the present cycle is the pod's; else its last attempt in summary, with the way to its steps."""
    cycle = cycle_of(sim)
    if cycle is not None and cycle.pod.key == key:
        return _matrix(sim, look, cycle)
    attempt = last_attempt(sim, key) if key else None
    if attempt is None:
        return {"kind": "none", "place": sim.journal.place(key) if key else "", "gates": _gates(sim, key)}
    return {
        "kind": "past",
        "number": attempt.number,
        "outcome": attempt.outcome,
        "node": attempt.node,
        "message": attempt.message,
        "feasible": attempt.feasible,
        "evaluated": attempt.evaluated,
        "groups": [_group(text, "", count, [text]) for text, count in attempt.refusals],
        "goto": attempt.last_position,
    }


def _gates(sim: WorldView, key: str) -> list[str]:
    pod = sim.store.pod_at(key) if key else None
    return list(pod.spec.scheduling_gates) if pod is not None else []


def _group(text: str, plugin: str, count: int, reasons: Sequence[str]) -> dict[str, Any]:
    plain = [words for reason in reasons if (words := in_plain_words(reason))]
    return {"text": text, "plugin": plugin, "count": count, "plain": plain}


def _matrix(sim: WorldView, look: Look, cycle: SchedulingCycleView) -> dict[str, Any]:
    names = cycle.nodes.snapshot_names
    refused = refusals(sim, names)
    enabled = [plugin.name for plugin in framework_of(sim).at(Point.FILTER)]
    enabled += [extender.url_prefix for extender in asked(sim, cycle, Verb.FILTER)]
    reached = _reached(cycle, enabled)
    plugins = [name for name in enabled if reached[name] != "skip"]
    rows, matching = _rows(cycle, look, refused)
    return {
        "kind": "matrix",
        "number": cycle.number,
        "message": cycle.message,
        "outcome": cycle.outcome,
        "node": cycle.chosen or "",
        "nodes": len(names),
        "feasible": refused.feasible,
        "unseen": refused.unseen,
        "pre_filter": "" if cycle.pre_filter_status.ok else cycle.pre_filter_status.message,
        "skipped": [name for name in enabled if reached[name] == "skip"],
        "plugins": [{"name": name, "state": reached[name], "now": name == _now(sim)} for name in plugins],
        "groups": [_group(g["text"], g["plugin"], g["count"], g["reasons"]) for g in refused.to_groups()],
        "rows": [_row(cycle, row, refused, plugins, reached, look) for row in rows],
        "page": look.page,
        "pages": -(-matching // _size(cycle)),
        "matching": matching,
        "figures": _figures(sim, cycle, look),
        "figures_of": look.node,
        "exchanges": exchanges(sim, cycle),
    }


def _figures(sim: WorldView, cycle: SchedulingCycleView, look: Look) -> list[dict[str, Any]]:
    """For the chosen node: the figures of the plugin that refused it, of all where none did."""
    row = cycle.nodes.row(look.node) if look.node else None
    if row is None:
        return []
    status = cycle.status_of(row)
    return sections(sim, look.node, "" if status is None else status.plugin)


def _now(sim: WorldView) -> str:
    step = present_step(sim)
    return step[0].plugin if step is not None and step[0].point in _FILTERS else ""


def _reached(cycle: SchedulingCycleView, plugins: list[str]) -> dict[str, str]:
    """How far Filter is: each plugin ran, is skipped, is still to come, or was never asked."""
    ran = {
        step.plugin
        for step in cycle.steps
        if step.point is Point.FILTER or (step.point is Point.EXTENDER_FILTER and step.status.ok)
    }
    coming = cycle.phase is Phase.EXTENDER_FILTER or (
        cycle.feasible is None and cycle.phase in (Phase.PRE_FILTER, Phase.FILTER)
    )
    return {
        name: "ran"
        if name in ran
        else "skip"
        if name in cycle.state.skip_filter
        else "todo"
        if coming
        else "never"
        for name in plugins
    }


def _size(cycle: SchedulingCycleView) -> int:
    return ALL if len(cycle.nodes) <= ALL else WINDOW


def _rows(cycle: SchedulingCycleView, look: Look, refused: Refusals) -> tuple[list[int], int]:
    """The window of rows: the chosen node first, then the feasible ones, then the refused."""
    names = cycle.nodes.snapshot_names
    rows = np.arange(len(names), dtype=np.intp)
    if look.q:
        rows = np.array([r for r in rows if look.q in names[r] or look.q in refused.text(int(r))], np.intp)
    order = np.where(refused.group == FEASIBLE, 0, np.where(refused.group == UNSEEN, 2, 1))[rows]
    rows = rows[np.argsort(order, kind="stable")]
    size = _size(cycle)
    start = min(look.page, max(len(rows) - 1, 0) // size) * size
    window = [int(row) for row in rows[start : start + size]]
    chosen = cycle.nodes.row(look.node) if look.node else None
    if chosen is not None:
        window = [chosen, *(row for row in window if row != chosen)]
    return window, len(rows)


def _row(
    cycle: SchedulingCycleView,
    row: int,
    refused: Refusals,
    plugins: list[str],
    reached: dict[str, str],
    look: Look,
) -> dict[str, Any]:
    group, text = int(refused.group[row]), refused.text(row)
    refuser = refused.statuses[group].plugin if group >= 0 else ""
    name = cycle.nodes.names[row]
    return {
        "node": name,
        "state": "ok" if group == FEASIBLE else "no" if group >= 0 else "unseen",
        "cells": _cells(group, refuser, plugins, reached),
        "text": text,
        "plain": [plain for reason in _reasons(refused, group) if (plain := in_plain_words(reason))],
        "chosen": name == look.node,
        "placed": name == cycle.chosen,
    }


def _reasons(refused: Refusals, group: int) -> tuple[str, ...]:
    return refused.statuses[group].reasons if group >= 0 else ()


def _cells(group: int, refuser: str, plugins: list[str], reached: dict[str, str]) -> str:
    letters = {"ran": "p", "todo": "t", "never": "n"}
    if group == UNSEEN or (group >= 0 and refuser not in reached):
        return "n" * len(plugins)
    cells, refused = [], False
    for name in plugins:
        if name == refuser and group >= 0:
            cells.append("r")
            refused = True
        else:
            cells.append("n" if refused else letters[reached[name]])
    return "".join(cells)
