"""Runs of one plugin at one extension point. Only this module calls plugins there and creates their steps.

Each function calls the plugin, signs its status, and adds the step to the cycle's steps. The caller decides on the effect of the answer,
and loops over plugins, as one plugin is one transition; what-ifs have their own loop (filters.py).

kube: framework/runtime/framework.go (runPreFilterPlugin, runFilterPlugin ... runPostBindPlugin) @ v1.34.1
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.node_to_status import PluginStep
from scheduler_core.scheduler.framework.plugin import Failure, Plugin, Point, PostFilterResult, Rows, Scores, Verdicts
from scheduler_core.scheduler.framework.runtime.framework import Cycle, Framework, NodeCycle, SnapshotCycle
from scheduler_core.scheduler.framework.status import SUCCESS, Code, Status

# Bound once: Python code looks up a member of an enum (3.11), for twenty times the price of a name, and each step needs some.
_SKIP = Code.SKIP
_PRE_FILTER, _FILTER, _PRE_SCORE = Point.PRE_FILTER, Point.FILTER, Point.PRE_SCORE
_SCORE, _NORMALIZE_SCORE = Point.SCORE, Point.NORMALIZE_SCORE

MAX_PERMIT_WAIT = 15 * 60 * 1_000_000_000  # kube: maxTimeout


# Points at which a plugin may be called without work.
MAY_BE_IDLE = (Point.RESERVE, Point.UNRESERVE, Point.PERMIT, Point.PRE_BIND)


def has_effect(framework: Framework, cycle: Cycle, step: PluginStep) -> bool:
    """Return whether a step changed anything: it prepared, rejected, scored, reserved, or wrote something, or it failed."""
    point = step.point
    if step.skipped:
        return False
    if point is _FILTER:
        return step.refused > 0
    if point is Point.POST_FILTER:
        return step.status.ok or bool(step.evidence is not None and step.evidence.candidates)
    if not step.status.ok:
        return True
    if point in (_SCORE, _NORMALIZE_SCORE):
        return step.scores is not None and bool(np.any(step.scores))
    plugin = framework.plugin(step.plugin) if point in MAY_BE_IDLE else None
    return plugin is None or not plugin.is_idle(point, cycle.state, cycle.pod)


# While the pod is queued


def run_pre_enqueue(plugin: Plugin, pod: Pod) -> PluginStep:
    """Run PreEnqueue, before a cycle exists."""
    return PluginStep(Point.PRE_ENQUEUE, plugin.name, plugin.pre_enqueue(pod).by(plugin.name))


def queue_sort_key(framework: Framework, pod: Pod, timestamp: int) -> tuple[int, ...]:
    """Return the sort key of QueueSort. kube: QueueSortFunc"""
    return framework.at(Point.QUEUE_SORT)[0].sort_key(pod, timestamp)


def run_queue_sort(plugin: Plugin, cycle: Cycle, timestamp: int) -> PluginStep:
    """Record whether QueueSort has a valid key for the pod; it ran while the pod was queued."""
    return _keep_answer(Point.QUEUE_SORT, plugin, cycle, plugin.sort_status(cycle.pod, timestamp))


def keep_queued_pass(plugin: Plugin, point: Point, cycle: Cycle) -> PluginStep:
    """Record the step of a plugin that passed the pod before its cycle began."""
    return _keep(cycle, PluginStep(point, plugin.name, SUCCESS, cycle.t, cycle.position))


# From the snapshot to the chosen node: an attempt has about thirty of these steps, so they are created without another call


def run_pre_filter(plugin: Plugin, cycle: SnapshotCycle) -> PluginStep:
    """Run PreFilter. After Skip the plugin's Filter does not run in this cycle."""
    state, name = cycle.state, plugin.name
    result = plugin.pre_filter(state, cycle.pod, cycle.nodes)
    status = result.status.by(name)
    if status.code is _SKIP:
        state.skip_filter = (*state.skip_filter, name)
    step = PluginStep(_PRE_FILTER, name, status, cycle.t, cycle.position, 0, 0, None, None, None, result.node_names)
    cycle.steps.append(step)
    return step


