"""Refusals of the present cycle as counted groups: one group for each distinct answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from playground.presenters.scene import refused_by
from scheduler_core.view import EXCLUDED, NOT_EVALUATED, PASSED, SchedulingCycleView, Status

FEASIBLE, UNSEEN = -1, -2


@dataclass(frozen=True, slots=True)
class Refusals:
    """`group[i]` of node i: -1 passes so far, -2 not looked at, else an index into `statuses`. `step` is the refusing step or -1."""

    group: NDArray[np.int32]
    step: NDArray[np.int32]
    statuses: tuple[Status, ...]
    counts: tuple[int, ...]

    def text(self, row: int) -> str:
        """kube's text for a node, "" where it was not refused."""
        group = int(self.group[row])
        return self.statuses[group].message if group >= 0 else ""

    def to_groups(self) -> list[dict[str, Any]]:
        """The groups as plain data, the largest first."""
        rows = [
            {
                "text": status.message,
                "plugin": status.plugin,
                "count": count,
                "reasons": list(status.reasons),
            }
            for status, count in zip(self.statuses, self.counts, strict=True)
        ]
        return sorted(rows, key=lambda row: (-row["count"], row["text"]))

    @property
    def feasible(self) -> int:
        return int(np.count_nonzero(self.group == FEASIBLE))

    @property
    def unseen(self) -> int:
        return int(np.count_nonzero(self.group == UNSEEN))


def refusals(cycle: SchedulingCycleView | None, names: list[str]) -> Refusals:
    """What the cycle has said of each node in `names`, in that order."""
    nobody = np.full(len(names), UNSEEN, np.int32)
    if cycle is None:
        return Refusals(nobody, nobody, (), ())
    if not cycle.pre_filter_status.ok:
        everyone = np.zeros(len(names), np.int32)
        return Refusals(everyone, everyone - 1, (cycle.pre_filter_status,), (len(names),))
    steps, reasons = refused_by(cycle, names)
    # One number for each (step, reason); its distinct values are the groups. Steps and reasons are small.
    both = np.where(steps >= 0, steps.astype(np.int64) * 65536 + reasons, steps)
    distinct, inverse = np.unique(both, return_inverse=True)
    statuses: list[Status] = []
    counts: list[int] = []
    index: dict[tuple[str, str], int] = {}
    group_of = np.empty(len(distinct), np.int32)
    sizes = np.bincount(inverse, minlength=len(distinct))
    for i, code in enumerate(distinct):
        if code in (PASSED, NOT_EVALUATED):
            group_of[i] = code
            continue
        status = cycle.absent if code == EXCLUDED else _status(cycle, int(code))
        key = (status.plugin, status.message)
        if key not in index:
            index[key] = len(statuses)
            statuses.append(status)
            counts.append(0)
        group_of[i] = index[key]
        counts[index[key]] += int(sizes[i])
    return Refusals(group_of[inverse], steps, tuple(statuses), tuple(counts))


def _status(cycle: SchedulingCycleView, code: int) -> Status:
    step = cycle.steps[code // 65536]
    if step.verdicts is None:
        return step.status
    return step.verdicts.statuses[code % 65536].by(step.plugin)
