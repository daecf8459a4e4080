"""The scheduler's cache: the pods on nodes, including assumed pods, and the snapshot made from it.

Events and assumptions change the cache at once; a cycle reads the NodeTable that `update_snapshot` brought up to date. Each node has a
slot; the columns are numpy arrays over slots, and the snapshot has the same columns in list order, of which only changed rows are copied.

kube: backend/cache/cache.go, backend/cache/snapshot.go @ v1.34.1
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects import Node, Resources, Taint
from scheduler_core.apimachinery.objects.pod import HostPort, Pod
from scheduler_core.base.state import Copied, Derived, Shared, State
from scheduler_core.scheduler.cache.node_tree import NodeTree
from scheduler_core.scheduler.cache.pod_table import PodColumns
from scheduler_core.scheduler.cache.table import NO_PORTS, ImageState, LabelColumn, NodeTable, ResourceIndex

Amounts = NDArray[np.int64]
_FIRST_CAPACITY = 8
_PODS = 0  # column of `counts`
_ALLOWED = 1


class CopiedRows(NamedTuple):
    """The effect of the last `update_snapshot`: its generation and the copied rows (`whole`: a new table, as nodes had changed).

    `rows` are the first MOST_ROWS of `total`: node names with the last change that dirtied them: + - ~ (added, removed, replaced)
    and the pod's key.
    """

    generation: int
    whole: bool
    total: int
    rows: tuple[tuple[str, str], ...] = ()


MOST_ROWS = 64
NOT_COPIED = CopiedRows(0, True, 0)


class CacheError(RuntimeError):
    """An operation that the cache's state does not allow, such as assuming a pod twice."""


@dataclass(frozen=True, slots=True)
class NodeRows:
    """The part of a table that depends only on Node objects and their order; copied worlds with the same nodes share it."""

    resources: int
    names: list[str]
    slots: list[int]
    take: NDArray[np.intp]
    nodes: list[Node]
    unschedulable: NDArray[np.bool_]
    taint_set: NDArray[np.int32]
    taint_sets: list[tuple[Taint, ...]]
    images: dict[str, ImageState]
    rows: dict[str, int]
    by_slot: dict[int, int]
    memo: dict[Hashable, Any] = field(default_factory=dict)
    label_columns: dict[str, LabelColumn] = field(default_factory=dict)