def run_filter(
    plugin: Plugin, cycle: Cycle, state: CycleState, nodes: NodeTable, rows: Rows, stage: str = ""
) -> tuple[PluginStep, NDArray[np.bool_] | None]:
    """Run Filter over all rows, with the state and the snapshot of the stage. Return also a mask of the rejected rows (None: none).

    The step's status is Success if a row passes, else it has the code of the first row's rejection.
    """
    name, evaluated = plugin.name, len(rows)
    verdicts = plugin.filter(state, cycle.pod, nodes, rows) if evaluated else None
    status, refused, count = SUCCESS, None, 0
    if verdicts is not None:
        mask = verdicts.refused
        count = int(np.count_nonzero(mask))
        if count:
            refused = mask
            if count == evaluated:
                first = verdicts.status_at(0)
                status = SUCCESS if first is None else Status(first.code)
    step = PluginStep(
        _FILTER, name, status.by(name), cycle.t, cycle.position, evaluated, count, rows, verdicts, stage=stage
    )
    cycle.steps.append(step)
    return step, refused


def run_post_filter(plugin: Plugin, cycle: SnapshotCycle, failure: Failure) -> tuple[PluginStep, PostFilterResult]:
    """Run PostFilter. Return its step and its result, which the caller carries out."""
    result = plugin.post_filter(cycle.state, cycle.pod, cycle.nodes, failure)
    status = result.status.by(plugin.name)
    step = PluginStep(Point.POST_FILTER, plugin.name, status, cycle.t, cycle.position, evidence=result.evidence)
    cycle.steps.append(step)
    return step, result


def run_nominate(
    plugin: Plugin,
    cycle: SnapshotCycle,
    failure: Failure,
    evidence: Any,
    victims: Sequence[tuple[str, tuple[Pod, ...], int]] | str,
) -> tuple[PluginStep, PostFilterResult]:
    """Finish a PostFilter that waited for the extenders. Return its step and its result, which the caller carries out."""
    result = plugin.nominate(cycle.pod, cycle.nodes, failure, evidence, victims)
    status = result.status.by(plugin.name)
    step = PluginStep(Point.POST_FILTER, plugin.name, status, cycle.t, cycle.position, evidence=result.evidence)
    return _keep(cycle, step), result


def run_pre_score(plugin: Plugin, cycle: SnapshotCycle, rows: Rows) -> PluginStep:
    """Run PreScore. After Skip the plugin's Score does not run in this cycle."""
    state, name = cycle.state, plugin.name
    status = plugin.pre_score(state, cycle.pod, cycle.nodes, rows).by(name)
    if status.code is _SKIP:
        state.skip_score = (*state.skip_score, name)
    step = PluginStep(_PRE_SCORE, name, status, cycle.t, cycle.position, len(rows))
    cycle.steps.append(step)
    return step


def run_score(plugin: Plugin, cycle: SnapshotCycle, rows: Rows) -> PluginStep:
    """Run Score. The step has raw scores, or a status if the plugin cannot score."""
    name = plugin.name
    raw = plugin.score(cycle.state, cycle.pod, cycle.nodes, rows)
    if isinstance(raw, Status):
        step = PluginStep(_SCORE, name, raw.by(name), cycle.t, cycle.position)
    else:
        step = PluginStep(_SCORE, name, SUCCESS, cycle.t, cycle.position, len(raw), 0, rows, None, raw)
    cycle.steps.append(step)
    return step


def run_normalize_score(plugin: Plugin, cycle: SnapshotCycle, rows: Rows, raw: Scores) -> PluginStep:
    """Run NormalizeScore. The step has normalized scores, or a status if the plugin cannot normalize."""
    scores = plugin.normalize(cycle.state, cycle.pod, cycle.nodes, rows, raw)
    if isinstance(scores, Status):
        return _keep_answer(Point.NORMALIZE_SCORE, plugin, cycle, scores)
    step = PluginStep(
        _NORMALIZE_SCORE, plugin.name, SUCCESS, cycle.t, cycle.position, len(scores), 0, rows, None, scores
    )
    cycle.steps.append(step)
    return step


# For the chosen node


