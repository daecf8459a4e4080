"""The outcome of an attempt: kube's messages, and the handling of a failure.

kube: schedule_one.go (handleSchedulingFailure) @ v1.34.1
"""

from dataclasses import replace

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.kube_events import WARNING
from scheduler_core.base.releases import Behavior
from scheduler_core.base.trace.journal import Attempt
from scheduler_core.base.trace.kinds import AttemptEnded, NodeSelected, PodForgotten
from scheduler_core.scheduler.core import measure
from scheduler_core.scheduler.core.algorithm.post_filter import refusals, single_node_fit_error
from scheduler_core.scheduler.core.calls.client import note
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps.api_calls import patch_status
from scheduler_core.scheduler.framework import Code, Point, Status, error
from scheduler_core.scheduler.queue.types import QueuedPod

# The records of a scheduling cycle besides its steps: its decision, its end.


def decision(scheduler: Scheduler, cycle: SchedulingCycle) -> None:
    """Record the chosen node, if any."""
    if cycle.chosen is None:
        return
    feasible = 0 if cycle.feasible is None else len(cycle.feasible)
    facts = NodeSelected(cycle.pod.key, cycle.chosen, list(cycle.tied), cycle.draw, feasible)
    scheduler.world.record(facts, scheduler.name, cycle.span)


def close(scheduler: Scheduler, cycle: SchedulingCycle) -> None:
    """End the attempt: add a summary to the journal and a record to the trace."""
    world = scheduler.world
    cycle.ended = world.now
    counts = () if cycle.chosen else tuple(sorted(refusals(cycle).items(), key=lambda item: (-item[1], item[0])))
    search = cycle.search
    attempt = Attempt(
        cycle.number,
        cycle.pod.key,
        scheduler.name,
        cycle.profile,
        cycle.started,
        world.now,
        cycle.first_position,
        world.position,
        cycle.outcome,
        cycle.chosen or "",
        cycle.message,
        0 if search is None else search.processed,
        0 if cycle.feasible is None else len(cycle.feasible),
        0 if cycle.tied_rows is None else len(cycle.tied_rows),
        counts,
        cycle.unschedulable_plugins,
        cycle.nomination or "",
        () if cycle.preemption is None else tuple(pod.key for pod in cycle.preemption.victims),
    )
    world.journal.attempt(attempt)
    ended = AttemptEnded(
        cycle.number,
        cycle.pod.key,
        cycle.outcome,
        attempt.node,
        cycle.message,
        attempt.evaluated,
        attempt.feasible,
        cycle.draw,
    )
    world.record(ended, scheduler.name, cycle.span)


def explain(point: Point, status: Status) -> tuple[Status, str, str]:
    """Return the (status, outcome, message) of the attempt after a plugin's rejection or error."""
    if status.rejected:
        message = single_node_fit_error(status.reasons)
        return Status(status.code, (message,), status.plugin), "unschedulable", message
    message = f'running {point.value} plugin "{status.plugin}": {status.message}'
    return error(message), "error", message


def forget(scheduler: Scheduler, pod: Pod, parent: int) -> None:
    """Forget an assumed pod. Do nothing if the pod is not assumed."""
    if scheduler.is_assumed(pod):
        scheduler.cache.forget(pod)
        scheduler.world.record(PodForgotten(pod.key), scheduler.name, parent)


def handle_failure(
    scheduler: Scheduler,
    entry: QueuedPod,
    status: Status,
    message: str,
    plugins: tuple[str, ...],
    started: int,
    nomination: str | None = "",
) -> int:
    """Handle a failed attempt: requeue, nomination, Event, condition. Return the time (ns) that the caller is blocked.

    `plugins` are the plugins that refused the pod; empty after an error. The attempt began at `started` (ns). `nomination`: None
    leaves it, "" clears it. If the pod was deleted and re-created under its name meanwhile, the new pod replaces the failed one.
    """
    result = "unschedulable" if status.rejected else "error"
    measure.record_failure(scheduler, result, entry.pod.spec.scheduler_name, started)
    live = scheduler.live(entry.key)
    if Behavior.RECREATED_POD_LEAVES in scheduler.features.behaviors and live is not None and not live.node_name:
        if live.uid != entry.pod.uid:
            scheduler.queue.done(entry.pod.uid)
            return 0
        entry = replace(entry, pod=live)
    # kube: an extender may have bound the pod although its answer timed out, so a failed pod may have a node.
    if live is None or live.node_name:
        scheduler.queue.done(entry.pod.uid)
        if scheduler.replica is not None:
            scheduler.left(entry.key)
        scheduler.queue.nominator.add(entry.pod, nomination)
    else:
        pending = plugins if status.code is Code.PENDING else ()
        scheduler.queue.requeue(replace(entry, pod=live), scheduler.world.now, plugins, pending)
        scheduler.queue.nominator.add(live, nomination)
    note(scheduler, entry.pod, WARNING, "FailedScheduling", message, "Scheduling")
    condition = {
        "type": "PodScheduled",
        **get_observed_generation(scheduler, entry.pod, "PodScheduled"),
        "status": "False",
        "reason": "Unschedulable" if status.rejected else "SchedulerError",
        "message": message,
    }
    return patch_status(scheduler, entry.pod, condition, nomination)


def get_observed_generation(scheduler: Scheduler, pod: Pod, kind: str) -> dict[str, int]:
    """Return the observedGeneration of a condition. With the gate off, only a condition that already has one gets one.

    kube: api/v1/pod/util.go CalculatePodConditionObservedGeneration
    """
    if not scheduler.features.observed_generation:
        condition = pod.condition(kind)
        if condition is None or not condition.get("observedGeneration"):
            return {}
    return {"observedGeneration": int((pod.manifest.get("metadata") or {}).get("generation") or 0)}
