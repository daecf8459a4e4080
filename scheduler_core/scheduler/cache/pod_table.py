"""Pods by column: the cache's own columns, and the snapshot's copy.

A pod has the same place in both. The cache changes its columns with every event; the snapshot copies only the places that changed since
its last update, and caches earlier counts, so that a count costs only as much as the changes since then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.state import Copied, Derived, Shared, State
from scheduler_core.scheduler.cache.pod_classes import NO_POD, AnyMeasure, PodClass, PodClasses

NO_START = -1  # in `start`: the pod has no start time

_FIRST_CAPACITY = 16
_LOG_LIMIT = 4096
_COUNTS_BYTES = 64 << 20

Counts = NDArray[np.int64]


@dataclass(eq=False, repr=False)
class _Columns(State):
    """Arrays by place. An unused place has class NO_POD and node 0. `node` is a slot in the cache, a row in a snapshot."""

    classes: PodClasses = field(default_factory=PodClasses)
    node: Copied[NDArray[np.int32]] = field(default_factory=lambda: np.zeros(_FIRST_CAPACITY, np.int32))
    cls: Copied[NDArray[np.int32]] = field(default_factory=lambda: np.zeros(_FIRST_CAPACITY, np.int32))
    priority: Copied[NDArray[np.int64]] = field(default_factory=lambda: np.zeros(_FIRST_CAPACITY, np.int64))
    # Start times in ns since 1970, or NO_START.
    start: Copied[NDArray[np.int64]] = field(default_factory=lambda: np.zeros(_FIRST_CAPACITY, np.int64))
    pods: Copied[list[Pod | None]] = field(default_factory=list)  # by place; as long as places in use or free again

    def __len__(self) -> int:
        return len(self.pods)

    def _copy_columns(self, other: _Columns) -> None:
        self.classes = other.classes
        self.node, self.cls = other.node.copy(), other.cls.copy()
        self.priority, self.start = other.priority.copy(), other.start.copy()
        self.pods = list(other.pods)

    def _reserve(self, places: int) -> None:
        missing = places - len(self.cls)
        if missing > 0:
            extra = max(missing, len(self.cls))
            for column in ("node", "cls", "priority", "start"):
                old = getattr(self, column)
                setattr(self, column, np.concatenate([old, np.zeros(extra, old.dtype)]))


@dataclass(eq=False, repr=False)
class PodColumns(_Columns):
    """The cache's pods."""

    _index: Copied[dict[str, int]] = field(default_factory=dict)  # pod uid -> place
    _free: Copied[list[int]] = field(default_factory=list)
    _dirty: Copied[dict[int, None]] = field(default_factory=dict)

    def put(self, pod: Pod, slot: int) -> None:
        """Add a pod, or replace the one of the same identity."""
        place = self._index.get(pod.identity)
        if place is None:
            place = self._index[pod.identity] = self._place()
        self.node[place] = slot
        self.cls[place] = self.classes.of(pod)
        self.priority[place] = pod.priority
        self.start[place] = NO_START if pod.start_time is None else pod.start_time
        self.pods[place] = pod
        self._dirty[place] = None

    def drop(self, pod: Pod) -> None:
        place = self._index.pop(pod.identity)
        self.node[place] = 0
        self.cls[place] = NO_POD
        self.pods[place] = None
        self._free.append(place)
        self._dirty[place] = None

    def snapshot(self, rows: Mapping[int, int], slots: int) -> PodTable:
        """Return a new table of all pods. `rows`: slot -> row of the nodes in it; pods of other slots are left out."""
        row_of_slot = np.full(max(slots, 1), -1, np.int32)
        row_of_slot[np.fromiter(rows.keys(), np.intp, len(rows))] = np.fromiter(rows.values(), np.int32, len(rows))
        table = PodTable(self.classes, _rows=len(rows))
        table._copy_columns(self)
        table.node = row_of_slot[self.node]
        outside = table.node < 0
        # Any row is valid, because NO_POD counts 0 in every measure; `update` also writes 0, and `_move` compares.
        table.node[outside] = 0
        table.cls[outside] = NO_POD
        return table

    def settle(self) -> None:
        """Mark all places as clean after a new snapshot."""
        self._dirty.clear()

    def update(self, table: PodTable, rows: Mapping[int, int]) -> None:
        """Update a snapshot: copy the places that changed since it was created or last updated."""
        if not self._dirty:
            return
        table._reserve(len(self.cls))
        table.pods.extend([None] * (len(self.pods) - len(table.pods)))
        for place in self._dirty:
            row = rows.get(int(self.node[place]), -1)
            cls = int(self.cls[place])
            if row < 0:
                row, cls = 0, NO_POD
            table._move(place, row, cls)
            table.priority[place] = self.priority[place]
            table.start[place] = self.start[place]
            table.pods[place] = self.pods[place]
        self._dirty.clear()

    def _place(self) -> int:
        if self._free:
            return self._free.pop()
        place = len(self.pods)
        self.pods.append(None)
        self._reserve(place + 1)
        return place


