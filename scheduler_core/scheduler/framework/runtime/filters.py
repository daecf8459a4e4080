"""The Filter plugins of a profile on what-ifs: all rows at once, with nominated pods like in kube.

This loop is separate from the runner because it creates neither steps nor records: preemption runs it once for each potential victim, a
diagnosis once for all nodes, and both need only the first rejection of each row.

kube: framework/runtime/framework.go (RunFilterPlugins, RunFilterPluginsWithNominatedPods) @ v1.34.1
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.cache.what_if import Change, add_pods, change_rows
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.plugin import Plugin, Point, Rows, Verdicts
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.framework.status import Status, error


class Nominations(Protocol):
    """The nominated pods by node, such as the queue's nominator."""

    def nodes(self) -> list[str]: ...

    def counted(self, node: str) -> tuple[Pod, ...]: ...


@dataclass(frozen=True, slots=True)
class FilterRunner:
    """The Filter plugins of a profile, for what-ifs (framework.plugin.Filters)."""

    _framework: Framework
    _nominations: Nominations

    def adjust(self, state: CycleState, pod: Pod, nodes: NodeTable, changes: Sequence[Change]) -> None:
        """Add or remove pods in the view and the plugins' state. kube: RunPreFilterExtensionAddPod, RunPreFilterExtensionRemovePod"""
        change_rows(nodes, changes)
        for plugin in self._framework.at(Point.PRE_FILTER):
            if plugin.name not in state.skip_filter:
                plugin.adjust(state, pod, nodes, changes)

    def renew(self, state: CycleState, pod: Pod, nodes: NodeTable) -> CycleState:
        """Return a copy of the state that is recomputed for plugins that read more than a row."""
        state = state.copy()
        for plugin in self._framework.at(Point.PRE_FILTER):
            counts = not plugin.row_local and type(plugin).adjust is not Plugin.adjust
            if counts and plugin.name not in state.skip_filter:
                plugin.pre_filter(state, pod, nodes)
        return state

    def local_to_rows(self, state: CycleState) -> tuple[object, ...] | None:
        filters = self._framework.at(Point.FILTER)
        if any(not plugin.row_local and plugin.name not in state.skip_filter for plugin in filters):
            return None
        return self._framework.name, state.skip_filter

    def refusals(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> dict[int, Status]:
        """Return the first plugin's rejection by row; rows that pass are left out."""
        out: dict[int, Status] = {}
        nominated = find_nominated_rows(self._nominations, pod, nodes, rows)
        # Twice, as in kube: nominated pods may never arrive, so a node must fit with them (they take
        # resources) and without (the pod's affinity may be met by them alone).
        if nominated:
            view, what_if = self.with_nominated(state, pod, nodes, nominated)
            self._run(what_if, pod, view, np.array(sorted(nominated), np.intp), out)
            rows = np.array([row for row in rows.tolist() if row not in out], np.intp)
        self._run(state, pod, nodes, rows, out)
        return out

    def with_nominated(
        self, state: CycleState, pod: Pod, nodes: NodeTable, nominated: dict[int, tuple[Pod, ...]]
    ) -> tuple[NodeTable, CycleState]:
        """Return a view and a state in which the nominated pods already run on their rows."""
        view, what_if = nodes.copy(), state.what_if()
        self.adjust(what_if, pod, view, [change for row, pods in nominated.items() for change in add_pods(row, pods)])
        return view, what_if

    def _run(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, out: dict[int, Status]) -> None:
        for plugin in self._framework.at(Point.FILTER):
            if not len(rows):
                return
            if plugin.name in state.skip_filter:
                continue
            rows = _passing(plugin, state, pod, nodes, rows, out)


def _passing(plugin: Plugin, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, out: dict[int, Status]) -> Rows:
    verdicts = plugin.filter(state, pod, nodes, rows)
    if verdicts is None:
        return rows
    refused = verdicts.refused
    if not refused.any():
        return rows
    signed = tuple(_sign_status(status, plugin.name) for status in verdicts.statuses)
    out.update(Verdicts(verdicts.reason, signed).refusals(rows))
    return rows[~refused]


def _sign_status(status: Status, plugin: str) -> Status:
    if not status.ok and not status.rejected:
        return filter_error(plugin, status)
    return status.by(plugin)


def filter_error(plugin: str, status: Status) -> Status:
    """Return an internal error of Filter with kube's message."""
    return error(f'running "{plugin}" filter plugin: {status.message}').by(plugin)


def find_nominated_rows(nominations: Nominations, pod: Pod, nodes: NodeTable, rows: Rows) -> dict[int, tuple[Pod, ...]]:
    """Return the rows to which other pods of at least this pod's priority are nominated, with those pods."""
    names = nominations.nodes()
    if not names:
        return {}
    wanted = set(rows.tolist())
    out: dict[int, tuple[Pod, ...]] = {}
    for name in names:
        row = nodes.row(name)
        if row is None or row not in wanted:
            continue
        counted = nominations.counted(name)
        others = tuple(p for p in counted if p.priority >= pod.priority and p.uid != pod.uid)
        if others:
            out[row] = others
    return out
