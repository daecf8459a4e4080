"""Asking one plugin directly, as the runtime would: for tests of plugins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scheduler_core.cluster.table import NodeTable
from scheduler_core.config.arguments import default_arguments
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.features import DEFAULT_FEATURES, Features
from scheduler_core.framework.plugin import Assumptions, Plugin, Point, Rows, takes_part
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.objects.pod import Pod
from scheduler_core.plugins.registry import registry


class NoObjects:
    """A handle to an empty API server; `bound` collects (pod, node) of the binding calls, which get `answer`."""

    features: Features = DEFAULT_FEATURES

    def __init__(self, answer: Status = SUCCESS) -> None:
        self.answer = answer
        self.assumed: Assumptions = {}
        self.preempting: Mapping[str, int] | None = {}
        self.bound: list[tuple[str, str]] = []

    def get(self, kind: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        return None

    def list(self, kind: str) -> list[Mapping[str, Any]]:
        return []

    def patch(self, kind: str, namespace: str, name: str, patch: Mapping[str, Any], pod: Pod) -> Status:
        return self.answer

    def held_up(self, pod: Pod, tries: int, calls: int) -> int:
        return 0

    def behind(self, kind: str, namespace: str, name: str) -> bool:
        return False

    def bind(self, pod: Pod, node_name: str) -> Status:
        self.bound.append((pod.key, node_name))
        return self.answer


def make_plugin(name: str, args: Mapping[str, Any] | None = None, handle: NoObjects | None = None) -> Plugin:
    """A built plugin with its arguments, defaults filled in."""
    handle = handle or NoObjects()
    return registry()[name](default_arguments(name, args or {}, handle.features), handle)


def all_rows(nodes: NodeTable) -> Rows:
    return np.arange(len(nodes), dtype=np.intp)


def filtered(
    plugin: Plugin, pod: Pod, nodes: NodeTable, rows: Rows | None = None
) -> dict[str, Status | None]:
    """Per node the plugin's refusal, or None where it passes; a plugin that skips at PreFilter passes all."""
    state = CycleState()
    rows = all_rows(nodes) if rows is None else rows
    out: dict[str, Status | None] = {nodes.names[int(row)]: None for row in rows}
    if takes_part(type(plugin), Point.PRE_FILTER) and plugin.pre_filter(state, pod, nodes).status.skipped:
        return out
    verdicts = plugin.filter(state, pod, nodes, rows)
    if verdicts is not None:
        for row, reason in zip(rows.tolist(), verdicts.reason.tolist(), strict=True):
            out[nodes.names[row]] = None if reason < 0 else verdicts.statuses[reason]
    return out


def scored(plugin: Plugin, pod: Pod, nodes: NodeTable, rows: Rows | None = None) -> dict[str, int] | None:
    """Per node the raw score; None where the plugin skips. ValueError where it can't score."""
    state = CycleState()
    rows = all_rows(nodes) if rows is None else rows
    if takes_part(type(plugin), Point.PRE_SCORE) and not plugin.pre_score(state, pod, nodes, rows).ok:
        return None
    scores = plugin.score(state, pod, nodes, rows)
    if isinstance(scores, Status):
        raise ValueError(scores.message)
    return {nodes.names[int(row)]: int(score) for row, score in zip(rows, scores, strict=True)}


def normalized(plugin: Plugin, pod: Pod, nodes: NodeTable, rows: Rows | None = None) -> dict[str, int] | None:
    """Per node the normalised score; None where the plugin skips."""
    rows = all_rows(nodes) if rows is None else rows
    raw = scored(plugin, pod, nodes, rows)
    if raw is None:
        return None
    scores = np.array(list(raw.values()), np.int64)
    return dict(zip(raw, plugin.normalize(CycleState(), pod, nodes, rows, scores).tolist(), strict=True))
