"""One member of a group in a placement: its cycle, and the node that is assumed and released for it.

kube: schedule_one_podgroup.go (podGroupPodSchedulingAlgorithm), schedule_one.go (assumeAndReserve, unreserveAndForget) @ v1.37.2
"""

from scheduler_core.scheduler.cache.cache import CacheError
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.core.algorithm import schedule_pod as algorithm
from scheduler_core.scheduler.core.algorithm.post_filter import fit_error
from scheduler_core.scheduler.core.cycles.group_cycle import GroupCycle
from scheduler_core.scheduler.core.cycles.phases import Phase
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import scheduling
from scheduler_core.scheduler.core.steps.outcome import explain, forget
from scheduler_core.scheduler.framework import Code, PluginStep, Point, Status, error
from scheduler_core.scheduler.framework.runtime import points
from scheduler_core.scheduler.framework.runtime.framework import record_step
from scheduler_core.scheduler.queue.types import QueuedPod


def open_cycle(
    scheduler: Scheduler, group: GroupCycle, member: QueuedPod, nodes: NodeTable, within: tuple[str, ...] | None = None
) -> SchedulingCycle:
    """Return a new cycle of one member, which searches the nodes of a placement (None: all)."""
    names = None if within is None else frozenset(within)
    cycle = scheduling.make_cycle(scheduler, group.profile, member, nodes, names)
    framework = scheduler.profiles[group.profile]
    for point in (Point.PRE_ENQUEUE, Point.QUEUE_SORT):
        for plugin in framework.at(point):
            points.keep_queued_pass(plugin, point, cycle)
    return cycle


def is_searching(cycle: SchedulingCycle) -> bool:
    """Return whether a member's algorithm still runs; it ends before PostFilter."""
    return cycle.phase in algorithm.IN_ALGORITHM and cycle.phase is not Phase.POST_FILTER


def place(scheduler: Scheduler, cycle: SchedulingCycle) -> None:
    """Assume and reserve a member that has a node; set the failure message of a member without one."""
    cycle.decided = scheduler.world.now
    if cycle.chosen is None:
        if cycle.phase is Phase.POST_FILTER:
            cycle.message = fit_error(cycle)
            cycle.failure = Status(Code.UNSCHEDULABLE, (cycle.message,))
            cycle.outcome, cycle.nomination = "unschedulable", None
        return
    try:
        scheduling.assume(scheduler, cycle)
    except CacheError as why:
        cycle.failure, cycle.outcome, cycle.message, cycle.chosen = error(str(why)), "error", str(why), None
        return
    for plugin in scheduler.profiles[cycle.profile].at(Point.RESERVE):
        status = _run(scheduler, cycle, points.run_reserve(plugin, cycle))
        if not status.ok:
            release(scheduler, cycle)
            cycle.failure, cycle.outcome, cycle.message = explain(Point.RESERVE, status)
            cycle.unschedulable_plugins = (status.plugin,) if status.rejected else ()
            cycle.chosen, cycle.nomination = None, ""
            break
    scheduler.snapshot = scheduler.cache.update_snapshot(scheduler.snapshot)


def _run(scheduler: Scheduler, cycle: SchedulingCycle, step: PluginStep) -> Status:
    record_step(scheduler.world, scheduler.name, cycle, step, cycle.nodes)
    return step.status


def release(scheduler: Scheduler, cycle: SchedulingCycle) -> None:
    """Release a member's node: run Unreserve, forget, and restore the pod's own nomination. kube: unreserveAndForget"""
    for plugin in scheduler.profiles[cycle.profile].at(Point.UNRESERVE):
        _run(scheduler, cycle, points.run_unreserve(plugin, cycle))
    forget(scheduler, cycle.pod.bound_to(cycle.node), cycle.span)
    if cycle.pod.nominated_node_name:
        scheduler.queue.nominator.add(cycle.pod, cycle.pod.nominated_node_name)
