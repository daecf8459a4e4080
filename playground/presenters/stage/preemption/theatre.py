"""The theater: a column for each candidate, from the removed pods to the criterion at which it drops out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from playground.presenters.cluster_map.node_cards import Step
from playground.presenters.scene import PodRef, pod_ref, short
from playground.presenters.stage.preemption.choice import CRITERIA, Criterion, ValueSource, falls, leads, texts
from playground.presenters.words import amount, beside
from scheduler_core.world.readonly import Candidate, Evidence, NodeTable, Pod, Reprieve, SchedulingCycleView


def tightest(candidate: Candidate) -> str:
    """Return the resource that prevented the first reprieve, or cpu if no resource did."""
    for reprieve in candidate.reprieves:
        for reason in reprieve.refusal.reasons if reprieve.refusal is not None else ():
            if reason.startswith("Insufficient "):
                return reason.removeprefix("Insufficient ")
    return "cpu"


def level(nodes: NodeTable, node: str, resource: str) -> tuple[int, int] | None:
    """Return the requested and allocatable amounts of a node's resource; None if the snapshot does not have them."""
    row, column = nodes.row(node), nodes.resources.columns.get(resource)
    if row is None or column is None or column >= nodes.allocatable.shape[1]:
        return None
    has = int(nodes.allocatable[row, column])
    return (int(nodes.requested[row, column]), has) if has > 0 else None


def build_usage_segments(candidate: Candidate, pod: Pod, nodes: NodeTable, back: int) -> "list[Segment]":
    """Return a node's usage after the first `back` pods were reprieved or not: others, the nominated pod, kept pods, and free."""
    resource = tightest(candidate)
    found = level(nodes, candidate.node, resource)
    if found is None:
        return []
    used, has = found
    there = {other.key: other for other in nodes.pods[nodes.rows[candidate.node]]}
    sizes = {r.pod: there[r.pod].requests.get(resource) for r in candidate.reprieves if r.pod in there}
    kept = [(r.pod, sizes.get(r.pod, 0)) for r in candidate.reprieves[:back] if r.kept]
    parts = [("stays", used - sum(sizes.values()), ""), ("pod", pod.requests.get(resource), short(pod.key))]
    parts += [("kept", size, short(key)) for key, size in kept]
    return segments(parts, has, resource)


class Segment(TypedDict):
    kind: str
    x: float
    width: float
    name: str
    text: str


def segments(parts: list[tuple[str, int, str]], has: int, resource: str) -> list[Segment]:
    """Return the parts of a bar, in percent of the total. Parts of size 0 are left out."""
    scale = max(has, sum(size for _, size, _ in parts))
    out: list[Segment] = []
    at = 0.0
    for kind, size, name in parts:
        width = round(100 * size / scale, 2)
        if width > 0:
            out.append({"kind": kind, "x": round(at, 2), "width": width, "name": name, "text": amount(resource, size)})
        at += width
    return out


class Room(TypedDict):
    resource: str
    needs: str
    has: str
    edge: float
    segments: list[Segment]


def room(candidate: Candidate, pod: Pod, nodes: NodeTable) -> Room | None:
    """Return a bar of the node's tightest resource: kept pods, the preemptor, and the victims; None if the snapshot lacks the node."""
    resource = tightest(candidate)
    found = level(nodes, candidate.node, resource)
    if found is None:
        return None
    used, has = found
    needs = pod.requests.get(resource)
    gone = [("gone", victim.requests.get(resource), short(victim.key)) for victim in candidate.victims]
    parts = [("stays", used - sum(size for _, size, _ in gone), ""), ("pod", needs, short(pod.key)), *gone]
    return {
        "resource": resource,
        "needs": amount(resource, needs),
        "has": amount(resource, has),
        "edge": round(100 * has / max(has, sum(size for _, size, _ in parts)), 2),
        "segments": segments(parts, has, resource),
    }


COLUMNS = 4
REPRIEVES = 6


class Rung(Criterion):
    number: int
    now: bool
    more: int
    cells: "list[RungCell]"


class DryStep(TypedDict):
    number: int
    now: bool


class Removal(DryStep):
    count: int


class FitStep(DryStep):
    ahead: bool


class Column(TypedDict):
    node: str
    level: str
    resource: str
    best: bool
    ahead: bool
    removed: Removal
    chosen: bool


class Reprieves(TypedDict):
    reprieves: "list[ReprieveRow]"
    kept: int
    gone: int


