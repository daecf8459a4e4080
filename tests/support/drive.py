"""Asking one plugin directly, as the runtime would: for tests of plugins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.config.expand import default_arguments
from scheduler_core.scheduler.framework.claims import ClaimTracker, ObjectCalls
from scheduler_core.scheduler.framework.features import DEFAULT_FEATURES, Features
from scheduler_core.scheduler.framework.formula import Formula
from scheduler_core.scheduler.framework.node_to_status import PluginStep
from scheduler_core.scheduler.framework.plugin import Assumptions, Plugin, Point, Rows, takes_part
from scheduler_core.scheduler.framework.runtime.framework import Trial
from scheduler_core.scheduler.framework.runtime.points import (
    run_filter,
    run_normalize_score,
    run_pre_filter,
    run_pre_score,
    run_score,
)
from scheduler_core.scheduler.framework.status import SUCCESS, Status
from scheduler_core.scheduler.plugins.registry import registry
from scheduler_core.testing.differences import NobodyWaits


class NoObjects(NobodyWaits):
    """A handle to an empty API server; `bound` collects (pod, node) of the binding calls, which get `answer`."""

    features: Features = DEFAULT_FEATURES

    def __init__(self, answer: Status = SUCCESS) -> None:
        self.answer = answer
        self.assumed: Assumptions = {}
        self.snapshot = NodeTable()
        self.preempting: Mapping[str, int] | None = {}
        self.bound: list[tuple[str, str]] = []
        self.claims = ClaimTracker()
        self.claims.connect(lambda: self, False, lambda old, new: None)
        self.device_cost = 0

    def get(self, kind: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        return None

    def list(self, kind: str) -> list[Mapping[str, Any]]:
        return []

    def patch(self, kind: str, namespace: str, name: str, patch: Mapping[str, Any], pod: Pod) -> Status:
        return self.answer

    def held_up(self, pod: Pod, tries: int, calls: int, of: str = "") -> int:
        return 0

    def calls(self, pod: Pod) -> ObjectCalls:
        raise NotImplementedError("there is no API server")

    def note(self, pod: Pod, reason: str, message: str, action: str) -> None:
        """Nobody reads it."""

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


def filter_nodes(plugin: Plugin, pod: Pod, nodes: NodeTable, rows: Rows | None = None) -> dict[str, Status | None]:
    """Per node the plugin's refusal, or None where it passes; a plugin that skips at PreFilter passes all."""
    trial = Trial(pod, nodes)
    rows = all_rows(nodes) if rows is None else rows
    out: dict[str, Status | None] = {nodes.names[int(row)]: None for row in rows}
    if takes_part(type(plugin), Point.PRE_FILTER) and run_pre_filter(plugin, trial).skipped:
        return out
    step, _ = run_filter(plugin, trial, trial.state, nodes, rows)
    return out | {nodes.names[row]: status for row, status in step.refusals()}


def score_nodes(plugin: Plugin, pod: Pod, nodes: NodeTable, rows: Rows | None = None) -> dict[str, int] | None:
    """Per node the raw score; None where the plugin skips. ValueError where it can't score, or its formula comes to another number."""
    trial = Trial(pod, nodes)
    rows = all_rows(nodes) if rows is None else rows
    if takes_part(type(plugin), Point.PRE_SCORE) and not run_pre_score(plugin, trial, rows).status.ok:
        return None
    step = run_score(plugin, trial, rows)
    if step.scores is None:
        raise ValueError(step.status.message)
    for row, score in zip(rows.tolist(), step.scores.tolist(), strict=True):
        _check(plugin, plugin.formula(trial.state, pod, nodes, row), score)
    return _by_name(nodes, rows, step)


def normalize_node_scores(
    plugin: Plugin, pod: Pod, nodes: NodeTable, rows: Rows | None = None
) -> dict[str, int] | None:
    """Per node the normalised score; None where the plugin skips."""
    rows = all_rows(nodes) if rows is None else rows
    raw = score_nodes(plugin, pod, nodes, rows)
    if raw is None:
        return None
    scores, trial = np.array(list(raw.values()), np.int64), Trial(pod, nodes)
    step = run_normalize_score(plugin, trial, rows, scores)
    assert step.scores is not None
    for i, score in enumerate(step.scores.tolist()):
        _check(plugin, plugin.normalization(trial.state, pod, nodes, rows, scores, i), score)
    return _by_name(nodes, rows, step)


def _check(plugin: Plugin, formula: Formula | None, score: int) -> None:
    if formula is None or formula.result != score:
        raise ValueError(f"{plugin.name} scores {score}; its formula says {formula and formula.result}")


def _by_name(nodes: NodeTable, rows: Rows, step: PluginStep) -> dict[str, int]:
    assert step.scores is not None
    return {nodes.names[row]: score for row, score in zip(rows.tolist(), step.scores.tolist(), strict=True)}
