"""Running one plugin at one extension point: nobody else calls a plugin there, or makes its step.

Each function asks the plugin, signs its status and adds the step to the cycle's; what the answer means to the cycle is the caller's matter.
So are the loops over plugins, as one plugin is one transition; what-ifs have a loop of their own (filters.py).

kube: framework/runtime/framework.go (runPreFilterPlugin, runFilterPlugin ... runPostBindPlugin) @ v1.34.1
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scheduler_core.cluster.table import NodeTable
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.plugin import Failure, Plugin, Point, PostFilterResult, Rows, Scores
from scheduler_core.framework.runtime.cycles import Cycle, NodeCycle, SnapshotCycle
from scheduler_core.framework.runtime.framework import Framework
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.framework.step import PluginStep
from scheduler_core.objects.pod import Pod

MAX_PERMIT_WAIT = 15 * 60 * 1_000_000_000  # kube: maxTimeout


# While the pod is queued


def run_pre_enqueue(plugin: Plugin, pod: Pod) -> PluginStep:
    """PreEnqueue; no cycle has begun."""
    return PluginStep(Point.PRE_ENQUEUE, plugin.name, plugin.pre_enqueue(pod).by(plugin.name))


def queue_sort_key(framework: Framework, pod: Pod, timestamp: int) -> tuple[int, ...]:
    """QueueSort. kube: QueueSortFunc"""
    return framework.at(Point.QUEUE_SORT)[0].sort_key(pod, timestamp)


def passed_while_queued(plugin: Plugin, point: Point, cycle: Cycle) -> PluginStep:
    """The step of a plugin that let the pod pass before its cycle began."""
    return _keep(cycle, PluginStep(point, plugin.name, SUCCESS, cycle.t, cycle.position))


# From the snapshot to the chosen node


def run_pre_filter(plugin: Plugin, cycle: SnapshotCycle) -> PluginStep:
    """PreFilter. With Skip the plugin's Filter does not run in this cycle."""
    state, name = cycle.state, plugin.name
    result = plugin.pre_filter(state, cycle.pod, cycle.nodes)
    status = result.status.by(name)
    if status.code is Code.SKIP:
        state.skip_filter = (*state.skip_filter, name)
    step = PluginStep(Point.PRE_FILTER, name, status, cycle.t, cycle.position, node_names=result.node_names)
    return _keep(cycle, step)


def run_filter(
    plugin: Plugin, cycle: Cycle, state: CycleState, nodes: NodeTable, rows: Rows, stage: str = ""
) -> tuple[PluginStep, NDArray[np.bool_] | None]:
    """Filter over rows at once, with the state and the snapshot of the stage; also which of `rows` it refuses (None: none).

    The step's status is Success while a row passes, else has the code of the first row's refusal.
    """
    verdicts = plugin.filter(state, cycle.pod, nodes, rows) if len(rows) else None
    status, refused, count = SUCCESS, None, 0
    if verdicts is not None:
        refused = verdicts.refused
        count = int(np.count_nonzero(refused))
        if not count:
            refused = None
        elif count == len(rows):
            status = Status(verdicts.statuses[int(verdicts.reason[0])].code)
    step = PluginStep(
        Point.FILTER,
        plugin.name,
        status.by(plugin.name),
        cycle.t,
        cycle.position,
        evaluated=len(rows),
        refused=count,
        rows=rows,
        verdicts=verdicts,
        stage=stage,
    )
    return _keep(cycle, step), refused


def run_post_filter(
    plugin: Plugin, cycle: SnapshotCycle, failure: Failure
) -> tuple[PluginStep, PostFilterResult]:
    """PostFilter, and what is to be carried out."""
    result = plugin.post_filter(cycle.state, cycle.pod, cycle.nodes, failure)
    status = result.status.by(plugin.name)
    step = PluginStep(
        Point.POST_FILTER, plugin.name, status, cycle.t, cycle.position, evidence=result.evidence
    )
    return _keep(cycle, step), result


def run_pre_score(plugin: Plugin, cycle: SnapshotCycle, rows: Rows) -> PluginStep:
    """PreScore. With Skip the plugin's Score does not run in this cycle."""
    state, name = cycle.state, plugin.name
    status = plugin.pre_score(state, cycle.pod, cycle.nodes, rows).by(name)
    if status.code is Code.SKIP:
        state.skip_score = (*state.skip_score, name)
    return _keep(
        cycle, PluginStep(Point.PRE_SCORE, name, status, cycle.t, cycle.position, evaluated=len(rows))
    )


