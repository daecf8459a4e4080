"""OpportunisticBatching: a pod like the one before takes the next node of the list that the one before left.

| step | when | what |
|---|---|---|
| hint | after PreFilter | the list fits the pod, and the node chosen last refuses the pod: the head of the list is tried alone |
| rescore | the node chosen last still takes the pod | the node goes back into the list with fresh scores (since 1.37; before, no hint) |
| store | a node is chosen otherwise | the other feasible nodes with their scores are the new list |

kube: framework/runtime/batch.go, framework/sorted_nodes.go, schedule_one.go @ v1.37.2
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from scheduler_core.base.clock.agenda import MILLISECOND
from scheduler_core.base.releases import Behavior
from scheduler_core.base.state import Copied, State
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.core.algorithm.signature import sign
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.framework.per_node import ScoreBoard
from scheduler_core.scheduler.framework.plugin import Scores
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.framework.runtime.rescoring import find_refusal, rescore

MAX_AGE = 500 * MILLISECOND


Item = tuple[int, int]
"""A total score, and the node's place in `names`."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The nodes of a list with each plugin's raw scores; `heap` are those that are left, as Go's heap has them."""

    names: tuple[str, ...]
    raw: tuple[tuple[str, Scores], ...]
    heap: tuple[Item, ...]

    @classmethod
    def of(cls, names: tuple[str, ...], raw: tuple[tuple[str, Scores], ...], totals: Scores) -> Candidates:
        """Return a list with all nodes in it."""
        heap = list(zip(totals.tolist(), range(len(names)), strict=True))
        for i in reversed(range(len(heap) // 2)):
            _sink(heap, i, len(heap))
        return cls(names, raw, tuple(heap))

    def pop(self) -> tuple[str, Candidates]:
        """Return the best node, and the list without this node."""
        heap = list(self.heap)
        heap[0], heap[-1] = heap[-1], heap[0]
        best = heap.pop()
        _sink(heap, 0, len(heap))
        return self.names[best[1]], replace(self, heap=tuple(heap))


def _sink(heap: list[Item], i: int, end: int) -> None:
    """Let an item sink below better ones. kube: container/heap (down)"""
    while (child := 2 * i + 1) < end:
        if child + 1 < end and heap[child + 1][0] > heap[child][0]:
            child += 1
        if heap[child][0] <= heap[i][0]:
            return
        heap[i], heap[child] = heap[child], heap[i]
        i = child


def first_in_heap(places: NDArray[np.intp]) -> int:
    """Return the place, among equally good ones in ascending order, that Go's heap has on top.

    A place is a path from the top, told by the bits of its number from 1 on; the first path in dictionary order wins.
    """
    numbers = places + 1
    bits = np.frexp(numbers)[1]
    return int(places[np.argmin(numbers << (bits[-1] - bits))])


@dataclass(slots=True)
class Batch(State):
    """The list of one profile, the last cycle that chose a node, and what has been counted: hints and thrown-away lists."""

    left: Candidates | None = None
    signature: str = ""
    created: int = 0
    cycle: int = 0
    chosen: str = ""
    attempts: Copied[Counter[str]] = field(default_factory=Counter)
    flushed: Copied[Counter[str]] = field(default_factory=Counter)
    rescored: int = 0

    @property
    def empty(self) -> bool:
        """True if no node is left."""
        return self.left is None or not self.left.heap


Batches = dict[str, Batch]


def find_hint(cycle: SchedulingCycle, framework: Framework, batches: Batches, grouped: bool) -> str:
    """Return the node to try alone, or "". `grouped`: pods of one group share a cycle. kube: GetNodeHint"""
    batch = batches.setdefault(framework.name, Batch())
    reason = "" if batch.empty else _why_unusable(batch, cycle, framework, grouped)
    if batch.empty or reason:
        batch.attempts["no_hint"] += 1
        if reason:
            batch.flushed[reason] += 1
            cycle.batching = reason
        return ""
    assert batch.left is not None
    hint, batch.left = batch.left.pop()
    cycle.hint = hint
    return hint


def store(cycle: SchedulingCycle, framework: Framework, batches: Batches) -> None:
    """Keep what the choice of a node leaves for the next pod. kube: StoreScheduleResults"""
    batch, chosen = batches.setdefault(framework.name, Batch()), cycle.chosen or ""
    batch.cycle, batch.chosen = cycle.queued.cycle, chosen
    if cycle.hint == chosen:
        batch.attempts["hint_used"] += 1
        return
    if cycle.hint:
        batch.attempts["hint_not_used"] += 1
    board, signature = cycle.scores, sign(framework, cycle.pod)
    if board is None or len(board.rows) < 2 or not signature:
        reason = "empty_list" if board is None or len(board.rows) < 2 else "pod_not_batchable"
        batch.flushed[reason] += 1
        batch.left = None
        cycle.batching = cycle.batching or reason
        return
    batch.left = _collect(board, cycle.nodes).pop()[1]
    batch.signature, batch.created = signature, cycle.t


def _collect(board: ScoreBoard, nodes: NodeTable) -> Candidates:
    assert board.total is not None
    names = tuple(nodes.names[row] for row in board.rows.tolist())
    return Candidates.of(names, tuple(zip(board.plugins, board.raw, strict=True)), board.total)


def _why_unusable(batch: Batch, cycle: SchedulingCycle, framework: Framework, grouped: bool) -> str:
    """Return the reason for which the list says nothing about a pod. kube: batchStateCompatible, refreshHintCandidates"""
    number = cycle.queued.cycle
    if number != batch.cycle + 1 and not (grouped and number == batch.cycle):
        return "pod_skipped"
    rescores = Behavior.BATCH_RESCORE in framework.behaviors
    if rescores and cycle.pod.nominated_node_name:
        return "pod_nominated"
    if sign(framework, cycle.pod) != batch.signature:
        return "pod_incompatible"
    if cycle.t > batch.created + MAX_AGE:
        return "expired"
    row = cycle.nodes.row(batch.chosen)
    if row is None:
        return "node_missing"
    refusal = find_refusal(framework, cycle, np.array([row], np.intp))
    if refusal is None or not refusal.rejected:
        if not rescores:
            return "node_not_full"
        return _rescore(batch, cycle, framework, row) if refusal is None else "filter_error"
    return ""


def _rescore(batch: Batch, cycle: SchedulingCycle, framework: Framework, row: int) -> str:
    """Put the node chosen last back into the list, and score the list anew; return what went wrong. kube: rescoreHintedNode"""
    assert batch.left is not None
    batch.rescored += 1
    places = [place for _, place in batch.left.heap]
    names = [batch.left.names[place] for place in places]
    known = [each for name in names if (each := cycle.nodes.row(name)) is not None]
    if len(known) < len(names):
        return "node_missing"
    before = {plugin: scores[places] for plugin, scores in batch.left.raw}
    found = rescore(framework, cycle, np.array([*known, row], np.intp), before)
    if isinstance(found, str):
        return found
    batch.left = Candidates.of((*names, batch.chosen), *found)
    return ""