@dataclass(eq=False, repr=False)
class PodTable(_Columns):
    """A snapshot's pods: `node[i]` is the row of the pod in place i, `cls[i]` its class (NO_POD: no pod there)."""

    _rows: int = 0
    _zeros: Derived[Shared[Counts]] = field(init=False)
    _log: Derived[Copied[list[tuple[int, int, int]]]] = field(default_factory=list)  # row, class, +1 or -1 pod
    _log_start: Derived[Shared[int]] = 0  # entries that were dropped
    # Measure -> counts at a position of the log.
    _counts: Derived[Copied[dict[object, Shared[tuple[Counts, int]]]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.decoded()

    def decoded(self) -> None:
        self._zeros = np.zeros(self._rows, np.int64)

    def with_rows(self, rows: int) -> PodTable:
        """Return the same pods in a table of `rows` rows."""
        table = PodTable(self.classes, _rows=rows)
        table._copy_columns(self)
        return table

    def counts(self, measure: AnyMeasure) -> Counts:
        """Return the sum of the measure over each row's pods, int64[n]; callers must not write to it."""
        key, weights = self.classes.resolve(measure)
        if weights is None:
            return self._zeros
        position = self._log_start + len(self._log)
        cached = self._counts.get(key)
        if cached is not None and cached[1] == position:
            return cached[0]
        if cached is not None and self._log_start <= cached[1] and position - cached[1] <= self._worth_it:
            counts = self._caught_up(cached[0], weights, cached[1])
        else:
            by_pod = weights[self.cls]
            where = np.flatnonzero(by_pod)
            # bincount sums weights as float64, which is exact for whole numbers below 2**53.
            sums = np.bincount(self.node[where], weights=by_pod[where], minlength=self._rows)
            counts = sums.astype(np.int64)
        if cached is None and len(self._counts) >= max(64, _COUNTS_BYTES // (8 * self._rows + 1)):
            self._counts.clear()
        self._counts[key] = counts, position
        return counts

    def list_classes(self, accepts: Callable[[PodClass], bool]) -> list[int]:
        """Return the numbers of the classes in this table that pass a test."""
        here = np.unique(self.cls[: len(self.pods)]).tolist()
        return [number for number in here if number != NO_POD and accepts(self.classes.classes[number])]

    def list_pods(self, accepts: Callable[[PodClass], bool]) -> list[Pod]:
        """Return the pods whose class passes a test: a class is tested once, however many pods it has."""
        places = np.flatnonzero(np.isin(self.cls[: len(self.pods)], self.list_classes(accepts)))
        return [pod for place in places.tolist() if (pod := self.pods[place]) is not None]

    @property
    def _worth_it(self) -> int:
        """The number of changes up to which an incremental count is faster than a new one."""
        return 64 + len(self.pods) // 16

    def _caught_up(self, counts: Counts, weights: Counts, position: int) -> Counts:
        fresh: Counts | None = None
        for row, cls, sign in self._log[position - self._log_start :]:
            weight = weights[cls]
            if weight:
                if fresh is None:
                    # Copied worlds share the cached array, and callers may still hold it.
                    fresh = counts.copy()
                fresh[row] += sign * weight
        return counts if fresh is None else fresh

    def _move(self, place: int, row: int, cls: int) -> None:
        old_row, old_cls = int(self.node[place]), int(self.cls[place])
        if (old_row, old_cls) == (row, cls):
            return
        if old_cls != NO_POD:
            self._log.append((old_row, old_cls, -1))
        if cls != NO_POD:
            self._log.append((row, cls, 1))
        self.node[place] = row
        self.cls[place] = cls
        if len(self._log) > _LOG_LIMIT:
            # Counts from before this point no longer have a position in the log, and are recomputed.
            self._log_start += len(self._log)
            self._log.clear()
