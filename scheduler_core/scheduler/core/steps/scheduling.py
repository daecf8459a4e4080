"""The scheduling cycle of a Scheduler: pop, the algorithm's steps, assume, Reserve, Permit, and the handling of a failure.

The table of the phases after the algorithm is at the end.

kube: schedule_one.go (ScheduleOne, schedulingCycle, handleSchedulingFailure) @ v1.34.1
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scheduler_core.apiserver.kube_events import WARNING
from scheduler_core.base.trace.kinds import AttemptStarted, PodAssumed
from scheduler_core.scheduler.cache.cache import CacheError
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.core import measure
from scheduler_core.scheduler.core.algorithm import schedule_pod as algorithm
from scheduler_core.scheduler.core.calls.client import note
from scheduler_core.scheduler.core.cycles.phases import Phase, PhaseResult, PhaseRow
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import binding, eviction, extender_calls, journeys
from scheduler_core.scheduler.core.steps.outcome import close, decision, explain, forget, handle_failure
from scheduler_core.scheduler.framework import Code, Plugin, PluginStep, Point, Status, error
from scheduler_core.scheduler.framework.runtime import points
from scheduler_core.scheduler.framework.runtime.framework import record_step
from scheduler_core.scheduler.queue.types import QueuedPod


def begin(scheduler: Scheduler, entry: QueuedPod) -> None:
    """Begin the cycle of a popped pod, unless the pod is passed over."""
    if admit(scheduler, entry):
        open_cycle(scheduler, entry)


def admit(scheduler: Scheduler, entry: QueuedPod) -> bool:
    """Return whether to schedule a popped pod; mark a skipped pod as done."""
    if scheduler.framework_of(entry.pod) is None or skip(scheduler, entry):
        # The pod does not come back, so the queue must not keep events for it.
        scheduler.queue.done(entry.pod.uid)
        journeys.note_place(scheduler, entry.pod)
        _park(scheduler)
        return False
    return True


def open_cycle(scheduler: Scheduler, entry: QueuedPod) -> None:
    """Take the snapshot and begin the cycle of a popped pod."""
    framework = scheduler.framework_of(entry.pod)
    assert framework is not None
    scheduler.snapshot = scheduler.cache.update_snapshot(scheduler.snapshot)
    scheduler.cycle = cycle = make_cycle(scheduler, framework.name, entry, scheduler.snapshot)
    for point in (Point.PRE_ENQUEUE, Point.QUEUE_SORT):  # they ran while the pod was queued
        for plugin in framework.at(point):
            _record(scheduler, cycle, points.keep_queued_pass(plugin, point, cycle))
    sort = framework.at(Point.QUEUE_SORT)[0]
    if not sort.guarded or _is_sorted(scheduler, cycle, sort):
        algorithm.begin(cycle, framework, scheduler.algorithm_state)
    scheduler.push_cycle(0)


def make_cycle(
    scheduler: Scheduler, profile: str, entry: QueuedPod, nodes: NodeTable, within: frozenset[str] | None = None
) -> SchedulingCycle:
    """Return the cycle of a new attempt, which searches the nodes of these names (None: all)."""
    world = scheduler.world
    now, position = world.now, world.position
    world.ids.attempt += 1
    number = world.ids.attempt
    cycle = SchedulingCycle(
        number, scheduler.name, profile, entry, nodes, now, position, t=now, position=position, within=within
    )
    started = AttemptStarted(number, entry.key, profile, cycle.size, entry.attempts)
    cycle.span = world.record(started, scheduler.name)
    return cycle


def assume(scheduler: Scheduler, cycle: SchedulingCycle) -> None:
    """Assume the pod on the chosen node in the cache. Raise CacheError."""
    scheduler.cache.assume(cycle.pod.bound_to(cycle.node))
    # The cache counts the pod from here on; as a nominated pod it would count twice.
    scheduler.queue.nominator.delete(cycle.pod)
    scheduler.world.record(PodAssumed(cycle.pod.key, cycle.node), scheduler.name, cycle.span)


def _is_sorted(scheduler: Scheduler, cycle: SchedulingCycle, plugin: Plugin) -> bool:
    """Return whether a custom QueueSort plugin accepts the pod; if not, fail the cycle."""
    if plugin.sort_status(cycle.pod, cycle.queued.timestamp).ok:
        return True
    step = points.run_queue_sort(plugin, cycle, cycle.queued.timestamp)
    _record(scheduler, cycle, step)
    algorithm.fail_unsorted(cycle, plugin.name, step.status)
    return False


def advance(scheduler: Scheduler) -> None:
    """Run the cycle's next step."""
    cycle = scheduler.cycle
    assert cycle is not None
    cycle.t, cycle.position = scheduler.world.now, scheduler.world.position
    delay = _RUN[cycle.phase](scheduler, cycle)
    if delay is not None:
        scheduler.push_cycle(delay)


