"""Refusals of the present cycle as counted groups: one group for each distinct answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from playground.presenters.scene import cycle_of, scheduler_of
from scheduler_core.world import readonly

FEASIBLE, UNSEEN = readonly.PASSED, readonly.NOT_EVALUATED


@dataclass(frozen=True, slots=True)
class Refusals:
    """`group[i]` of node i: -1 passes so far, -2 not looked at, else an index into `statuses`. `step` is the refusing step or -1."""

    group: NDArray[np.int32]
    step: NDArray[np.int32]
    statuses: tuple[readonly.Status, ...]
    counts: tuple[int, ...]

    def text(self, row: int) -> str:
        """kube's text for a node, "" where it was not refused."""
        group = int(self.group[row])
        return self.statuses[group].message if group >= 0 else ""

    @property
    def feasible(self) -> int:
        return int(np.count_nonzero(self.group == FEASIBLE))

    @property
    def unseen(self) -> int:
        return int(np.count_nonzero(self.group == UNSEEN))


def is_filter_over(cycle: readonly.SchedulingCycleView) -> bool:
    """Return whether Filter is over, extenders included; until then a node that passes is not feasible yet."""
    if cycle.phase is readonly.Phase.EXTENDER_FILTER:
        return False
    return cycle.feasible is not None or cycle.phase not in (readonly.Phase.PRE_FILTER, readonly.Phase.FILTER)


def refusals(sim: readonly.WorldView, names: list[str]) -> Refusals:
    """Return the present cycle's refusals for each node in `names`, in that order; counted again if the cycle has new verdicts."""
    cycle = cycle_of(sim)
    said = (names,) if cycle is None else (names, cycle.number, cycle.node_to_status.fingerprint(), _count_asked(cycle))
    cache = scheduler_of(sim).cache
    known = _LATEST.get(cache)
    if known is None or known[0] != said:
        known = _LATEST[cache] = (said, _refusals(cycle, names))
    return known[1]


_LATEST: WeakKeyDictionary[readonly.CacheView, tuple[tuple[Any, ...], Refusals]] = WeakKeyDictionary()


def unasked(names: list[str]) -> Refusals:
    """Return the refusals of no cycle."""
    nobody = np.full(len(names), UNSEEN, np.int32)
    return Refusals(nobody, nobody, (), ())


def _refusals(cycle: readonly.SchedulingCycleView | None, names: list[str]) -> Refusals:
    if cycle is None:
        return unasked(names)
    if not cycle.pre_filter_status.ok:
        everyone = np.zeros(len(names), np.int32)
        return Refusals(everyone, everyone - 1, (cycle.pre_filter_status,), (len(names),))
    groups = node_to_status(cycle, names).groups()
    group, search, asked = groups.group, cycle.search, _count_asked(cycle)
    if search is not None and not is_filter_over(cycle) and asked < search.stop:  # no plugin was asked about these yet
        ahead = np.zeros(len(cycle.nodes.names) + 1, np.bool_)
        ahead[search.order[asked : search.stop]] = True
        rows = verdict_rows(cycle, names)
        ahead = ahead[:-1] if rows is None else ahead[rows]
        group = np.where(ahead & (group == FEASIBLE), np.int32(UNSEEN), group)
    return Refusals(group, groups.step, groups.statuses, groups.counts)


def _count_asked(cycle: readonly.SchedulingCycleView) -> int:
    """Return the number of nodes that the first Filter plugin was asked about."""
    steps = [step for step in cycle.steps if step.point is readonly.Point.FILTER]
    return sum(step.evaluated for step in steps if step.plugin == steps[0].plugin)


def verdict_rows(cycle: readonly.SchedulingCycleView, names: Sequence[str]) -> NDArray[np.intp] | None:
    """Row of the cycle's snapshot for each of `names` (-1: not in it); None where both lists are the same."""
    theirs = cycle.nodes
    if theirs.names is names or theirs.names == names:
        return None
    return np.fromiter((theirs.rows.get(name, -1) for name in names), np.intp, len(names))


def node_to_status(cycle: readonly.SchedulingCycleView, names: Sequence[str]) -> readonly.NodeToStatus:
    """Return Filter's verdicts so far on the nodes in `names`."""
    rows = verdict_rows(cycle, names)
    return cycle.node_to_status.at(np.arange(len(names), dtype=np.intp) if rows is None else rows)
