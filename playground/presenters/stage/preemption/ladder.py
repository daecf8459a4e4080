"""The choice among candidates as a ladder: one column a criterion, and where each candidate fell off."""

from typing import TypedDict

from playground.presenters.amounts import clock
from playground.presenters.words import gettext_noop
from scheduler_core.world.readonly import NEVER, Candidate, Evidence, earliest_start, format_time

# kube's five criteria in their order: a short head, what is best, and the term.
COLUMNS = (
    (gettext_noop("PDB violations"), gettext_noop("fewest PodDisruptionBudgets violated"), "fewest violations"),
    (
        gettext_noop("Highest priority"),
        gettext_noop("lowest priority of the most important victim"),
        "highest priority",
    ),
    (gettext_noop("Sum of priorities"), gettext_noop("smallest sum of the victims' priorities"), "sum of priorities"),
    (gettext_noop("Number of victims"), gettext_noop("fewest victims"), "fewest victims"),
    (gettext_noop("Start time"), gettext_noop("latest start of the most important victims"), "latest start"),
)


SUMMED = 4  # numbers of a sum that are shown


class Criterion(TypedDict):
    name: str
    best: str
    term: str


def columns() -> list[Criterion]:
    """The criteria as heads of a table."""
    return [{"name": name, "best": best, "term": term} for name, best, term in COLUMNS]


def falls(evidence: Evidence) -> dict[str, int]:
    """Return by node the criterion at which its candidate drops out; -1 if an extender removed it. Nodes that never drop out are absent."""
    left = {candidate.node for candidate in evidence.remaining}
    out = {candidate.node: -1 for candidate in evidence.candidates if candidate.node not in left}
    for number, criterion in enumerate(evidence.criteria):
        best = {candidate.node for candidate in criterion.best}
        out.update((c.node, number) for c in criterion.compared if c.node not in best)
    return out


def ladder(evidence: Evidence, candidates: list[Candidate], rungs: int, epoch: int) -> "list[LadderRow]":
    """A row for each candidate, after so many criteria: how far it came, the last ones left first."""
    fell = falls(evidence)
    rows = [_row(evidence, c, fell.get(c.node, len(COLUMNS)), rungs, epoch) for c in candidates]
    return sorted(rows, key=lambda row: (not row["best"], -row["came"], row["node"]))


class LadderCell(TypedDict):
    """`state` is "kept", "lost" (its value is the one that lost) or "" (it was not compared)."""

    state: str
    text: str


class LadderRow(TypedDict):
    node: str
    cells: list[LadderCell]
    best: bool
    came: int
    out: bool


def _row(evidence: Evidence, candidate: Candidate, fell: int, rungs: int, epoch: int) -> LadderRow:
    seen = min(rungs, len(evidence.criteria))
    best = rungs >= len(evidence.criteria) and candidate.node == evidence.nominated
    cells: list[LadderCell] = []
    for i, text in enumerate(texts(candidate, epoch)):
        if i >= seen or i > fell:
            cells.append({"state": "kept" if best else "", "text": text if best else ""})
        else:
            cells.append({"state": "lost" if i == fell else "kept", "text": text})
    out = fell < seen
    return {"node": candidate.node, "cells": cells, "best": best, "came": min(fell, seen), "out": out}


def texts(candidate: Candidate, epoch: int) -> list[str]:
    """A candidate's value at each criterion; the sum of priorities as people reckon it."""
    victims = candidate.victims
    return [
        str(candidate.violations),
        str(victims[0].priority),
        str(sum(pod.priority for pod in victims)),
        str(len(victims)),
        format_start_time(earliest_start(victims), epoch),
    ]


class Lead(TypedDict, total=False):
    """The source of a value: `pod` with its `field`, or the numbers of a sum."""

    pod: str
    field: str
    sum: str


def leads(candidate: Candidate) -> list[Lead]:
    """Return the source of each value; {} for values that only count."""
    victims = candidate.victims
    violating = next((each.pod for each in candidate.reprieves if each.violates_budget and not each.kept), "")
    earliest = earliest_start(victims)
    first = next((pod for pod in victims if earliest_start([pod]) == earliest), victims[0])
    summed = " + ".join(str(pod.priority) for pod in victims[:SUMMED])
    return [
        {"pod": violating, "field": "metadata.labels"} if violating else {},
        {"pod": victims[0].key, "field": "spec.priority"},
        {"sum": summed + (" + …" if len(victims) > SUMMED else "")} if len(victims) > 1 else {},
        {},
        {"pod": first.key, "field": "status.startTime"} if earliest != NEVER else {},
    ]


def format_start_time(at: int, epoch: int) -> str:
    """A start on the world's clock; the date where it is from before the world; a dash where it has not started."""
    if at == NEVER:
        return "-"
    return clock(at - epoch)[:8] if at >= epoch else format_time(at)[:10]