def _in_algorithm(scheduler: Scheduler, cycle: SchedulingCycle) -> int | None:
    """Run one step of the algorithm. The decision costs virtual time."""
    step = algorithm.advance(cycle, scheduler.profiles[cycle.profile], scheduler.algorithm_state)
    if step is not None:
        _record(scheduler, cycle, step)
    if cycle.phase in algorithm.IN_ALGORITHM:
        if cycle.extension is not None and cycle.extension.open:
            return extender_calls.send(scheduler, cycle.extension, cycle.span)
        return 0
    decision(scheduler, cycle)
    cost = scheduler.world.settings.cycle_cost
    cycle.decided = scheduler.world.now + cost
    return cost


def _follow(cycle: SchedulingCycle, result: PhaseResult) -> None:
    cycle.phase, cycle.index = _ROWS[cycle.phase].then[result], 0


def _record(scheduler: Scheduler, cycle: SchedulingCycle, step: PluginStep) -> None:
    record_step(scheduler.world, scheduler.name, cycle, step, cycle.nodes)


def skip(scheduler: Scheduler, entry: QueuedPod) -> bool:
    """Return whether to skip a popped pod because it is terminating or already assumed."""
    pod = entry.pod
    if pod.deleting:
        note(scheduler, pod, WARNING, "FailedScheduling", f"skip schedule deleting pod: {pod.key}", "Scheduling")
        return True
    # kube: a pod that is updated during its own cycle, before it is assumed, may get back into the queue.
    return scheduler.is_assumed(pod)


def _park(scheduler: Scheduler) -> int | None:
    """Free the scheduling thread, unless a group's cycle continues. Return None: the cycle has no next step."""
    if scheduler.group is not None and scheduler.group.driving:
        return None
    scheduler.running = False
    scheduler.wake_up()
    return None


# Reserve and Permit


def _reserve(scheduler: Scheduler, cycle: SchedulingCycle) -> int | None:
    """Run one Reserve plugin. The first step also assumes the pod."""
    plugins = scheduler.profiles[cycle.profile].at(Point.RESERVE)
    if cycle.index == 0 and not _assume(scheduler, cycle):
        return 0
    if cycle.index < len(plugins):
        step = points.run_reserve(plugins[cycle.index], cycle)
        _record(scheduler, cycle, step)
        if not step.status.ok:
            return _roll_back(scheduler, cycle, Point.RESERVE, step.status)
    cycle.index += 1
    if cycle.index < len(plugins):
        return 0
    _follow(cycle, PhaseResult.SUCCESS)
    return 0 if scheduler.profiles[cycle.profile].at(Point.PERMIT) else _complete_cycle(scheduler, cycle)


def _assume(scheduler: Scheduler, cycle: SchedulingCycle) -> bool:
    try:
        assume(scheduler, cycle)
    except CacheError as why:
        cycle.failure, cycle.nomination = error(str(why)), ""
        cycle.outcome, cycle.message = "error", str(why)
        _follow(cycle, PhaseResult.ERROR)
        return False
    return True


def _permit(scheduler: Scheduler, cycle: SchedulingCycle) -> int | None:
    """Run one Permit plugin."""
    plugins = scheduler.profiles[cycle.profile].at(Point.PERMIT)
    step = points.run_permit(plugins[cycle.index], cycle)
    _record(scheduler, cycle, step)
    if step.status.code is Code.WAIT:
        cycle.waits = (*cycle.waits, (step.plugin, step.timeout))
    elif not step.status.ok:
        return _roll_back(scheduler, cycle, Point.PERMIT, step.status)
    cycle.index += 1
    return 0 if cycle.index < len(plugins) else _complete_cycle(scheduler, cycle)


