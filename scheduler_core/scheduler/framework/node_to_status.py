"""NodeToStatus: the Filter statuses of one cycle for each row of the snapshot. Only this class reads the arrays that the search writes.

kube: staging/src/k8s.io/kube-scheduler/framework/interface.go (NodeToStatus), framework/types.go (Diagnosis) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.base.state import SharedState
from scheduler_core.scheduler.framework.plugin import Point, Rows, Scores, Verdicts
from scheduler_core.scheduler.framework.status import SUCCESS, Code, Status

# A step: one run of a plugin at one extension point, and the content of its record.


@dataclass(slots=True, eq=False)
class PluginStep(SharedState):
    """The run of one plugin at one extension point. `rows`, `verdicts` and `scores` are per-node details, read on demand.

    Immutable by convention, not `frozen`: that makes construction five times as slow, and an attempt constructs about thirty.
    """

    point: Point
    plugin: str
    status: Status = SUCCESS
    t: int = 0
    position: int = 0
    evaluated: int = 0
    refused: int = 0
    rows: Rows | None = None
    verdicts: Verdicts | None = None
    scores: Scores | None = None
    node_names: frozenset[str] | None = None
    timeout: int = 0
    stage: str = ""  # of Filter: the pass
    evidence: Any = None  # of PostFilter: the data of its decision

    @property
    def skipped(self) -> bool:
        return self.status.skipped

    def refusals(self) -> list[tuple[int, Status]]:
        """Return the rows that Filter rejected, each with the plugin's status."""
        if self.rows is None or self.verdicts is None:
            return []
        return self.verdicts.refusals(self.rows)


# The values of a row that no step rejected.
PASSED = -1
NOT_EVALUATED = -2
EXCLUDED = -3  # not in PreFilter's result


@dataclass(slots=True)
class Groups:
    """Rows grouped by status. `group[i]` of row i is PASSED, NOT_EVALUATED or an index into `statuses`; `counts` are the numbers of rows.

    `step[i]` is the step that rejected the row, or negative if none did.
    """

    group: NDArray[np.int32]
    step: NDArray[np.int32]
    statuses: tuple[Status, ...]
    counts: tuple[int, ...]


@dataclass(slots=True)
class NodeToStatus:
    """`refused_by[i]` is the step that rejected row i, or a constant above; `reason[i]` is an index into the statuses of its verdicts.

    Both are empty before Filter. `absent` is the status of excluded rows, `whole` PreFilter's rejection of all (Success: there is none).
    """

    refused_by: NDArray[np.int32]
    reason: NDArray[np.int32]
    steps: Sequence[PluginStep]
    absent: Status = SUCCESS
    whole: Status = SUCCESS

    def frozen(self) -> NodeToStatus:
        """Return a copy that later changes don't affect."""
        return replace(self, refused_by=self.refused_by.copy(), reason=self.reason.copy(), steps=list(self.steps))

    def __len__(self) -> int:
        """Return the number of rows, or 0 before Filter."""
        return len(self.refused_by)

    def status_of(self, row: int) -> Status | None:
        """Return the status that refused a row, or None if the row passed or was not evaluated."""
        if not self.whole.ok:
            return self.whole
        step = int(self.refused_by[row]) if row < len(self.refused_by) else NOT_EVALUATED
        if step == EXCLUDED:
            return self.absent
        return None if step < 0 else self._refusal(step, int(self.reason[row]))

    def codes(self, rows: int) -> NDArray[np.int8]:
        """Return the code of each row when none is feasible. kube: a node without a status of its own is unresolvable"""
        if not self.whole.ok:
            return np.full(rows, int(self.whole.code), np.int8)
        codes = np.full(rows, int(Code.UNRESOLVABLE), np.int8)
        codes[self.refused_by == EXCLUDED] = int(self.absent.code)
        for i, statuses in self._refusing():
            mine = np.flatnonzero(self.refused_by == i)
            codes[mine] = np.array([int(status.code) for status in statuses], np.int8)[self.reason[mine]]
        return codes

    def counted(self) -> Iterator[tuple[Status, int]]:
        """Yield each status with the number of its rows, step by step; the status of excluded rows comes last."""
        for i, statuses in self._refusing():
            counts = np.bincount(self.reason[self.refused_by == i], minlength=len(statuses)).tolist()
            yield from ((self._refusal(i, j), count) for j, count in enumerate(counts) if count)
        excluded = int(np.count_nonzero(self.refused_by == EXCLUDED))
        if excluded:
            yield self.absent, excluded

    def fingerprint(self) -> tuple[bytes, bytes, Status, Status]:
        """Return a key; if equal at two moments of one cycle, all statuses are equal, because past steps don't change."""
        return self.refused_by.tobytes(), self.reason.tobytes(), self.absent, self.whole

    def groups(self) -> Groups:
        """Group the rows with the same plugin and the same message."""
        # One number for each (step, reason); its distinct values are the answers. Steps and reasons are small.
        both = np.where(self.refused_by >= 0, self.refused_by.astype(np.int64) * 65536 + self.reason, self.refused_by)
        answers, inverse = np.unique(both, return_inverse=True)
        sizes = np.bincount(inverse, minlength=len(answers)).tolist()
        index: dict[tuple[str, str], int] = {}
        statuses: list[Status] = []
        counts: list[int] = []
        group_of = np.empty(len(answers), np.int32)
        for i, (answer, size) in enumerate(zip(answers.tolist(), sizes, strict=True)):
            if answer in (PASSED, NOT_EVALUATED):
                group_of[i] = answer
                continue
            status = self.absent if answer == EXCLUDED else self._refusal(*divmod(answer, 65536))
            group = index.setdefault((status.plugin, status.message), len(statuses))
            if group == len(statuses):
                statuses.append(status)
                counts.append(0)
            group_of[i] = group
            counts[group] += size
        return Groups(group_of[inverse], self.refused_by, tuple(statuses), tuple(counts))

    def is_excluded(self, row: int) -> bool:
        """Return whether PreFilter excluded the row's node."""
        return row < len(self.refused_by) and int(self.refused_by[row]) == EXCLUDED

    def is_evaluated(self, row: int) -> bool:
        """Return whether the search reached the row, or PreFilter excluded it."""
        return row < len(self.refused_by) and int(self.refused_by[row]) != NOT_EVALUATED

    @property
    def refused(self) -> Rows:
        """The rows with a status of their own."""
        return np.flatnonzero(self.refused_by >= 0)

    def plugins(self) -> set[str]:
        """Return the plugins that rejected a row."""
        return {self.steps[i].plugin for i in np.unique(self.refused_by).tolist() if i >= 0}

    def at(self, rows: Rows) -> NodeToStatus:
        """Return the statuses of these rows, in this order; row -1 is in no snapshot, and so not evaluated."""
        known = (rows >= 0) & (rows < len(self.refused_by))
        refused_by = np.full(len(rows), NOT_EVALUATED, np.int32)
        reason = np.zeros(len(rows), np.int32)
        refused_by[known], reason[known] = self.refused_by[rows[known]], self.reason[rows[known]]
        return replace(self, refused_by=refused_by, reason=reason)

    def _refusing(self) -> Iterator[tuple[int, tuple[Status, ...]]]:
        """Yield each step that rejected a row when it ran, with the statuses of its verdicts."""
        for i, step in enumerate(self.steps):
            if step.verdicts is not None and step.refused:
                yield i, step.verdicts.statuses

    def _refusal(self, step: int, reason: int) -> Status:
        ran = self.steps[step]
        assert ran.verdicts is not None
        return ran.verdicts.statuses[reason].by(ran.plugin)
