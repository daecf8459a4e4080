"""What-ifs: a view of the snapshot with pods more or less on some rows, for nominated pods and preemption's dry runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.resources import Resources
from scheduler_core.scheduler.cache.table import NodeTable


@dataclass(frozen=True, slots=True)
class Change:
    """A what-if: one pod more (`sign` 1) or less (-1) on a row. Each row's check sees the changes of its own row alone."""

    row: int
    pod: Pod
    sign: int


def change_rows(view: NodeTable, changes: Sequence[Change]) -> None:
    """Changes a view in place: its sums, pods and ports. `view` is a copy that belongs to the what-if.

    A resource that no column stands for is left out: no node has it, so it decides nothing.
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
    """These pods more on a row."""
    return [Change(row, pod, 1) for pod in pods]