def _complete_cycle(scheduler: Scheduler, cycle: SchedulingCycle) -> int | None:
    """Start the binding cycle, and free the scheduling thread."""
    _follow(cycle, PhaseResult.SUCCESS)
    cycle.outcome = "scheduled"
    measure.cycle_over(scheduler, cycle)
    close(scheduler, cycle)
    binding.activate(scheduler, cycle.state)
    binding.start(scheduler, cycle)
    return _park(scheduler)


def _roll_back(scheduler: Scheduler, cycle: SchedulingCycle, point: Point, status: Status) -> int:
    """Roll back after a failure at Reserve or Permit: Unreserve, forget, and fail with kube's error."""
    node = cycle.node
    for plugin in scheduler.profiles[cycle.profile].at(Point.UNRESERVE):
        _record(scheduler, cycle, points.run_unreserve(plugin, cycle))
    forget(scheduler, cycle.pod.bound_to(node), cycle.span)
    cycle.failure, cycle.outcome, cycle.message = explain(point, status)
    cycle.nomination = ""
    cycle.unschedulable_plugins = (status.plugin,) if status.rejected else ()
    _follow(cycle, PhaseResult.REFUSED if status.rejected else PhaseResult.ERROR)
    return 0


# Failure


def _fail(scheduler: Scheduler, cycle: SchedulingCycle) -> int | None:
    """Carry out PostFilter's decision, then handle the failure; either may block the scheduler."""
    if not cycle.evicting and cycle.preemption is not None:
        cycle.evicting = True
        if eviction.start(scheduler, cycle):
            return None  # its end puts the cycle back on the agenda
    # With asynchronous API calls the cycle closes before the status is written.
    measure.cycle_over(scheduler, cycle)
    if scheduler.features.async_api_calls:
        close(scheduler, cycle)
    _follow(cycle, PhaseResult.SUCCESS)
    nomination, why = _nomination(scheduler, cycle), (cycle.failure, cycle.message, cycle.unschedulable_plugins)
    return handle_failure(scheduler, cycle.queued, *why, cycle.started, nomination) or _end(scheduler, cycle)


def _end(scheduler: Scheduler, cycle: SchedulingCycle) -> int | None:
    """Free the scheduling thread. If an API call delayed the end of the cycle, the call has been answered."""
    if cycle.ended is None:
        close(scheduler, cycle)
    return _park(scheduler)


def _nomination(scheduler: Scheduler, cycle: SchedulingCycle) -> str | None:
    """Return the nomination to set; if nominations are expected to last, only PostFilter clears one, until 1.35."""
    if scheduler.keeps_nomination:
        if not any(step.point is Point.POST_FILTER for step in cycle.steps):
            return None
    return cycle.nomination


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulingPhase(PhaseRow):
    """`run` is one step. It returns the time until the next step (ns), or None if it is the last or scheduled elsewhere."""

    run: Callable[[Scheduler, SchedulingCycle], int | None]


SCHEDULING = (
    SchedulingPhase(
        phase=Phase.RESERVE,
        point=Point.RESERVE,
        run=_reserve,
        then={PhaseResult.SUCCESS: Phase.PERMIT, PhaseResult.REFUSED: Phase.FAILED, PhaseResult.ERROR: Phase.FAILED},
    ),
    SchedulingPhase(
        phase=Phase.PERMIT,
        point=Point.PERMIT,
        run=_permit,
        then={PhaseResult.SUCCESS: Phase.DONE, PhaseResult.REFUSED: Phase.FAILED, PhaseResult.ERROR: Phase.FAILED},
    ),
    SchedulingPhase(phase=Phase.FAILED, run=_fail, then={PhaseResult.SUCCESS: Phase.DONE}),
    SchedulingPhase(phase=Phase.DONE, run=_end, then={}),
)
_ROWS: Mapping[Phase, SchedulingPhase] = {row.phase: row for row in SCHEDULING}
_RUN: Mapping[Phase, Callable[[Scheduler, SchedulingCycle], int | None]] = {
    **dict.fromkeys(algorithm.IN_ALGORITHM, _in_algorithm),
    **{row.phase: row.run for row in SCHEDULING},
}
