"""NodeTable: the columnar snapshot that a scheduling cycle reads.

Row i is the i-th node of kube's NodeInfos().List() (zone round robin). Columns are numpy arrays over all rows; data of Node objects
(labels, taints, images) is interned, and values derived from it stay in `memo` until a Node changes.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.node import Node, Taint
from scheduler_core.apimachinery.objects.pod import HostPort, Pod
from scheduler_core.base.state import Copied, Derived, Shared, State
from scheduler_core.scheduler.cache.pod_table import PodTable

CPU, MEMORY, EPHEMERAL_STORAGE = 0, 1, 2
FIXED_RESOURCES = ("cpu", "memory", "ephemeral-storage")


@dataclass(slots=True, eq=False)
class ResourceIndex(State):
    """Column of each resource name: cpu (in millis), memory and ephemeral-storage first, then scalar resources as they are met."""

    names: Copied[list[str]] = field(default_factory=lambda: list(FIXED_RESOURCES))
    columns: Copied[dict[str, int]] = field(default_factory=lambda: {name: i for i, name in enumerate(FIXED_RESOURCES)})

    def __len__(self) -> int:
        return len(self.names)

    def column(self, name: str) -> int:
        """Return the resource's column; add it if it is new."""
        column = self.columns.get(name)
        if column is None:
            column = self.columns[name] = len(self.names)
            self.names.append(name)
        return column


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """One label key over all rows: `codes[i]` is -1 if the label is absent, else an index into `values`."""

    values: tuple[str, ...]
    codes: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class ImageState:
    """An image in the cluster: its size in bytes, as reported by the first node, and the rows that have it, ascending."""

    size: int
    rows: NDArray[np.intp]

    @property
    def num_nodes(self) -> int:
        return len(self.rows)


NO_PORTS: frozenset[HostPort] = frozenset()
MOST_KEPT = 32


class KeptColumn(NamedTuple):
    """Values computed by row. `missing` rows were never requested; `changed` rows must be computed again."""

    values: NDArray[np.int64]
    missing: NDArray[np.bool_]
    changed: dict[int, None]


@dataclass(slots=True)
class NodeTable(State):
    """The columns. The snapshot owns the arrays: plugins read them and never write. Data of Node objects alone is shared."""

    names: Shared[list[str]] = field(default_factory=list)
    nodes: Shared[list[Node]] = field(default_factory=list)
    resources: Copied[ResourceIndex] = field(default_factory=ResourceIndex)
    allocatable: Shared[NDArray[np.int64]] = field(default_factory=lambda: np.zeros((0, 3), np.int64))  # [n, R]
    requested: Copied[NDArray[np.int64]] = field(default_factory=lambda: np.zeros((0, 3), np.int64))  # [n, R]
    nonzero: Copied[NDArray[np.int64]] = field(
        default_factory=lambda: np.zeros((0, 2), np.int64)
    )  # [n, 2] milli cpu, bytes
    allowed_pods: Shared[NDArray[np.int64]] = field(default_factory=lambda: np.zeros(0, np.int64))
    pod_count: Copied[NDArray[np.int64]] = field(default_factory=lambda: np.zeros(0, np.int64))
    unschedulable: Shared[NDArray[np.bool_]] = field(default_factory=lambda: np.zeros(0, np.bool_))
    taint_set: Shared[NDArray[np.int32]] = field(default_factory=lambda: np.zeros(0, np.int32))  # index into taint_sets
    taint_sets: Shared[list[tuple[Taint, ...]]] = field(default_factory=list)
    images: Shared[dict[str, ImageState]] = field(default_factory=dict)  # by normalized name (with tag)
    ports: Copied[list[frozenset[HostPort]]] = field(default_factory=list)  # per row: used host ports
    rows_with_ports: frozenset[int] = frozenset()
    pods: Copied[list[tuple[Pod, ...]]] = field(default_factory=list)  # per row, in kube's NodeInfo.Pods order
    pod_table: Copied[PodTable] = field(default_factory=PodTable)  # the same pods by column
    rows: Shared[dict[str, int]] = field(default_factory=dict)  # name -> row
    # Of a table with new rows: each row's of the same name in the snapshot, or -1.
    origins: Shared[NDArray[np.intp] | None] = None
    memo: Derived[Shared[dict[Hashable, Any]]] = field(default_factory=dict)  # valid until a Node object changes
    label_columns: Derived[Shared[dict[str, LabelColumn]]] = field(default_factory=dict)
    _kept: Derived[dict[Hashable, Shared[KeptColumn]]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    def row(self, name: str) -> int | None:
        return self.rows.get(name)

    @property
    def snapshot_names(self) -> list[str]:
        """The names of the snapshot's own rows."""
        return self.names if self.origins is None else self.names[: self.snapshot_rows]

    @property
    def snapshot_rows(self) -> int:
        """The number of the snapshot's own rows, which come first."""
        if self.origins is None:
            return len(self.names)
        return int(np.count_nonzero(self.origins == np.arange(len(self.origins))))

    def keep(
        self,
        rows: NDArray[np.intp],
        name: Hashable,
        compute: Callable[..., Any],
        compute_one: Callable[..., int],
        about: Hashable,
    ) -> NDArray[np.int64]:
        """Return `compute(table, rows, about)`, which depends on each row's Node and pods alone; only changed rows are computed.

        `name` identifies the computation; the functions themselves would keep the world of their plugin alive.
        """
        key = name, about
        kept = self._kept.get(key)
        if kept is None:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            kept = self._kept[key] = KeptColumn(np.zeros(len(self), np.int64), np.ones(len(self), np.bool_), {})
        values, missing, changed = kept
        for row in changed:
            values[row] = compute_one(self, row, about)
        changed.clear()
        if np.count_nonzero(missing) and len(late := rows[missing[rows]]):
            values[late] = compute(self, late, about)
            missing[late] = False
        return values[rows]

    def note_changed(self, row: int) -> None:
        """Mark a row's cached values as changed, so that they are recomputed at the next read."""
        for kept in self._kept.values():
            kept.changed[row] = None

    def label(self, key: str) -> LabelColumn:
        """Return the column of a label key. It is created at the first call."""
        column = self.label_columns.get(key)
        if column is None:
            column = self.label_columns[key] = _intern([node.labels.get(key) for node in self.nodes])
        return column


def _intern(raw: list[str | None]) -> LabelColumn:
    index: dict[str, int] = {}
    codes = np.fromiter((-1 if v is None else index.setdefault(v, len(index)) for v in raw), np.int32, len(raw))
    return LabelColumn(tuple(index), codes)