class CandidateColumn(Column, Reprieves):
    kind: Literal["candidate"]
    fits: FitStep
    bar: list[Segment]
    rungs: "list[RungCell]"
    victims: list[PodRef]
    more_victims: int


class RejectedColumn(Column):
    kind: Literal["rejected"]
    reason: str
    plugin: str


AnyColumn = CandidateColumn | RejectedColumn


class Theatre(TypedDict):
    columns: list[CandidateColumn | RejectedColumn]
    rungs: list[Rung]
    by_extender: int
    drawn: list[str]
    decided: bool
    priority: int
    pod: str


def theatre(
    cycle: SchedulingCycleView, evidence: Evidence, steps: list[Step], cursor: int, chosen: str, epoch: int
) -> Theatre:
    """Return the columns of the last remaining candidates, and the number of others at each rung. `cursor` 0 is the end of the records."""
    last = len(steps)
    at = cursor or last
    out = falls(evidence)
    fell = [out.get(candidate.node, len(CRITERIA)) for candidate in evidence.candidates]
    now = steps[cursor - 1].candidate if cursor else -1
    shown = _select_candidates(evidence, fell, now, chosen)
    first = last - len(evidence.criteria) - bool(evidence.nominated) + 1  # the number of the first criterion
    seen = min(max(at - first + 1, 0), len(evidence.criteria))
    left = {candidate.node: candidate for candidate in evidence.remaining}
    walk = _Walk(cycle, evidence, at, cursor, seen, epoch, at == last, left, chosen)
    starts = [n for n, step in enumerate(steps, 1) if step.kind == "remove"]
    columns = [_column(walk, evidence.candidates[i], fell[i], starts[i]) for i in shown]
    hidden = Counter(rung for i, rung in enumerate(fell) if i not in shown)
    rungs: list[Rung] = [
        {
            "name": name,
            "best": best,
            "term": term,
            "number": first + i if i < len(evidence.criteria) else 0,
            "now": cursor == first + i and i < len(evidence.criteria),
            "more": hidden[i] if i < seen else 0,
            "cells": [column["rungs"][i] for column in columns],
        }
        for i, (name, term, best, _) in enumerate(CRITERIA)
    ]
    rejected = [
        _build_rejected_column(cycle, evidence, node, chosen) for node in evidence.rejected if _lower(cycle, node)
    ]
    shown_columns: list[AnyColumn] = [*columns, *rejected[: max(COLUMNS - len(columns), 0)]]
    return {
        "columns": shown_columns,
        "rungs": rungs,
        "by_extender": hidden[-1],
        "drawn": _mark_draw_results(evidence, shown_columns) if at == last else [],
        "decided": at == last and bool(evidence.nominated),
        "priority": cycle.pod.priority,
        "pod": short(cycle.pod.key),
    }


@dataclass(frozen=True, slots=True)
class _Walk:
    """The visible part of the records: up to number `at`, with the cursor (0: none), and `seen` criteria among them."""

    cycle: SchedulingCycleView
    evidence: Evidence
    at: int
    cursor: int
    seen: int
    epoch: int
    decided: bool
    left: dict[str, Candidate]  # by node, after the extenders
    chosen: str


def _select_candidates(evidence: Evidence, fell: list[int], now: int, chosen: str) -> list[int]:
    """Return the last remaining candidates, including the one at the cursor and the one on the chosen node."""

    def rank(i: int) -> tuple[int, ...]:
        node = evidence.candidates[i].node
        return (node != evidence.nominated, i != now, node != chosen, -fell[i], i)

    return sorted(sorted(range(len(fell)), key=rank)[:COLUMNS])


