"""The choice among candidates as a ladder: one column a criterion, and where each candidate fell off."""

from __future__ import annotations

from typing import Any

from playground.presenters.amounts import clock
from playground.presenters.words import gettext_noop
from scheduler_core.view import NEVER, Candidate, Evidence, earliest_start, format_time

# kube's five criteria in their order: a short head, and what is best.
COLUMNS = (
    (gettext_noop("PDB"), gettext_noop("fewest PodDisruptionBudgets violated")),
    (gettext_noop("max prio"), gettext_noop("lowest priority of the most important victim")),
    (gettext_noop("Σ prio"), gettext_noop("smallest sum of the victims' priorities")),
    (gettext_noop("victims"), gettext_noop("fewest victims")),
    (gettext_noop("start"), gettext_noop("latest start of the most important victims")),
)


def columns() -> list[dict[str, str]]:
    """The criteria as heads of a table."""
    return [{"name": name, "best": best} for name, best in COLUMNS]


def ladder(evidence: Evidence, candidates: list[Candidate], rungs: int, epoch: int) -> list[dict[str, Any]]:
    """A row for each candidate, after so many criteria: how far it came, the last ones left first.

    A cell's state is "kept", "lost" (its value is the one that lost) or "" (it was not compared).
    """
    rows = [_row(evidence, candidate, rungs, epoch) for candidate in candidates]
    return sorted(rows, key=lambda row: (not row["best"], -row["came"], row["node"]))


def _row(evidence: Evidence, candidate: Candidate, rungs: int, epoch: int) -> dict[str, Any]:
    seen = evidence.criteria[:rungs]
    ended = rungs >= len(evidence.criteria)
    best = ended and candidate.node == evidence.nominated
    cells: list[dict[str, str]] = []
    came = 0
    texts = _texts(candidate, epoch)
    for i, text in enumerate(texts):
        compared = i < len(seen) and candidate.node in dict(seen[i].values)
        if not compared:
            cells.append({"state": "kept" if best else "", "text": text if best else ""})
            continue
        left = candidate.node in seen[i].left
        came += left
        cells.append({"state": "kept" if left else "lost", "text": text})
    return {"node": candidate.node, "cells": cells, "best": best, "came": came, "out": _fell(cells)}


def _fell(cells: list[dict[str, str]]) -> bool:
    return any(cell["state"] == "lost" for cell in cells)


def _texts(candidate: Candidate, epoch: int) -> list[str]:
    victims = candidate.victims
    return [
        str(candidate.violations),
        str(victims[0].priority),
        str(sum(pod.priority for pod in victims)),
        str(len(victims)),
        started(earliest_start(victims), epoch),
    ]


def started(at: int, epoch: int) -> str:
    """A start on the world's clock; the date where it is from before the world; a dash where it has not started."""
    if at == NEVER:
        return "-"
    return clock(at - epoch)[:8] if at >= epoch else format_time(at)[:10]
