"""The cycle of a pod group, step by step: each placement is tried member by member, then the members are bound or sent back.

Members are assumed and reserved while a placement is tried, and released in reverse order at its end. The result is then applied member
by member, as with single pods.

DEVIATION: kube assumes the members in its snapshot alone; here the cache has them meanwhile, in no virtual time.

kube: schedule_one_podgroup.go @ v1.37.2
"""

from collections.abc import Callable, Mapping

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.core.algorithm import schedule_pod as algorithm
from scheduler_core.scheduler.core.cycles.group_cycle import GroupCycle, MemberTrial, Stage, Trial, unplaced
from scheduler_core.scheduler.core.cycles.phases import Phase
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import extender_calls, scheduling
from scheduler_core.scheduler.core.steps.podgroups import members, placements, preemption, submission
from scheduler_core.scheduler.framework import SUCCESS, Code, Status, error, groups
from scheduler_core.scheduler.framework.groups import PodGroupState
from scheduler_core.scheduler.framework.runtime.framework import record_step
from scheduler_core.scheduler.plugins.gangscheduling import GangScheduling
from scheduler_core.scheduler.queue.types import QueuedPod


def start(scheduler: Scheduler) -> None:
    """Pop the next entity and begin its cycle, or park the scheduling thread if the queue is empty."""
    entry = scheduler.queue.pop(scheduler.world.now)
    if entry is None:
        scheduler.running = False
    else:
        begin(scheduler, entry)


def begin(scheduler: Scheduler, entry: QueuedPod) -> None:
    """Begin the cycle of a popped pod or group."""
    if entry.members:
        # Take the snapshot, check the group, and generate its placements. kube: scheduleOnePodGroup.
        world = scheduler.world
        scheduler.running = True
        scheduler.snapshot = scheduler.cache.update_snapshot(scheduler.snapshot)
        world.ids.attempt += 1
        state = scheduler.pod_group(entry.pod.namespace, entry.pod.name)
        manifest = {} if state is None else state.manifest
        profile = entry.members[0].pod.spec.scheduler_name
        group = GroupCycle(world.ids.attempt, profile, entry, manifest, world.now)
        scheduler.group = group
        problem = _find_problem(scheduler, entry, state)
        if state is None or problem:
            group.status = group.root = error(problem or f'podgroup.scheduling.k8s.io "{entry.pod.name}" not found')
            submission.prepare(scheduler, group)
        elif _drop_skipped(scheduler, group):
            group.before = len(state.scheduled)
            _make_trials(scheduler, group, state)
        scheduler.push_cycle(0)
    else:
        scheduler.group = None
        scheduling.begin(scheduler, entry)


def advance(scheduler: Scheduler) -> None:
    """Run the next step of the current cycle."""
    group = scheduler.group
    if group is None or group.stage is Stage.OVER or group.driving:
        scheduling.advance(scheduler)
        if group is None or not group.driving or not _is_over(scheduler.cycle):
            return
        group.driving = False
        scheduler.push_cycle(0)
        return
    delay = _RUN[group.stage](scheduler, group)
    if delay is not None:
        scheduler.push_cycle(delay)


def _is_over(cycle: SchedulingCycle | None) -> bool:
    return cycle is None or (cycle.phase is Phase.DONE and cycle.ended is not None)


# Opening


def _find_problem(scheduler: Scheduler, entity: QueuedPod, state: PodGroupState | None) -> str:
    """Return why the members cannot be scheduled as one group, or "". kube: validatePodGroup"""
    if state is None:
        return ""
    first = entity.members[0].pod
    own_policy = scheduler.features.group_preemption_policy
    policy = groups.preemption_policy(state.manifest) if own_policy else first.spec.preemption_policy
    wanted = groups.priority(state.manifest)
    for pod in (*(each.pod for each in entity.members), *state.scheduled):
        problem = _mismatch(pod, first.spec.scheduler_name, wanted, policy, own_policy)
        if problem:
            return problem
    if scheduler.framework_of(first) is None:
        return f'profile not found for scheduler name "{first.spec.scheduler_name}"'
    return ""


