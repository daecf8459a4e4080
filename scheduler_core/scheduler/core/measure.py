"""The sources of a scheduler's metrics: ended cycles, bindings, events, and gates.

A scheduling cycle is counted once, when it ends, from the steps that it keeps, so that single steps have no overhead. Its plugins take no
virtual time; its cost (`cycle_cost`) passes when the decision is made and belongs to no extension point.

DEVIATION: kube also counts the Filter calls of preemption's dry runs, and measures the plugins of one cycle in ten, drawn at random; here
dry runs are not counted and every cycle is.

kube: schedule_one.go, framework/runtime/{framework,instrumented_plugins}.go @ v1.34.1
"""

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.core.cycles.scheduling_cycle import BindingCycle, SchedulingCycle
from scheduler_core.scheduler.core.world import Owner
from scheduler_core.scheduler.framework import Code, PluginStep, Point, Status
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.metrics.catalogue import Figures

OK = Code.SUCCESS.kube_name
_ERROR = Code.ERROR.kube_name
_MANY = 15  # attempts that the SLI's label distinguishes
_VOLUMES = "VolumeBinding"
_STAGES = {Point.FILTER: "predicate", Point.RESERVE: "assume", Point.PRE_BIND: "bind"}
_PREEMPTION = "DefaultPreemption"
_COUNTED = {
    point: "ScoreExtensionNormalize" if point is Point.NORMALIZE_SCORE else point.value
    for point in Point
    if point not in (Point.PRE_ENQUEUE, Point.QUEUE_SORT, Point.WAIT_ON_PERMIT)
}
_LAST = {Point.NORMALIZE_SCORE: Point.SCORE}  # kube runs NormalizeScore as a part of Score


# Scheduling cycles


def cycle_over(scheduler: Owner, cycle: SchedulingCycle) -> None:
    """Record the metrics of a scheduling cycle that succeeded, or that failed and is about to be reported."""
    figures, now = scheduler.figures, scheduler.world.now
    figures.scheduling_algorithm.observe((), (cycle.decided if cycle.chosen else now) - cycle.started)
    _count_steps(figures, cycle)
    _count_points(figures, cycle, scheduler.profiles[cycle.profile], now)


def _count_steps(figures: Figures, cycle: SchedulingCycle) -> None:
    tail = _beyond(cycle)
    for step in cycle.steps:
        label = _COUNTED.get(step.point)
        if label is None:
            continue
        if step.point is Point.FILTER:
            _count_filter(figures, cycle.profile, step, tail)
        else:
            times = step.evaluated if step.point is Point.SCORE and step.status.ok else 1
            figures.calls_at(cycle.profile, label, step.status.code.kube_name)[step.plugin] += times
            if step.point is Point.POST_FILTER and step.plugin == _PREEMPTION:
                figures.preemption_attempts += 1
            elif step.plugin == _VOLUMES and step.status.code is Code.ERROR and step.point in _STAGES:
                figures.volume_errors[(_STAGES[step.point],)] += 1


def _beyond(cycle: SchedulingCycle) -> NDArray[np.bool_] | None:
    """Return a mask of the rows that were evaluated with their block although kube's search had ended before them, or None."""
    search = cycle.search
    if search is None or search.beyond is None:
        return None
    tail = np.zeros(len(cycle.nodes), np.bool_)
    tail[search.order[search.seen : search.stop]] = True
    return tail


def _count_filter(figures: Figures, profile: str, step: PluginStep, tail: NDArray[np.bool_] | None) -> None:
    """Count one call of Filter per node, as kube calls it."""
    nodes = step.evaluated
    if not step.refused:
        if tail is not None:
            nodes -= int(np.count_nonzero(tail[step.rows]))
        figures.calls_at(profile, "Filter", OK)[step.plugin] += nodes
        return
    assert step.verdicts is not None
    evaluated = None if tail is None else ~tail[step.rows]
    refusals = step.verdicts.counted(evaluated)
    nodes = nodes if evaluated is None else int(np.count_nonzero(evaluated))
    figures.calls_at(profile, "Filter", OK)[step.plugin] += nodes - sum(times for _, times in refusals)
    for status, times in refusals:
        figures.calls_at(profile, "Filter", status.code.kube_name)[step.plugin] += times
        if status.code is Code.ERROR and step.plugin == _VOLUMES:
            figures.volume_errors[("predicate",)] += times


def _count_points(figures: Figures, cycle: SchedulingCycle, framework: Framework, now: int) -> None:
    for point, status in _points(cycle, framework):
        figures.extension_point.counts[(point, status, cycle.profile), 0] += 1
    if cycle.feasible is not None and not len(cycle.feasible) and framework.has(Point.POST_FILTER):
        # If the cycle waits for evictions, they are a part of PostFilter.
        took = now - cycle.decided if cycle.evicting else 0
        status = cycle.post_filter.code.kube_name
        figures.extension_point.observe(("PostFilter", status, cycle.profile), took)