@dataclass(eq=False, repr=False)
class Cache(State):
    """Nodes, the pods on them (bound or assumed), and the columns summed up from both."""

    resources: Copied[ResourceIndex] = field(default_factory=ResourceIndex)
    tree: Copied[NodeTree] = field(default_factory=NodeTree)
    slots: Copied[dict[str, int]] = field(default_factory=dict)
    nodes: Copied[list[Node | None]] = field(default_factory=list)  # by slot; None: only pods of this node
    names: Copied[list[str]] = field(default_factory=list)
    pods: Copied[list[tuple[Pod, ...]]] = field(default_factory=list)
    ports: Copied[dict[int, frozenset[HostPort]]] = field(default_factory=dict)  # slots that use host ports
    where: Copied[dict[str, tuple[Pod, int]]] = field(default_factory=dict)  # pod uid -> (pod, slot)
    columns: Copied[PodColumns] = field(default_factory=PodColumns)
    _assumed: Copied[dict[str, str]] = field(
        default_factory=dict
    )  # pod uid -> node name, not confirmed by the API server
    image_sizes: Copied[dict[str, int]] = field(default_factory=dict)
    image_nodes: Copied[dict[str, dict[str, None]]] = field(default_factory=dict)
    free: Copied[list[int]] = field(default_factory=list)
    allocatable: Copied[Amounts] = field(default_factory=lambda: np.zeros((_FIRST_CAPACITY, 3), np.int64))
    requested: Copied[Amounts] = field(default_factory=lambda: np.zeros((_FIRST_CAPACITY, 3), np.int64))
    nonzero: Copied[Amounts] = field(default_factory=lambda: np.zeros((_FIRST_CAPACITY, 2), np.int64))
    counts: Copied[Amounts] = field(default_factory=lambda: np.zeros((_FIRST_CAPACITY, 2), np.int64))
    _vectors: Derived[Copied[dict[Resources, Shared[Amounts]]]] = field(default_factory=dict)
    generation: int = 0  # counts changes; kube's are numbers of the whole process
    copied: CopiedRows = NOT_COPIED
    _dirty: Copied[dict[int, str]] = field(default_factory=dict)  # slot -> its last change (see CopiedRows)
    _nodes_changed: bool = True
    _rows: Shared[dict[int, int]] = field(
        default_factory=dict
    )  # slot -> row of the last snapshot; replaced, never changed
    _node_rows: Derived[Shared[NodeRows | None]] = None  # of the current nodes, after the first table

    def decoded(self) -> None:
        self._node_rows = None

    # Nodes

    def add_node(self, node: Node) -> None:
        """Add a node, or replace the one of the same name."""
        slot = self._slot(node.name)
        old = self.nodes[slot]
        if old is None:
            self.tree.add(node.zone_key, node.name)
        elif old.zone_key != node.zone_key:
            self.tree.remove(old.zone_key, old.name)
            self.tree.add(node.zone_key, node.name)
        if old is not None:
            self._forget_images(old)
        self.nodes[slot] = node
        for names, size in node.images:
            for name in names:
                # As in kube, the first node that reports an image sets its size for the whole cluster.
                self.image_sizes.setdefault(name, size)
                self.image_nodes.setdefault(name, {})[node.name] = None
        self.allocatable[slot] = 0
        vector = self.vector(node.allocatable)
        self.allocatable[slot] = vector
        self.counts[slot, _ALLOWED] = node.allowed_pods
        self._nodes_changed, self._node_rows = True, None
        self.generation += 1

    def remove_node(self, node: Node) -> None:
        """Remove a node. Its pods stay in the cache until they are deleted."""
        slot = self.slots.get(node.name)
        if slot is None or self.nodes[slot] is None:
            return
        known = self.nodes[slot]
        assert known is not None
        self.tree.remove(known.zone_key, known.name)
        self._forget_images(known)
        self.nodes[slot] = None
        self.allocatable[slot] = 0
        self.counts[slot, _ALLOWED] = 0
        self._drop_slot_if_empty(slot)
        self._nodes_changed, self._node_rows = True, None
        self.generation += 1

    # Pods

    def assume(self, pod: Pod) -> None:
        """Count a pod on its node before the binding. Raise CacheError if the pod is already in the cache."""
        if pod.identity in self.where:
            raise CacheError(f"pod {pod.uid}({pod.key}) is in the cache, so can't be assumed")
        self._place(pod)
        self._assumed[pod.identity] = pod.node_name

    def forget(self, pod: Pod) -> None:
        """Remove an assumed pod. Raise CacheError if it is not assumed."""
        if pod.identity not in self._assumed:
            raise CacheError(f"pod {pod.uid}({pod.key}) wasn't assumed so cannot be forgotten")
        del self._assumed[pod.identity]
        self._take(pod)

    def add_pod(self, pod: Pod) -> None:
        """Add a bound pod from the API server. This confirms an assumption (also one for another node)."""
        self._assumed.pop(pod.identity, None)
        placed = self.where.get(pod.identity)
        if placed is not None and _same_load(placed[0], pod):
            slot = placed[1]
            # Same spec on the same node: the sums stay, kube's remove-then-add moves the pod to the end.
            self.pods[slot] = (*_without(self.pods[slot], placed[0]), pod)
            self.where[pod.identity] = (pod, slot)
            self.columns.put(pod, slot)
            self._dirty[slot] = "~" + pod.key
            self.generation += 1
            return
        if placed is not None:
            self._take(pod)
        self._place(pod)

    def update_pod(self, pod: Pod) -> None:
        """Update a bound pod."""
        self.add_pod(pod)

    def remove_pod(self, pod: Pod) -> None:
        """Remove a bound pod that was deleted; unknown pods are ignored."""
        self._assumed.pop(pod.identity, None)
        if pod.identity in self.where:
            self._take(pod)

    def is_assumed(self, uid: str) -> bool:
        return uid in self._assumed

    @property
    def assumed(self) -> dict[str, str]:
        """Node names by pod key of the pods that the API server has not confirmed yet.

        Two pods of one name share an entry. This happens if a pod is recreated while the former is being bound.
        """
        return {self.where[uid][0].key: node for uid, node in self._assumed.items()}

    # The snapshot

    def update_snapshot(self, table: NodeTable) -> NodeTable:
        """Return the current snapshot: the same table with its dirty rows copied, or a new table if nodes changed."""
        # New nodes move the rows of others and a new resource widens them, so rows cannot be copied one by one.
        if self._nodes_changed or table.requested.shape[1] != len(self.resources):
            fresh = self.table()
            self._rows = self._rows_of_nodes().by_slot
            self._dirty.clear()
            self.columns.settle()
            self._nodes_changed = False
            self.copied = CopiedRows(self.generation, True, len(fresh))
            return fresh
        for slot in self._dirty:
            row = self._rows.get(slot)
            if row is not None:
                table.note_changed(row)
                table.requested[row] = self.requested[slot]
                table.nonzero[row] = self.nonzero[slot]
                table.pod_count[row] = self.counts[slot, _PODS]
                table.pods[row] = self.pods[slot]
                ports = self.ports.get(slot, NO_PORTS)
                # Identity suffices: a set of ports is replaced and never changed.
                if ports is not table.ports[row]:
                    table.ports[row] = ports
                    others = table.rows_with_ports - {row}
                    table.rows_with_ports = others | {row} if ports else others
        self._record_copied()
        self._dirty.clear()
        self.columns.update(table.pod_table, self._rows)
        return table

    def _record_copied(self) -> None:
        names, dirty = self.names, self._dirty
        first = tuple([(names[slot], change) for slot, change in islice(dirty.items(), MOST_ROWS)])
        self.copied = CopiedRows(self.generation, False, len(dirty), first)

    @property
    def dirty(self) -> list[tuple[str, str]]:
        """The rows that have changed since the last `update_snapshot`, in CopiedRows' form."""
        return [(self.names[slot], change) for slot, change in self._dirty.items()]

    @property
    def nodes_changed(self) -> bool:
        """True if the next `update_snapshot` makes a new table."""
        return self._nodes_changed

    def table(self) -> NodeTable:
        """Return a new NodeTable of the current cache."""
        of_nodes = self._rows_of_nodes()
        slots, take = of_nodes.slots, of_nodes.take
        return NodeTable(
            names=of_nodes.names,
            nodes=of_nodes.nodes,
            resources=self.resources,
            allocatable=self.allocatable[take],
            requested=self.requested[take],
            nonzero=self.nonzero[take],
            allowed_pods=self.counts[take, _ALLOWED],
            pod_count=self.counts[take, _PODS],
            unschedulable=of_nodes.unschedulable,
            taint_set=of_nodes.taint_set,
            taint_sets=of_nodes.taint_sets,
            images=of_nodes.images,
            ports=[self.ports.get(slot, NO_PORTS) for slot in slots],
            rows_with_ports=frozenset(row for slot in self.ports if (row := of_nodes.by_slot.get(slot)) is not None),
            pods=[self.pods[slot] for slot in slots],
            pod_table=self.columns.snapshot(of_nodes.by_slot, len(self.names)),
            rows=of_nodes.rows,
            memo=of_nodes.memo,
            label_columns=of_nodes.label_columns,
        )

    def _rows_of_nodes(self) -> NodeRows:
        """Return the rows of the nodes, recomputed after a change of nodes or resources."""
        known = self._node_rows
        if known is None or known.resources != len(self.resources):
            known = self._node_rows = self._new_rows_of_nodes()
        return known

    def _new_rows_of_nodes(self) -> NodeRows:
        names = self.tree.order()
        slots = [self.slots[name] for name in names]
        nodes = [node for slot in slots if (node := self.nodes[slot]) is not None]
        index: dict[tuple[Taint, ...], int] = {}
        taints = np.fromiter((index.setdefault(node.taints, len(index)) for node in nodes), np.int32, len(nodes))
        rows = {name: row for row, name in enumerate(names)}
        return NodeRows(
            resources=len(self.resources),
            names=names,
            slots=slots,
            take=np.array(slots, np.intp),
            nodes=nodes,
            unschedulable=np.fromiter((node.unschedulable for node in nodes), np.bool_, len(nodes)),
            taint_set=taints,
            taint_sets=list(index),
            images=self._image_states(rows),
            rows=rows,
            by_slot={slot: row for row, slot in enumerate(slots)},
        )

    # Below here: slots and columns

    def _slot(self, name: str) -> int:
        slot = self.slots.get(name)
        if slot is not None:
            return slot
        if self.free:
            slot = self.free.pop()
            self.names[slot] = name
        else:
            slot = len(self.names)
            self.names.append(name)
            self.nodes.append(None)
            self.pods.append(())
            if slot == len(self.counts):
                self._grow()
        self.slots[name] = slot
        return slot

    def _grow(self) -> None:
        extra = len(self.counts)
        for column in ("allocatable", "requested", "nonzero", "counts"):
            old = getattr(self, column)
            setattr(self, column, np.concatenate([old, np.zeros((extra, old.shape[1]), np.int64)]))

    def _drop_slot_if_empty(self, slot: int) -> None:
        if self.nodes[slot] is None and not self.pods[slot]:
            del self.slots[self.names[slot]]
            self.free.append(slot)

    def vector(self, amounts: Resources) -> NDArray[np.int64]:
        """Return amounts as one row of the resource columns, int64[R]. Add columns for new names."""
        columns = [self.resources.column(name) for name, _ in amounts.scalar]
        missing = len(self.resources) - self.requested.shape[1]
        if missing > 0:
            pad = ((0, 0), (0, missing))
            self.allocatable = np.pad(self.allocatable, pad)
            self.requested = np.pad(self.requested, pad)
            # Remembered requests are added to rows of the columns and must be as wide.
            self._vectors = {key: np.pad(vector, (0, missing)) for key, vector in self._vectors.items()}
        out = np.zeros(len(self.resources), np.int64)
        out[0], out[1], out[2] = amounts.milli_cpu, amounts.memory, amounts.ephemeral_storage
        for column, (_, amount) in zip(columns, amounts.scalar, strict=True):
            out[column] = amount
        return out

    def _request(self, pod: Pod) -> NDArray[np.int64]:
        vector = self._vectors.get(pod.requests)
        if vector is None:
            vector = self._vectors[pod.requests] = self.vector(pod.requests)
        return vector

    def _place(self, pod: Pod) -> None:
        slot = self._slot(pod.node_name)
        request = self._request(pod)  # may widen the columns
        self.requested[slot] += request
        self.nonzero[slot] += pod.nonzero
        self.counts[slot, _PODS] += 1
        self.pods[slot] = (*self.pods[slot], pod)
        self.where[pod.identity] = (pod, slot)
        self.columns.put(pod, slot)
        if pod.spec.host_ports:
            self.ports[slot] = self.ports.get(slot, NO_PORTS) | frozenset(pod.spec.host_ports)
        self._dirty[slot] = "+" + pod.key
        self.generation += 1

    def _take(self, there: Pod) -> None:
        # Subtract the counted version, not the caller's: if they differ, a remainder would be left.
        pod, slot = self.where.pop(there.identity)
        self.columns.drop(pod)
        self.requested[slot] -= self._request(pod)
        self.nonzero[slot] -= pod.nonzero
        self.counts[slot, _PODS] -= 1
        self.pods[slot] = _without(self.pods[slot], pod)
        if pod.spec.host_ports:
            # Release ports. As in kube, a port that two pods use is free as soon as one of them is removed.
            used = self.ports.pop(slot, NO_PORTS) - frozenset(pod.spec.host_ports)
            if used:
                self.ports[slot] = used
        self._dirty[slot] = "-" + pod.key
        self.generation += 1
        self._drop_slot_if_empty(slot)

    def _forget_images(self, node: Node) -> None:
        for names, _ in node.images:
            for name in names:
                holders = self.image_nodes.get(name, {})
                holders.pop(node.name, None)
                if not holders:
                    self.image_nodes.pop(name, None)
                    self.image_sizes.pop(name, None)

    def _image_states(self, rows: dict[str, int]) -> dict[str, ImageState]:
        states = {}
        for name, holders in self.image_nodes.items():
            # Sorted, because the holders are in the order in which they reported the image.
            having = np.sort(np.fromiter((rows[n] for n in holders if n in rows), np.intp))
            states[name] = ImageState(self.image_sizes[name], having)
        return states


def _same_load(old: Pod, new: Pod) -> bool:
    return (
        old.node_name == new.node_name
        and old.spec is new.spec
        and old.requests == new.requests
        and old.nonzero == new.nonzero
    )


def _without(pods: tuple[Pod, ...], gone: Pod) -> tuple[Pod, ...]:
    """Return the pods without one; as in kube's NodeInfo, the last pod takes its place."""
    for i, pod in enumerate(pods):
        if pod is gone:
            rest = pods[:i] + pods[-1:] + pods[i + 1 : -1] if i < len(pods) - 1 else pods[:i]
            return rest
    return pods
