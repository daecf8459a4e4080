"""The end of a group's cycle: its members are bound or sent back one by one, and the PodGroup gets its condition.

| group | member | what happens |
|---|---|---|
| success | has a node | assume, Reserve, Permit, and the binding cycle |
| rejected | has a node | fails with the group's reasons; nominated if victims are evicted |
| any | has none | fails with its own reasons |
| error | any | fails with its own error, else with the group's |

kube: schedule_one_podgroup.go (submitPodGroupAlgorithmResult, updatePodGroupCondition) @ v1.37.2
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from scheduler_core.apiserver.rewriting import with_condition
from scheduler_core.base.trace.kinds import ApiCall
from scheduler_core.scheduler.core.cycles.group_cycle import GroupCycle, Stage, unplaced
from scheduler_core.scheduler.core.cycles.phases import Phase
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps.podgroups.members import open_cycle
from scheduler_core.scheduler.framework.groups import KIND
from scheduler_core.scheduler.framework.status import Status
from scheduler_core.scheduler.queue.types import QueuedPod

CONDITION = "PodGroupInitiallyScheduled"


def with_members(entity: QueuedPod, members: Iterable[QueuedPod]) -> QueuedPod:
    """Return an entity with these members."""
    return replace(entity, members=tuple(members))


def prepare(scheduler: Scheduler, group: GroupCycle) -> None:
    """Collect one result for each member; those that were not tried have the group's status. kube: completePodGroupAlgorithmResult"""
    group.stage = Stage.SUBMITTING
    if group.untried or group.nested:
        return
    for member in group.queued.members[len(group.results) :]:
        cycle = open_cycle(scheduler, group, member, scheduler.snapshot)
        cycle.decided = scheduler.world.now
        _refuse(cycle, group.status)
        group.untried.append(cycle)


def _refuse(cycle: SchedulingCycle, status: Status) -> None:
    """Fail a member with a status that no plugin returned."""
    cycle.failure, cycle.message = status, status.message
    cycle.outcome = "unschedulable" if status.rejected else "error"
    cycle.unschedulable_plugins = ()


def advance(scheduler: Scheduler, group: GroupCycle) -> int | None:
    """Turn to the next member, or end the cycle of the group."""
    if group.index < len(group.results):
        cycle = group.results[group.index]
        group.index += 1
        _decide(group, cycle)
        group.driving, scheduler.cycle = True, cycle
        return 0
    cost = _write_condition(scheduler, group)
    if cost and not group.reported:
        group.reported = True
        return cost
    finish(scheduler, group, group.root)
    return None


def _decide(group: GroupCycle, cycle: SchedulingCycle) -> None:
    """Set the next phase of a member's cycle."""
    cycle.index = 0
    if cycle.chosen is not None and group.status.ok:
        cycle.phase = Phase.RESERVE
        return
    cycle.phase = Phase.FAILED
    if not group.status.ok and not group.status.rejected:
        if cycle.outcome != "error":
            _refuse(cycle, group.status)
        cycle.chosen, cycle.nomination = None, ""
    elif cycle.chosen is not None:
        _refuse(cycle, group.status if group.preempts else unplaced(group.status.message))
        cycle.chosen = None
        if not group.preempts:
            cycle.nomination = ""


def finish(scheduler: Scheduler, group: GroupCycle, status: Status) -> None:
    """Requeue the members that came back, and free the scheduling thread."""
    group.stage, group.ended = Stage.OVER, scheduler.world.now
    assert scheduler.queue.groups is not None
    scheduler.queue.groups.take_back(group.queued, status, scheduler.world.now)
    if group.results:
        result = "waiting_on_preemption" if group.preempts else "unschedulable"
        result = "scheduled" if group.status.ok else result if group.status.rejected else "error"
        scheduler.queue.metrics.groups[group.profile, result] += 1
    scheduler.running = False
    scheduler.wake_up()


def _write_condition(scheduler: Scheduler, group: GroupCycle) -> int:
    """Write the PodGroup's condition, which never changes back from True. Return how long (ns) the call takes."""
    world, status = scheduler.world, group.status
    metadata = group.group.get("metadata") or {}
    live = world.store.get(KIND, metadata.get("namespace") or "", metadata.get("name") or "")
    if group.reported or live is None:
        return 0
    reason = "Scheduled" if status.ok else "Unschedulable" if status.rejected else "SchedulerError"
    condition: dict[str, Any] = {
        "type": CONDITION,
        "status": "True" if status.ok else "False",
        "reason": reason,
        "message": status.message,
        "observedGeneration": int((group.group.get("metadata") or {}).get("generation") or 0),
    }
    seen = group.group.get("status") or {}
    existing = next((each for each in seen.get("conditions") or () if each.get("type") == CONDITION), None)
    if existing is not None and existing.get("status") == "True" and not status.ok:
        return 0
    if existing is not None and all(existing.get(name) == value for name, value in condition.items()):
        return 0
    written = with_condition(live.get("status") or {}, condition, world.store.timestamp(world.now), probed=False)
    scheduler.called(ApiCall("PATCH", kind=KIND, object=group.key))
    if written is not None:
        world.store.replace({**live, "status": written}, KIND)
    return world.settings.patch_cost