def _points(cycle: SchedulingCycle, framework: Framework) -> list[tuple[str, str]]:
    """Return the cycle's extension points, except PostFilter, with the status of each."""
    if not len(cycle.nodes):
        return []
    last = cycle.steps[-1].point
    failed = _LAST.get(last, last) if cycle.chosen is None and cycle.outcome == "error" else None
    points = [("PreFilter", _ERROR if failed is Point.PRE_FILTER else cycle.pre_filter_status.code.kube_name)]
    if cycle.search is not None and framework.has(Point.FILTER):
        if cycle.nominated_mark is not None:
            points.append(("Filter", OK))  # the pod's nominated node is evaluated separately
        elif _has_failed_on_nominated(cycle):
            points.append(("Filter", _ERROR))
        points.append(("Filter", _ERROR if failed is Point.FILTER else OK))
    if cycle.scores is not None and framework.has(Point.SCORE):
        points.append(("PreScore", _ERROR if failed is Point.PRE_SCORE else OK))
        if failed is not Point.PRE_SCORE:
            points.append(("Score", _ERROR if failed is Point.SCORE else OK))
    return points + _points_after(cycle) if cycle.chosen is not None else points


def _has_failed_on_nominated(cycle: SchedulingCycle) -> bool:
    """Return True if the check of the nominated node ended in an internal error, followed by a search of all nodes."""
    if cycle.nominated_refusal is None or cycle.nominated_refusal.code is not Code.ERROR:
        return False
    return any(step.point is Point.FILTER and step.status.code is Code.ERROR for step in cycle.steps[:-1])


def _points_after(cycle: SchedulingCycle) -> list[tuple[str, str]]:
    """Return Reserve, Permit, and Unreserve, with their statuses, for a cycle that has chosen a node."""
    if cycle.outcome == "scheduled":
        return [("Reserve", OK), ("Permit", Code.WAIT.kube_name if cycle.waits else OK)]
    ran = [step for step in cycle.steps if step.point in (Point.RESERVE, Point.PERMIT)]
    if not ran or ran[-1].status.ok:
        return []  # the cache did not assume the pod
    refused = (ran[-1].point.value, ran[-1].status.code.kube_name)
    before = [("Reserve", OK)] if ran[-1].point is Point.PERMIT else []
    return [*before, refused, ("Unreserve", OK)]


def record_failure(scheduler: Owner, result: str, profile: str, started: int) -> None:
    """Record the metrics of an attempt that ends without a binding."""
    scheduler.queue.metrics.attempts[profile, result] += 1
    scheduler.figures.scheduling_attempt.observe((result, profile), scheduler.world.now - started)


# Binding cycles


def record_binding(scheduler: Owner, binding: BindingCycle) -> None:
    """Record the metrics of a bound pod."""
    figures, now, queued = scheduler.figures, scheduler.world.now, binding.queued
    scheduler.queue.metrics.attempts[binding.profile, "scheduled"] += 1
    figures.scheduling_attempt.observe(("scheduled", binding.profile), now - binding.popped)
    figures.pod_scheduling_attempts.observe((), queued.attempts)
    if queued.initial_timestamp is not None:
        label = f"{_MANY}+" if queued.attempts >= _MANY else str(queued.attempts)
        figures.pod_scheduling_sli.observe((label,), now - queued.initial_timestamp)


def record_plugin(scheduler: Owner, binding: BindingCycle, plugin: str, status: Status, over: bool) -> None:
    """Record the duration of a binding cycle's plugin: the time since the previous plugin ended. `over`: its extension point ends, too."""
    figures, now, point = scheduler.figures, scheduler.world.now, str(binding.phase)
    code = OK if status.code is Code.SUCCESS else status.code.kube_name
    figures.plugin_execution.observe((plugin, point, code), now - binding.since)
    if over:
        figures.extension_point.observe((point, code, binding.profile), now - binding.entered)
    binding.since = now
    if code is not OK and plugin == _VOLUMES and status.code is Code.ERROR:
        figures.volume_errors[("bind",)] += 1


# The rest


def record_pre_enqueue(scheduler: Owner, pod: Pod, steps: list[PluginStep]) -> None:
    """Record the PreEnqueue calls for a pod. The extension point's status is Success even if a plugin rejects the pod, as in v1.34.1."""
    profile = pod.spec.scheduler_name
    scheduler.figures.extension_point.counts[("PreEnqueue", OK, profile), 0] += 1
    for step in steps:
        scheduler.figures.calls_at(profile, "PreEnqueue", step.status.code.kube_name)[step.plugin] += 1


def record_event(scheduler: Owner, event: str) -> None:
    """Record a handled watch event; `event` is a cluster event's label."""
    scheduler.figures.event_handling.counts[(event,), 0] += 1


def record_api_call(scheduler: Owner, kind: str, ok: bool, took: int) -> None:
    """Record an answered call of the dispatcher. With the gate off, there is no dispatcher, and nothing is counted."""
    if scheduler.features.async_api_calls:
        labels = (kind, "success" if ok else "error")
        scheduler.figures.async_api_call.observe(labels, took)
