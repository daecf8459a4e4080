"""What-ifs: a view of the snapshot with pods added to or removed from some rows, for nominated pods and preemption's dry runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects import Node, Pod, Resources, Taint
from scheduler_core.scheduler.cache.table import FIXED_RESOURCES, NO_PORTS, NodeTable, ResourceIndex

# A snapshot with more rows: nodes that an extender modified, without pods and images.
# kube: pkg/scheduler/extender.go (Filter: NewNodeInfo, SetNode) @ v1.34.1


def with_new_rows(table: NodeTable, nodes: Sequence[Node]) -> NodeTable:
    """Return a new table that starts with the rows of `table`. A name refers to its row in `table` if it has one."""
    more = len(nodes)
    own = table.copy()
    for node in nodes:
        for name, _ in node.allocatable.scalar:
            own.resources.column(name)
    taint_sets, taint_set = _taints(table, nodes)
    rows = dict(table.rows)
    for i, node in enumerate(nodes):
        rows.setdefault(node.name, len(table) + i)
    origins = [table.rows.get(node.name, -1) for node in nodes]
    return replace(
        own,
        names=[*table.names, *(node.name for node in nodes)],
        nodes=[*table.nodes, *nodes],
        allocatable=np.concatenate([_wider(table.allocatable, own.resources), _allocatable(own.resources, nodes)]),
        requested=_longer(_wider(table.requested, own.resources), more),
        nonzero=_longer(table.nonzero, more),
        allowed_pods=np.concatenate([table.allowed_pods, _column(node.allowed_pods for node in nodes)]),
        pod_count=_longer(table.pod_count, more),
        unschedulable=np.concatenate([table.unschedulable, np.array([node.unschedulable for node in nodes], np.bool_)]),
        taint_set=np.concatenate([table.taint_set, taint_set]),
        taint_sets=taint_sets,
        ports=[*table.ports, *([NO_PORTS] * more)],
        pods=[*table.pods, *([()] * more)],
        pod_table=table.pod_table.with_rows(len(table) + more),
        rows=rows,
        origins=np.concatenate([np.arange(len(table)), np.array(origins, np.intp)]),
        memo={},
        label_columns={},
    )


def _column(amounts: Iterable[int]) -> NDArray[np.int64]:
    return np.array(list(amounts), np.int64)


def _longer(column: NDArray[np.int64], more: int) -> NDArray[np.int64]:
    return np.concatenate([column, np.zeros((more, *column.shape[1:]), np.int64)])


def _wider(columns: NDArray[np.int64], resources: ResourceIndex) -> NDArray[np.int64]:
    return np.pad(columns, ((0, 0), (0, max(len(resources) - columns.shape[1], 0))))


def _allocatable(resources: ResourceIndex, nodes: Sequence[Node]) -> NDArray[np.int64]:
    out = np.zeros((len(nodes), len(resources)), np.int64)
    for i, node in enumerate(nodes):
        amounts = node.allocatable
        out[i, : len(FIXED_RESOURCES)] = amounts.milli_cpu, amounts.memory, amounts.ephemeral_storage
        for name, amount in amounts.scalar:
            out[i, resources.columns[name]] = amount
    return out


def _taints(table: NodeTable, nodes: Sequence[Node]) -> tuple[list[tuple[Taint, ...]], NDArray[np.int32]]:
    sets = {taints: i for i, taints in enumerate(table.taint_sets)}
    codes = [sets.setdefault(node.taints, len(sets)) for node in nodes]
    return list(sets), np.array(codes, np.int32)


@dataclass(frozen=True, slots=True)
class Change:
    """A what-if: one pod added (`sign` 1) or removed (-1) on a row. The check of a row includes the changes of that row only."""

    row: int
    pod: Pod
    sign: int


def change_rows(view: NodeTable, changes: Sequence[Change]) -> None:
    """Change a view in place: its sums, pods and ports. `view` is a copy that belongs to the what-if.

    A resource without a column is ignored: no node has it, so it has no effect.
    """
    if not changes:
        return
    rows = np.array([change.row for change in changes], np.intp)
    signs = np.array([change.sign for change in changes], np.int64)
    loads: dict[int, int] = {}  # identical pods share their amounts: one vector for each
    which = [loads.setdefault(id(change.pod.requests), i) for i, change in enumerate(changes)]
    vectors = {i: _vector(view, changes[i].pod.requests) for i in loads.values()}
    amounts = np.array([vectors[i] for i in which])
    np.add.at(view.requested, rows, amounts * signs[:, None])
    nonzero = np.array([change.pod.nonzero for change in changes], np.int64)
    np.add.at(view.nonzero, rows, nonzero * signs[:, None])
    np.add.at(view.pod_count, rows, signs)
    for row in rows.tolist():
        view.note_changed(row)
    for change in changes:
        row = change.row
        pods = view.pods[row]
        if change.sign > 0:
            view.pods[row] = (*pods, change.pod)
        else:
            uid = change.pod.uid
            view.pods[row] = tuple([pod for pod in pods if pod.uid != uid])
        if change.pod.spec.host_ports:
            _change_ports(view, change)


def _vector(view: NodeTable, requests: Resources) -> list[int]:
    vector = [0] * view.requested.shape[1]
    vector[:3] = requests.milli_cpu, requests.memory, requests.ephemeral_storage
    for name, amount in requests.scalar:
        column = view.resources.columns.get(name)
        if column is not None and column < len(vector):
            vector[column] = amount
    return vector


def _change_ports(view: NodeTable, change: Change) -> None:
    ports = frozenset(change.pod.spec.host_ports)
    used = view.ports[change.row] | ports if change.sign > 0 else view.ports[change.row] - ports
    view.ports[change.row] = used
    others = view.rows_with_ports - {change.row}
    view.rows_with_ports = others | {change.row} if used else others


def add_pods(row: int, pods: Sequence[Pod]) -> list[Change]:
    """Return the changes that add these pods to a row."""
    return [Change(row, pod, 1) for pod in pods]
