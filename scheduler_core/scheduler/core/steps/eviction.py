"""The execution of a preemption: nominations of lower priority are cleared, and victims are evicted, the most important first.

With the gate SchedulerAsyncPreemption on, this runs beside the scheduling cycles; until the last victim, PreEnqueue holds the preemptor
back. With the gate off, the scheduling cycle waits for it.

DEVIATION: victims go one after the other; kube evicts as many at once as the configuration's parallelism says.

kube: framework/preemption/preemption.go (prepareCandidate, prepareCandidateAsync, NewEvaluator's PreemptPod) @ v1.34.1
"""

from dataclasses import replace
from typing import Any

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver import DONE, NORMAL, Answer, Fault, Refused
from scheduler_core.base.releases import Behavior
from scheduler_core.base.trace.kinds import ApiCall, PreemptionStarted
from scheduler_core.scheduler.core.actions import AdvanceEviction
from scheduler_core.scheduler.core.algorithm.post_filter import fit_error
from scheduler_core.scheduler.core.calls import client
from scheduler_core.scheduler.core.calls.client import note
from scheduler_core.scheduler.core.calls.dispatcher import condition_differs
from scheduler_core.scheduler.core.cycles.scheduling_cycle import BindingCycle, Eviction, SchedulingCycle
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import permit
from scheduler_core.scheduler.core.steps.api_calls import patch_status
from scheduler_core.scheduler.core.steps.binding import cancel_pre_bind
from scheduler_core.scheduler.core.steps.outcome import get_observed_generation
from scheduler_core.scheduler.framework.groups import KIND
from scheduler_core.scheduler.framework.status import error

PLUGIN = "DefaultPreemption"


def start(scheduler: Scheduler, cycle: SchedulingCycle) -> bool:
    """Begin to evict the victims of a preemption, except terminating ones. Return whether the cycle has to wait."""
    result = cycle.preemption
    assert result is not None
    held_up = not scheduler.features.async_preemption
    victims = tuple(pod for pod in result.victims if not pod.deleting)
    chosen = len(result.victims)
    preemptor = scheduler.live(cycle.pod.key) or cycle.pod  # it may have changed or been recreated meanwhile
    job = Eviction(cycle.number, preemptor, result.nominated_node or "", victims, held_up, chosen)
    if held_up:
        ends_after = _begin(scheduler, job) if victims else _end(scheduler, job)
        if ends_after:
            scheduler.push_cycle(ends_after)
        return ends_after != 0
    scheduler.figures.preemption_victims.observe((), job.chosen)
    _start_beside(scheduler, job)
    return False


def start_for_group(scheduler: Scheduler, number: int, group: Pod, chosen: tuple[Pod, ...]) -> None:
    """Begin to evict pods for a group; `group` is the pod that represents it. DEVIATION: this never holds up the cycle."""
    victims = tuple(pod for pod in chosen if not pod.deleting)
    _start_beside(scheduler, Eviction(number, group, "cluster", victims, False, len(chosen)))


def _start_beside(scheduler: Scheduler, job: Eviction) -> None:
    if job.victims:
        scheduler.preempting[job.preemptor.uid] = job.number
        scheduler.evictions[job.number] = job
        scheduler.world.agenda.push(scheduler.world.now, AdvanceEviction(scheduler.name, job.number))


def _clear_lower(scheduler: Scheduler, job: Eviction) -> int:
    """Clear the nominations of lower priority to the node. Return how long (ns) the caller waits for it.

    kube: getLowerPriorityNominatedPods, clearNominatedNodeName
    """
    lower = [p for p in scheduler.queue.nominator.counted(job.node) if p.priority < job.preemptor.priority]
    return max((patch_status(scheduler, pod, None, "") for pod in lower), default=0)


def _begin(scheduler: Scheduler, job: Eviction) -> int | None:
    facts = PreemptionStarted(job.preemptor.key, job.node, [pod.key for pod in job.victims])
    scheduler.world.record(facts, scheduler.name)
    return _go_on(scheduler, replace(job, begun=True))


