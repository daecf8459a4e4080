"""Why not this node: the result of each Filter plugin for a pod on one node now, and the node's scores if it is feasible.

The plugins run as in an attempt, but outside of any: on a fork whose cache does not count the pod itself, and all Filter plugins run,
while an attempt stops at the first rejection.

kube: schedule_one.go (findNodesThatFitPod, prioritizeNodes), framework/runtime/framework.go @ v1.34.1
"""

from dataclasses import dataclass, replace

import numpy as np

from scheduler_core.analysis.fixes.diagnosis import diagnose_on, scheduler_for
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.cache import Cache
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.framework import CycleState, Point, Rows, Status, unresolvable
from scheduler_core.scheduler.framework.runtime.filters import FilterRunner, find_nominated_rows
from scheduler_core.scheduler.framework.runtime.framework import Framework, Trial
from scheduler_core.scheduler.framework.runtime.points import (
    run_filter,
    run_normalize_score,
    run_pre_filter,
    run_pre_score,
    run_score,
)
from scheduler_core.world.simulation import Simulation


@dataclass(frozen=True, slots=True)
class PluginVerdict:
    """A plugin's verdict on the node: `status` is None if it passes or is skipped; `point` is PreFilter if that rejects all."""

    plugin: str
    point: Point
    skipped: bool = False
    status: Status | None = None


@dataclass(frozen=True, slots=True)
class PluginScore:
    """A plugin's points for the node: raw, normalised, and its weight."""

    plugin: str
    raw: int
    normalized: int
    weight: int


@dataclass(frozen=True, slots=True)
class WhyNot:
    """`refusal` is the rejection of the node in an attempt: the first plugin's, or an extender's. `feasible` counts the nodes that pass.

    `best` are the nodes with the highest total, `top`; `leaves` is the pod's current node.
    """

    pod: str
    node: str
    verdicts: tuple[PluginVerdict, ...] = ()
    refusal: Status | None = None
    feasible: int = 0
    scores: tuple[PluginScore, ...] = ()
    total: int | None = None
    best: tuple[str, ...] = ()
    top: int = 0
    leaves: str = ""
    gates: tuple[str, ...] = ()


def why_not(sim: Simulation, pod_key: str, node: str) -> WhyNot | None:
    """Return the results for a pod and a node, or None if either does not exist or no scheduler is responsible. `sim` does not change."""
    world = sim.fork()
    pod = world.store.pod_at(pod_key)
    scheduler = None if pod is None else scheduler_for(world, pod)
    framework = None if pod is None or scheduler is None else scheduler.framework_of(pod)
    if pod is None or scheduler is None or framework is None:
        return None
    leaves = _take_off(scheduler.cache, pod)
    view = scheduler.snapshot = scheduler.cache.update_snapshot(scheduler.snapshot)
    row = view.row(node)
    if row is None:
        return None
    alone = replace(pod, node_name="")
    diagnosis = diagnose_on(scheduler, framework, alone, view)
    verdicts = list_verdicts(scheduler, framework, alone, view, row)
    status, gates = diagnosis.status_of(node), tuple(pod.spec.scheduling_gates)
    found = WhyNot(pod.key, node, verdicts, status, len(diagnosis.feasible), leaves=leaves, gates=gates)
    if found.refusal is not None:
        return found
    trial = Trial(alone, view, diagnosis.state)
    return _add_scores(found, framework, trial, np.array(diagnosis.feasible, np.intp), row)


def _take_off(cache: Cache, pod: Pod) -> str:
    """Remove a pod from all counts of the cache. Return its node, bound or assumed, or "".

    A pod that stays in the table of pods alone would still be counted by users of that table, such as a spread.
    """
    if pod.identity not in cache.where:
        return ""
    counted, slot = cache.where[pod.identity]
    there = "" if cache.nodes[slot] is None else cache.names[slot]
    cache.remove_pod(counted)
    return there


def list_verdicts(
    scheduler: Scheduler, framework: Framework, pod: Pod, nodes: NodeTable, row: int
) -> tuple[PluginVerdict, ...]:
    trial = Trial(pod, nodes)
    out = [verdict for plugin in framework.at(Point.PRE_FILTER) if (verdict := _pre(plugin, trial, row))]
    state, view = _with_nominated(scheduler, framework, trial, row)
    said = {each.plugin for each in out}
    for plugin in framework.at(Point.FILTER):
        if plugin.name in said:
            continue
        if plugin.name in state.skip_filter:
            out.append(PluginVerdict(plugin.name, Point.FILTER, skipped=True))
            continue
        step, _ = run_filter(plugin, trial, state, view, np.array([row], np.intp))
        refusals = step.refusals()
        status = refusals[0][1].by(plugin.name) if refusals else None
        out.append(PluginVerdict(plugin.name, Point.FILTER, status=status))
    return tuple(out)


def _pre(plugin: object, trial: Trial, row: int) -> PluginVerdict | None:
    """Return the verdict of a PreFilter plugin that rejects all nodes or this one, or None."""
    step = run_pre_filter(plugin, trial)  # type: ignore[arg-type]
    if step.skipped:
        return None
    if not step.status.ok:
        return PluginVerdict(step.plugin, Point.PRE_FILTER, status=step.status)
    if step.node_names is not None and trial.nodes.names[row] not in step.node_names:
        text = f"node(s) didn't satisfy plugin(s) [{step.plugin}]"
        return PluginVerdict(step.plugin, Point.PRE_FILTER, status=unresolvable(text).by(step.plugin))
    return None


def _with_nominated(scheduler: Scheduler, framework: Framework, trial: Trial, row: int) -> tuple[CycleState, NodeTable]:
    """Return state and nodes with the pods nominated to the node, if any: kube's first, stricter pass but for affinity."""
    nominator = scheduler.queue.nominator
    nominated = find_nominated_rows(nominator, trial.pod, trial.nodes, np.array([row], np.intp))
    if not nominated:
        return trial.state, trial.nodes
    view, state = FilterRunner(framework, nominator).with_nominated(trial.state, trial.pod, trial.nodes, nominated)
    return state, view


def _add_scores(found: WhyNot, framework: Framework, trial: Trial, rows: Rows, row: int) -> WhyNot:
    """Return the result with the scores of the node and of all feasible nodes, or without scores if a plugin cannot score."""
    here = int(np.flatnonzero(rows == row)[0])
    total = np.zeros(len(rows), np.int64)
    scores = []
    normalizing = {plugin.name for plugin in framework.at(Point.NORMALIZE_SCORE)}
    for plugin in framework.at(Point.PRE_SCORE):
        status = run_pre_score(plugin, trial, rows).status
        if not status.ok and not status.skipped:
            return found
    for plugin in framework.at(Point.SCORE):
        if plugin.name in trial.state.skip_score:
            continue
        raw = run_score(plugin, trial, rows).scores
        if raw is None:
            return found
        points = run_normalize_score(plugin, trial, rows, raw).scores if plugin.name in normalizing else raw
        if points is None:
            return found
        weight = framework.weights[plugin.name]
        total += points * weight
        scores.append(PluginScore(plugin.name, int(raw[here]), int(points[here]), weight))
    top = int(total.max())
    best = tuple(trial.nodes.names[int(each)] for each in rows[total == top])
    return replace(found, scores=tuple(scores), total=int(total[here]), best=best, top=top)