def _column(walk: _Walk, candidate: Candidate, fell: int, start: int) -> CandidateColumn:
    """Return a candidate's column. `start` is the number of its first record."""
    cycle, at, cursor = walk.cycle, walk.at, walk.cursor
    resource, final = tightest(candidate), walk.left.get(candidate.node, candidate)
    back = min(max(at - start - 1, 0), len(candidate.reprieves))
    criteria, cells = len(walk.evidence.criteria), list[RungCell]()
    for i, (text, lead) in enumerate(zip(texts(final, walk.epoch), leads(final), strict=True)):
        if fell < min(i, walk.seen):
            cells.append({"state": "", "text": ""})
        elif i >= walk.seen and walk.seen < criteria:
            cells.append({"state": "ahead", "text": ""})
        else:
            state = "alone" if i >= criteria else "lost" if fell == i else "kept"
            cells.append({"state": state, "text": text, **lead})
    return {
        "kind": "candidate",
        "node": candidate.node,
        "level": _level(cycle.nodes, candidate.node, resource),
        "resource": resource,
        "best": walk.decided and candidate.node == walk.evidence.nominated,
        "ahead": at < start,
        "chosen": candidate.node == walk.chosen,
        "removed": {"count": len(candidate.reprieves), "number": start, "now": cursor == start},
        "fits": {"number": start + 1, "now": cursor == start + 1, "ahead": at <= start},
        **_reprieves(cycle.nodes, candidate, start + 2, at, cursor),
        "bar": build_usage_segments(candidate, cycle.pod, cycle.nodes, back) if at > start else [],
        "rungs": cells,
        "victims": [pod_ref(pod.key) for pod in final.victims[:REPRIEVES]],
        "more_victims": max(len(final.victims) - REPRIEVES, 0),
    }


def _level(nodes: NodeTable, node: str, resource: str) -> str:
    found = level(nodes, node, resource)
    if found is None:
        return ""
    unit = f" {resource}" if resource == "cpu" else ""
    return " / ".join(beside(resource, *found)) + unit


def _reprieves(nodes: NodeTable, candidate: Candidate, start: int, at: int, cursor: int) -> Reprieves:
    """Return the first reprieves, victims first if there are too many. `kept` and `gone` count the others."""
    count = len(candidate.reprieves)
    order = sorted(range(count), key=lambda i: (start + i != cursor, candidate.reprieves[i].kept, i))
    shown = sorted(order[:REPRIEVES])
    there = {pod.key: pod for pod in nodes.pods[nodes.rows[candidate.node]]}
    left = [candidate.reprieves[i].kept for i in range(count) if i not in shown]
    return {
        "reprieves": [
            _reprieve(candidate.reprieves[i], there, tightest(candidate), start + i, at, cursor) for i in shown
        ],
        "kept": sum(left),
        "gone": len(left) - sum(left),
    }


class ReprieveRow(PodRef):
    kept: bool
    priority: int
    amount: str
    budget: bool
    reason: str
    plugin: str
    number: int
    now: bool
    todo: bool


def _reprieve(
    reprieve: Reprieve, there: dict[str, Pod], resource: str, number: int, at: int, cursor: int
) -> ReprieveRow:
    pod, refusal = there.get(reprieve.pod), reprieve.refusal
    return {
        **pod_ref(reprieve.pod),
        "kept": reprieve.kept,
        "priority": reprieve.priority,
        "amount": "" if pod is None else amount(resource, pod.requests.get(resource)),
        "budget": reprieve.violates_budget,
        "reason": "" if refusal is None else refusal.message,
        "plugin": "" if refusal is None else refusal.plugin,
        "number": number,
        "now": number == cursor,
        "todo": number > at,
    }


class RungCell(ValueSource):
    """`state`: "kept", "lost", "alone" (no other candidate left), "ahead", or "" below the rung at which the candidate drops out."""

    state: str
    text: str


def _mark_draw_results(evidence: Evidence, columns: Sequence[AnyColumn]) -> list[str]:
    """Return the result of a final tie: "kept" for the drawn column, "lost" for the other tied ones, else ""; empty without a draw."""
    if evidence.draw is None:
        return []
    tied = evidence.criteria[-1].left if evidence.criteria else ()
    return [
        "" if column["node"] not in tied else "kept" if column["node"] == evidence.nominated else "lost"
        for column in columns
    ]


def _lower(cycle: SchedulingCycleView, node: str) -> int:
    """Return the number of pods on a node that preemption may remove."""
    row = cycle.nodes.row(node)
    pods = () if row is None else cycle.nodes.pods[row]
    return sum(pod.priority < cycle.pod.priority for pod in pods)


def _build_rejected_column(cycle: SchedulingCycleView, evidence: Evidence, node: str, chosen: str) -> RejectedColumn:
    status = evidence.rejected[node]
    return {
        "kind": "rejected",
        "node": node,
        "level": _level(cycle.nodes, node, "cpu"),
        "resource": "cpu",
        "best": False,
        "ahead": False,
        "chosen": node == chosen,
        "removed": {"count": _lower(cycle, node), "number": 0, "now": False},
        "reason": status.message,
        "plugin": status.plugin,
    }