def _mismatch(pod: Pod, scheduler_name: str, priority: int, policy: str, own_policy: bool) -> str:
    of_pods = "all pods in a single pod group should have the same"
    if pod.spec.scheduler_name != scheduler_name:
        return f'{of_pods} .spec.schedulerName set, got: "{pod.spec.scheduler_name}" and "{scheduler_name}"'
    if pod.priority != priority:
        return f"{of_pods} priority as the pod group's priority, got {pod.priority} and {priority}"
    if pod.spec.preemption_policy != policy:
        of_group = " as the pod group's preemption policy" if own_policy else ""
        return f"{of_pods} preemption policy{of_group}, got {pod.spec.preemption_policy} and {policy}"
    return ""


def _drop_skipped(scheduler: Scheduler, group: GroupCycle) -> bool:
    """Drop members that are deleted or assumed; False if none is left. kube: skipPodGroupPodSchedule"""
    kept = []
    for member in group.queued.members:
        if scheduling.skip(scheduler, member):
            scheduler.queue.done(member.pod.uid)
        else:
            kept.append(member)
    if kept:
        group.queued = submission.with_members(group.queued, kept)
        return True
    submission.finish(scheduler, group, SUCCESS)
    return False


def _make_trials(scheduler: Scheduler, group: GroupCycle, state: PodGroupState) -> None:
    found = placements.generate(scheduler, group.group, state)
    if isinstance(found, Status):
        group.status = group.root = found
        _conclude(scheduler, group)
        return
    group.trials = found
    _open_trial(scheduler, group)


# Trying


def _open_trial(scheduler: Scheduler, group: GroupCycle) -> None:
    """Check whether the placement can hold the quorum, and begin the first member."""
    trial = group.trial
    trial.scheduled, trial.remaining = group.before, len(group.queued.members)
    trial.status = _judge(scheduler, group, trial)
    if trial.status.code is Code.UNSCHEDULABLE:
        trial.status = unplaced(*trial.status.reasons)
        _close_trial(scheduler, group)
    else:
        _open_member(scheduler, group)


def _judge(scheduler: Scheduler, group: GroupCycle, trial: Trial) -> Status:
    """Return the PlacementFeasible plugin's status for the current numbers of members."""
    status = SUCCESS
    if scheduler.profiles[group.profile].plugin(GangScheduling.name) is not None:
        status = GangScheduling.judge_quorum(group.group, trial.scheduled, trial.remaining)
    trial.quorum = (*trial.quorum, status)
    return status


def _open_member(scheduler: Scheduler, group: GroupCycle) -> None:
    """Begin the algorithm of the next member."""
    trial = group.trial
    member = group.queued.members[len(trial.cycles)]
    cycle = members.open_cycle(scheduler, group, member, scheduler.snapshot.copy(), trial.nodes)
    trial.cycles.append(cycle)
    scheduler.cycle = cycle
    algorithm.begin(cycle, scheduler.profiles[group.profile], scheduler.algorithm_state)


def _try(scheduler: Scheduler, group: GroupCycle) -> int | None:
    """Run one step of the member's algorithm, or finish the member."""
    cycle = scheduler.cycle
    assert cycle is not None
    if members.is_searching(cycle):
        cycle.t, cycle.position = scheduler.world.now, scheduler.world.position
        framework = scheduler.profiles[group.profile]
        step = algorithm.advance(cycle, framework, scheduler.algorithm_state)
        if step is not None:
            record_step(scheduler.world, scheduler.name, cycle, step, cycle.nodes)
        if members.is_searching(cycle):
            extension = cycle.extension
            return extender_calls.send(scheduler, extension, cycle.span) if extension and extension.open else 0
    settle_member(scheduler, group, cycle)
    return 0


