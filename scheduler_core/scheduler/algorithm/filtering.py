"""Running a profile's Filter plugins over rows at once, with nominated pods as kube does it.

kube: framework/runtime/framework.go (RunFilterPlugins, RunFilterPluginsWithNominatedPods) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scheduler_core.cluster.table import NodeTable
from scheduler_core.cluster.what_if import Change, added, change_rows
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.plugin import Plugin, Point, Rows
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import Status, error
from scheduler_core.objects.pod import Pod
from scheduler_core.queue.nominator import Nominator


class FilterRunner:
    """The Filter plugins of a profile, for what-ifs (framework.plugin.Filters)."""

    def __init__(self, framework: Framework, nominator: Nominator) -> None:
        self._framework = framework
        self._nominator = nominator

    def adjust(self, state: CycleState, pod: Pod, nodes: NodeTable, changes: Sequence[Change]) -> None:
        """Pods more or less, in the view and in the plugins' state."""
        change_rows(nodes, changes)
        for plugin in self._framework.at(Point.PRE_FILTER):
            if plugin.name not in state.skip_filter:
                plugin.adjust(state, pod, nodes, changes)

    def local_to_rows(self, state: CycleState) -> tuple[object, ...] | None:
        filters = self._framework.at(Point.FILTER)
        if any(not plugin.row_local and plugin.name not in state.skip_filter for plugin in filters):
            return None
        return self._framework.name, state.skip_filter

    def refusals(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> dict[int, Status]:
        """Row -> the first plugin's refusal; rows that pass are not in it."""
        out: dict[int, Status] = {}
        nominated = nominated_rows(self._nominator, pod, nodes, rows)
        if nominated:
            view, what_if = self.with_nominated(state, pod, nodes, nominated)
            self._run(what_if, pod, view, np.array(sorted(nominated), np.intp), out)
            rows = np.array([row for row in rows.tolist() if row not in out], np.intp)
        self._run(state, pod, nodes, rows, out)
        return out

    def with_nominated(
        self, state: CycleState, pod: Pod, nodes: NodeTable, nominated: dict[int, tuple[Pod, ...]]
    ) -> tuple[NodeTable, CycleState]:
        """View and state in which the nominated pods already run on their rows."""
        view, what_if = nodes.copy(), state.copy()
        self.adjust(
            what_if, pod, view, [change for row, pods in nominated.items() for change in added(row, pods)]
        )
        return view, what_if

    def _run(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, out: dict[int, Status]) -> None:
        for plugin in self._framework.at(Point.FILTER):
            if not len(rows):
                return
            if plugin.name in state.skip_filter:
                continue
            rows = _keep(plugin, state, pod, nodes, rows, out)


def _keep(
    plugin: Plugin, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, out: dict[int, Status]
) -> Rows:
    verdicts = plugin.filter(state, pod, nodes, rows)
    if verdicts is None:
        return rows
    refused: NDArray[np.bool_] = verdicts.reason >= 0
    if not refused.any():
        return rows
    signed = [_signed(status, plugin.name) for status in verdicts.statuses]
    for row, reason in zip(rows[refused].tolist(), verdicts.reason[refused].tolist(), strict=True):
        out[row] = signed[reason]
    return rows[~refused]


def _signed(status: Status, plugin: str) -> Status:
    if not status.ok and not status.rejected:
        status = error(f'running "{plugin}" filter plugin: {status.message}')
    return status.by(plugin)


def nominated_rows(
    nominator: Nominator, pod: Pod, nodes: NodeTable, rows: Rows
) -> dict[int, tuple[Pod, ...]]:
    """Rows among `rows` that other pods of at least this pod's priority are nominated to, with those pods."""
    names = nominator.nodes()
    if not names:
        return {}
    wanted = set(rows.tolist())
    out: dict[int, tuple[Pod, ...]] = {}
    for name in names:
        row = nodes.row(name)
        if row is None or row not in wanted:
            continue
        others = tuple(p for p in nominator.counted(name) if p.priority >= pod.priority and p.uid != pod.uid)
        if others:
            out[row] = others
    return out
