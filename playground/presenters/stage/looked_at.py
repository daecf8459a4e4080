"""Looked at: whether an attempt examined a node, and which attempt did so last."""

from __future__ import annotations

from itertools import islice

from playground.presenters.refusals import UNSEEN
from playground.presenters.scene import node_to_status, scheduler_of, table_of
from scheduler_core.world.readonly import Attempt, SchedulingCycleView, WorldView

LOOKED_BACK = 2000  # attempts


def looks_at(cycle: SchedulingCycleView, node: str) -> bool:
    """Return whether a cycle has reached a node: Filter has, or PreFilter refused the pod on all nodes."""
    if node not in cycle.nodes.rows:
        return False
    if not cycle.pre_filter_status.ok:
        return True
    return int(node_to_status(cycle, (node,)).groups().group[0]) != UNSEEN


def scores(cycle: SchedulingCycleView, node: str) -> bool:
    """Return whether the node is among those that are scored."""
    row, board = cycle.nodes.row(node), cycle.scores
    return row is not None and board is not None and row in board.rows


def find_examining_attempt(sim: WorldView, node: str) -> Attempt | None:
    """The last attempt that is known to have examined a node: it chose or nominated it, or it examined as many nodes as there are."""
    everyone = len(table_of(scheduler_of(sim)))
    for attempt in islice(reversed(sim.journal.attempts), LOOKED_BACK):
        if node in (attempt.node, attempt.nominated) or attempt.evaluated >= everyone:
            return attempt
    return None