def settle_member(scheduler: Scheduler, group: GroupCycle, cycle: SchedulingCycle) -> None:
    """Count a member, with or without a node. Continue with the next member, or end the trial."""
    trial = group.trial
    members.place(scheduler, cycle)
    trial.tried = (*trial.tried, MemberTrial(cycle.chosen or "", cycle.message))
    if cycle.outcome == "error":
        trial.status = error(f"failed to schedule other pod from a pod group: {cycle.message}")
        _close_trial(scheduler, group)
        return
    trial.remaining -= 1
    trial.scheduled += cycle.chosen is not None
    trial.status = _judge(scheduler, group, trial)
    if trial.status.code is not Code.UNSCHEDULABLE:
        trial.placed_any = trial.placed_any or cycle.chosen is not None
        if len(trial.cycles) < len(group.queued.members):
            _open_member(scheduler, group)
            return
        if trial.status.code is Code.WAIT:
            trial.status = unplaced(*trial.status.reasons)
    _close_trial(scheduler, group)


def _close_trial(scheduler: Scheduler, group: GroupCycle) -> None:
    """Release all members. Continue with the next placement, or choose among the placements."""
    trial = group.trial
    for cycle in reversed(trial.placed):
        members.release(scheduler, cycle)
    scheduler.snapshot = scheduler.cache.update_snapshot(scheduler.snapshot)
    trial.placed_any = trial.placed_any and trial.status.ok
    if trial.status.code is not Code.ERROR and group.at + 1 < len(group.trials):
        group.at += 1
        _open_trial(scheduler, group)
        return
    group.chosen, group.status = placements.choose(scheduler, group)
    if group.status.ok and not group.trials[group.chosen].placed_any:
        group.status = unplaced()
    group.root = group.status
    _conclude(scheduler, group)


def _conclude(scheduler: Scheduler, group: GroupCycle) -> None:
    """Go to PodGroupPostFilter if no placement is feasible, else to the members."""
    if group.root.code is Code.UNSCHEDULABLE and not group.nested:
        group.stage = Stage.POST_FILTER
    else:
        submission.prepare(scheduler, group)


# Preemption


def _post_filter(scheduler: Scheduler, group: GroupCycle) -> int | None:
    """Look for victims, and add the result to the group's reasons. kube: applyPodGroupPostFilterResult"""
    submission.prepare(scheduler, group)
    plan = preemption.preempt(scheduler, group, try_again)
    scheduler.figures.group_preemptions[plan.status.code.kube_name] += 1
    if plan.status.ok:
        group.preempts, group.nominations = True, plan.nominations
        group.victims = tuple(pod.key for pod in plan.victims)
    if plan.status.code is Code.ERROR:
        group.status = plan.status
    else:
        group.status = Status(group.status.code, (*group.status.reasons, plan.status.message))
    for cycle in group.results:
        node = plan.nominations.get(cycle.pod.key)
        if plan.status.ok and node is not None:
            cycle.nomination = node
    return 0


def try_again(scheduler: Scheduler, group: GroupCycle) -> GroupCycle:
    """Run the group's algorithm on the scheduler's current snapshot, at once and without extenders. Return its result."""
    twin = GroupCycle(group.number, group.profile, group.queued, group.group, group.started, group.before, nested=True)
    state = scheduler.pod_group(group.queued.pod.namespace, group.queued.pod.name)
    assert state is not None
    before, extenders = scheduler.cycle, scheduler.algorithm_state.extenders
    scheduler.algorithm_state.extenders = ()
    _make_trials(scheduler, twin, state)
    while twin.stage is Stage.TRYING:
        _try(scheduler, twin)
    scheduler.cycle, scheduler.algorithm_state.extenders = before, extenders
    return twin


_RUN: Mapping[Stage, Callable[[Scheduler, GroupCycle], int | None]] = {
    Stage.TRYING: _try,
    Stage.POST_FILTER: _post_filter,
    Stage.SUBMITTING: submission.advance,
}