def _go_on(scheduler: Scheduler, job: Eviction) -> int | None:
    """Continue with the next victim: reject a victim that waits on Permit at once; evict another by API calls.

    Return None if an API call is pending, else the result of `_end`.
    """
    while job.index < len(job.victims):
        # Before the last victim is deleted, as in kube: its deletion must find a preemptor that passes PreEnqueue.
        gates = Behavior.LAST_VICTIM_GATES in scheduler.features.behaviors
        if job.index == len(job.victims) - 1 and not gates:
            scheduler.preempting.pop(job.preemptor.uid, None)
        victim = job.victims[job.index]
        binding = next((b for b in scheduler.bindings.values() if b.pod.uid == victim.uid), None)
        if binding is None or not _reject(scheduler, binding):
            has_condition = not condition_differs(
                victim.manifest.get("status") or {}, _condition(scheduler, job, victim)
            )
            _wait(scheduler, replace(job, has_condition=has_condition))
            return None
        job = _record_eviction(scheduler, job, in_memory=scheduler.preempts_in_memory)
    return _end(scheduler, job)


def _reject(scheduler: Scheduler, binding: BindingCycle) -> bool:
    """Stop the binding of a victim without a call; False if it must be deleted. Since 1.36 the victim returns to the queue."""
    if binding.waiting:
        if scheduler.preempts_in_memory:
            permit.preempt(scheduler, binding, PLUGIN)
        else:
            permit.reject(scheduler, binding, PLUGIN, "preempted")
        return True
    return scheduler.preempts_in_memory and cancel_pre_bind(scheduler, binding)


def _resume(scheduler: Scheduler, job: Eviction) -> None:
    """Continue after an API call. At the end, a cycle that waits for the eviction continues."""
    ends_after = _go_on(scheduler, job)
    if ends_after is not None and job.held_up:
        scheduler.push_cycle(ends_after)


def _wait(scheduler: Scheduler, job: Eviction) -> None:
    scheduler.evictions[job.number] = job
    world = scheduler.world
    cost = client.latency(scheduler, *job.next_call, world.settings.evict_cost)
    cost += client.throttle(scheduler, *job.next_call)
    world.agenda.push(world.now + cost, AdvanceEviction(scheduler.name, job.number))


def retime(scheduler: Scheduler, fault: Fault) -> None:
    """Change the remaining latency of pending calls about a victim to the fault's latency, if it has one."""
    world = scheduler.world
    if fault.latency is None:
        return
    for job in list(scheduler.evictions.values()):
        if job.begun and job.next_call == fault.key:
            _answer_at(scheduler, job, world.now + fault.latency)


def _answer_at(scheduler: Scheduler, job: Eviction, at: int) -> None:
    agenda, action = scheduler.world.agenda, AdvanceEviction(scheduler.name, job.number)
    agenda.discard(lambda other: other == action)
    agenda.push(at, action)


def advance(scheduler: Scheduler, number: int) -> None:
    """Run the next step of an eviction: begin it, set the victim's DisruptionTarget condition, or delete the victim."""
    job = scheduler.evictions[number]
    if not job.begun:
        _clear_lower(scheduler, job)
        _begin(scheduler, job)
        return
    answer = _call(scheduler, job)
    if answer is None:
        return  # the client will retry
    if answer.reason == "NotFound":
        # Another client has deleted the victim meanwhile. Its resources are free, too, so kube continues with the next victim.
        _resume(scheduler, replace(job, index=job.index + 1, has_condition=False, tries=0))
    elif not answer.ok:
        scheduler.evictions.pop(job.number, None)
        scheduler.preempting.pop(job.preemptor.uid, None)
        cycle = scheduler.cycle
        if job.held_up and cycle is not None:
            cycle.post_filter = error(f"preemption: {answer.message}")
            cycle.message, cycle.nomination = fit_error(cycle), None
            scheduler.push_cycle(0)
        else:
            scheduler.queue.activate((job.preemptor,), scheduler.world.now)
            scheduler.figures.preemption_goroutines.observe(("success",), 0)
        scheduler.wake_up()
    elif job.has_condition:
        _resume(scheduler, _record_eviction(scheduler, job))
    else:
        _wait(scheduler, replace(job, has_condition=True, tries=0))