def run_score(plugin: Plugin, cycle: SnapshotCycle, rows: Rows) -> PluginStep:
    """Score: the step has raw scores, or a status where the plugin can't score."""
    raw = plugin.score(cycle.state, cycle.pod, cycle.nodes, rows)
    if isinstance(raw, Status):
        return _keep(
            cycle, PluginStep(Point.SCORE, plugin.name, raw.by(plugin.name), cycle.t, cycle.position)
        )
    return _keep(cycle, _scored(Point.SCORE, plugin, cycle, rows, raw))


def run_normalize_score(plugin: Plugin, cycle: SnapshotCycle, rows: Rows, raw: Scores) -> PluginStep:
    """NormalizeScore: the step has the normalised scores."""
    scores = plugin.normalize(cycle.state, cycle.pod, cycle.nodes, rows, raw)
    return _keep(cycle, _scored(Point.NORMALIZE_SCORE, plugin, cycle, rows, scores))


def _scored(point: Point, plugin: Plugin, cycle: Cycle, rows: Rows, scores: Scores) -> PluginStep:
    return PluginStep(
        point,
        plugin.name,
        SUCCESS,
        cycle.t,
        cycle.position,
        evaluated=len(scores),
        rows=rows,
        scores=scores,
    )


# For the chosen node


def run_reserve(plugin: Plugin, cycle: NodeCycle) -> PluginStep:
    """Reserve."""
    status = plugin.reserve(cycle.state, cycle.pod, cycle.node)
    return _answered(Point.RESERVE, plugin, cycle, status)


def run_unreserve(plugin: Plugin, cycle: NodeCycle) -> PluginStep:
    """Unreserve, which has no answer: its status is nobody's."""
    plugin.unreserve(cycle.state, cycle.pod, cycle.node)
    return _keep(cycle, PluginStep(Point.UNRESERVE, plugin.name, SUCCESS, cycle.t, cycle.position))


def run_permit(plugin: Plugin, cycle: NodeCycle) -> PluginStep:
    """Permit; with code Wait the pod waits for the step's timeout."""
    result = plugin.permit(cycle.state, cycle.pod, cycle.node)
    return _answered(Point.PERMIT, plugin, cycle, result.status, min(result.timeout, MAX_PERMIT_WAIT))


def wait_on_permit(status: Status, cycle: Cycle) -> PluginStep:
    """How the wait on Permit ended: the plugin that signed the status decided. kube: WaitOnPermit"""
    return _keep(cycle, PluginStep(Point.WAIT_ON_PERMIT, status.plugin, status, cycle.t, cycle.position))


def will_pre_bind(plugin: Plugin, cycle: NodeCycle) -> bool:
    """Whether PreBind has something to do. kube: runPreBindPreFlight"""
    return plugin.will_pre_bind(cycle.state, cycle.pod, cycle.node)


def run_pre_bind(plugin: Plugin, cycle: NodeCycle) -> PluginStep:
    """PreBind, whose answer arrives after the step's timeout; with code Wait the plugin is asked again then."""
    result = plugin.pre_bind(cycle.state, cycle.pod, cycle.node)
    return _answered(Point.PRE_BIND, plugin, cycle, result.status, result.latency or 0)


def run_bind(plugin: Plugin, cycle: NodeCycle) -> PluginStep:
    """Bind, whose answer arrives after the step's timeout."""
    result = plugin.bind(cycle.state, cycle.pod, cycle.node)
    return _answered(Point.BIND, plugin, cycle, result.status, result.latency or 0)


def run_post_bind(plugin: Plugin, cycle: NodeCycle) -> PluginStep:
    """PostBind, which can't fail; a text that the plugin leaves in the state is the step's reason."""
    plugin.post_bind(cycle.state, cycle.pod, cycle.node)
    note = cycle.state.get(f"{Point.POST_BIND}{plugin.name}")
    status = Status(reasons=(note,)) if isinstance(note, str) else SUCCESS
    return _answered(Point.POST_BIND, plugin, cycle, status)


def _answered(point: Point, plugin: Plugin, cycle: Cycle, status: Status, timeout: int = 0) -> PluginStep:
    name = plugin.name
    return _keep(cycle, PluginStep(point, name, status.by(name), cycle.t, cycle.position, timeout=timeout))


def _keep(cycle: Cycle, step: PluginStep) -> PluginStep:
    cycle.steps.append(step)
    return step