def run_reserve(plugin: Plugin, cycle: NodeCycle) -> PluginStep:
    """Run Reserve."""
    status = plugin.reserve(cycle.state, cycle.pod, cycle.node)
    return _keep_answer(Point.RESERVE, plugin, cycle, status)


def run_unreserve(plugin: Plugin, cycle: NodeCycle) -> PluginStep:
    """Run Unreserve, which has no result: the status is unsigned Success, except for an error."""
    failed = plugin.unreserve(cycle.state, cycle.pod, cycle.node)
    status = SUCCESS if failed is None else failed.by(plugin.name)
    return _keep(cycle, PluginStep(Point.UNRESERVE, plugin.name, status, cycle.t, cycle.position))


def run_permit(plugin: Plugin, cycle: NodeCycle) -> PluginStep:
    """Run Permit. With code Wait the pod waits for the step's timeout."""
    result = plugin.permit(cycle.state, cycle.pod, cycle.node)
    return _keep_answer(Point.PERMIT, plugin, cycle, result.status, min(result.timeout, MAX_PERMIT_WAIT))


def wait_on_permit(status: Status, cycle: Cycle) -> PluginStep:
    """Record the end of the wait on Permit: the plugin that signed the status decided. kube: WaitOnPermit"""
    return _keep(cycle, PluginStep(Point.WAIT_ON_PERMIT, status.plugin, status, cycle.t, cycle.position))


def will_pre_bind(plugin: Plugin, cycle: NodeCycle) -> bool:
    """Return whether PreBind has work for the pod. kube: runPreBindPreFlight"""
    return plugin.will_pre_bind(cycle.state, cycle.pod, cycle.node)


def run_pre_bind(plugin: Plugin, cycle: NodeCycle) -> PluginStep:
    """Run PreBind. Its answer arrives after the step's timeout; with code Wait the plugin is then called again."""
    result = plugin.pre_bind(cycle.state, cycle.pod, cycle.node)
    return _keep_answer(Point.PRE_BIND, plugin, cycle, result.status, result.latency or 0)


def run_bind(plugin: Plugin, cycle: NodeCycle) -> PluginStep:
    """Run Bind. Its answer arrives after the step's timeout."""
    result = plugin.bind(cycle.state, cycle.pod, cycle.node)
    return _keep_answer(Point.BIND, plugin, cycle, result.status, result.latency or 0)


def run_post_bind(plugin: Plugin, cycle: NodeCycle) -> PluginStep:
    """Run PostBind, which cannot fail; a text that the plugin leaves in the state is the step's reason."""
    failed = plugin.post_bind(cycle.state, cycle.pod, cycle.node)
    if failed is not None:
        return _keep_answer(Point.POST_BIND, plugin, cycle, failed)
    note = cycle.state.get(f"{Point.POST_BIND}{plugin.name}")
    status = Status(reasons=(note,)) if isinstance(note, str) else SUCCESS
    return _keep_answer(Point.POST_BIND, plugin, cycle, status)


# The answers of extenders, which are called instead of plugins


def extender_answered(
    point: Point,
    name: str,
    cycle: Cycle,
    status: Status,
    evidence: Any,
    *,
    rows: Rows | None = None,
    verdicts: Verdicts | None = None,
    scores: Scores | None = None,
    stage: str = "",
) -> PluginStep:
    """Record the step of an extender (`name`: its URL); `evidence` is its request and its answer."""
    step = PluginStep(
        point,
        name,
        status.by(name),
        cycle.t,
        cycle.position,
        0 if rows is None else len(rows),
        0 if verdicts is None else int(np.count_nonzero(verdicts.refused)),
        rows,
        verdicts,
        scores,
        stage=stage,
        evidence=evidence,
    )
    return _keep(cycle, step)


def _keep_answer(point: Point, plugin: Plugin, cycle: Cycle, status: Status, timeout: int = 0) -> PluginStep:
    name = plugin.name
    return _keep(cycle, PluginStep(point, name, status.by(name), cycle.t, cycle.position, timeout=timeout))


def _keep(cycle: Cycle, step: PluginStep) -> PluginStep:
    cycle.steps.append(step)
    return step