def _call(scheduler: Scheduler, job: Eviction) -> Answer | None:
    """Call the API server about the current victim. Return None if the client will retry."""
    world, victim = scheduler.world, job.victims[job.index]
    fault = client.take_fault(scheduler, *job.next_call)
    answer = DONE if fault is None else fault.answer()
    pause = None if fault is None else client.pause(fault, job.tries)
    verb, status = ("DELETE", None) if job.has_condition else ("PATCH", ["DisruptionTarget"])
    said = "" if answer.ok else answer.message
    scheduler.called(ApiCall(verb, victim.key, status=status, fault=said, again_after=pause or 0))
    if pause is not None:
        again = scheduler.evictions[job.number] = replace(job, tries=job.tries + 1)
        cost = client.latency(scheduler, *job.next_call, world.settings.evict_cost)
        cost += client.throttle(scheduler, *job.next_call)
        _answer_at(scheduler, again, world.now + pause + cost)
        return None
    if fault is not None and not answer.ok and not fault.after_write:
        return answer
    done = _write(scheduler, job)
    return done if answer.ok else answer


def _write(scheduler: Scheduler, job: Eviction) -> Answer:
    world, victim = scheduler.world, job.victims[job.index]
    if not job.has_condition:
        return world.store.patch_pod_status(victim.key, world.now, condition=_condition(scheduler, job, victim))
    if job.index == len(job.victims) - 1:
        # Before the DELETE, as in kube: the last victim's deletion is the event that must requeue the preemptor.
        scheduler.preempting.pop(job.preemptor.uid, None)
    try:
        world.api.delete(("Pod", victim.namespace, victim.name))
    except Refused as refused:
        return refused.answer
    return DONE


def _record_eviction(scheduler: Scheduler, job: Eviction, in_memory: bool = False) -> Eviction:
    victim = job.victims[job.index]
    text = (
        f"Preempted by {_noun(job.preemptor)} {job.preemptor.uid} on node {job.node}"
        + " (in kube-scheduler memory)." * in_memory
    )
    note(scheduler, victim, NORMAL, "Preempted", text, "Preempting", job.preemptor)
    return replace(job, index=job.index + 1, has_condition=False, evicted=job.evicted + 1, tries=0, in_memory=in_memory)


def _noun(preemptor: Pod) -> str:
    return "podgroup" if preemptor.manifest.get("kind") == KIND else "pod"


def _end(scheduler: Scheduler, job: Eviction) -> int:
    """End the eviction. Return how long (ns) a cycle that waits for it has to wait yet."""
    scheduler.evictions.pop(job.number, None)
    cost = 0
    if job.held_up:
        scheduler.figures.preemption_victims.observe((), job.chosen)
        cost = _clear_lower(scheduler, job)
    else:
        # No victim was deleted, so no deletion will requeue the preemptor.
        scheduler.preempting.pop(job.preemptor.uid, None)
        if job.in_memory if scheduler.preempts_in_memory else not job.evicted:
            scheduler.queue.activate((job.preemptor,), scheduler.world.now)
        scheduler.figures.preemption_goroutines.observe(("success",), 0)
    scheduler.wake_up()
    return cost


def _condition(scheduler: Scheduler, job: Eviction, victim: Pod) -> dict[str, Any]:
    return {
        "type": "DisruptionTarget",
        **get_observed_generation(scheduler, victim, "DisruptionTarget"),
        "status": "True",
        "reason": "PreemptionByScheduler",
        "message": f"{job.preemptor.spec.scheduler_name}: preempting to accommodate a higher priority {_noun(job.preemptor)}",
    }
