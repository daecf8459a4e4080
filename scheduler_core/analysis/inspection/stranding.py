"""Stranded pods: pods that would fit now but that nothing is about to try, as in kube itself; and the cause.

A pod waits for an event that, according to a hint, may help. kube's hints miss some events that help, and a gated pod receives only the
events that its gating plugin registered for. Such a pod waits for the timeout of unschedulable pods, or until something happens.

kube: plugins/interpodaffinity/plugin.go (isSchedulableAfterPodChange), backend/queue/scheduling_queue.go (isPodWorthRequeuing,
flushUnschedulablePodsLeftover), framework/preemption/preemption.go (prepareCandidateAsync) @ v1.34.1
"""

import enum
from dataclasses import dataclass
from typing import Any

from scheduler_core.analysis.fixes.diagnosis import Diagnosis, diagnose_on, scheduler_for
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.framework.plugin import Point
from scheduler_core.scheduler.framework.runtime.points import run_pre_enqueue
from scheduler_core.scheduler.plugins.defaultpreemption import NAME as DEFAULT_PREEMPTION
from scheduler_core.scheduler.plugins.interpodaffinity.filtering import EXISTING_ANTI, STATUSES
from scheduler_core.scheduler.queue.types import QueuedPod
from scheduler_core.world.simulation import Simulation

_EXISTING_ANTI = STATUSES[EXISTING_ANTI].message


class Way(enum.StrEnum):
    """A way in which a pod becomes stranded."""

    # The deletion of a pod whose anti-affinity rejected the pod requeues none.
    EXISTING_ANTI_AFFINITY = "existing anti-affinity"
    NO_HINT = "no hint"  # the plugins that rejected it registered for no event that helps
    GATED_PREEMPTOR = "gated preemptor"  # gated by a finished preemption: only deletions of pods requeue it
    OPEN_GATE = "open gate"  # its PreEnqueue plugin would pass it, but received no event


@dataclass(frozen=True, slots=True)
class Stranding:
    """`node`: a node on which the pod would fit. `plugins`: those that rejected or gate the pod. `until`: the time at which the queue
    retries the pod without an event (virtual nanoseconds; None: only after an event).
    """

    way: Way
    node: str
    plugins: tuple[str, ...]
    until: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {"way": self.way.value, "node": self.node, "plugins": list(self.plugins), "until": self.until}


def find_stranding(sim: Simulation, key: str) -> Stranding | None:
    """Return the way in which a pod "namespace/name" is stranded, or None. The filters run on all nodes: too slow for every step."""
    pod = sim.store.pod_at(key)
    scheduler = None if pod is None else scheduler_for(sim, pod)
    if pod is None or scheduler is None:
        return None
    state = scheduler.queue.state
    entry = state.parked(key)
    if entry is None or (entry.gated_by and not _gate_is_open(scheduler, pod)):
        return None
    diagnosis = fits(scheduler, pod)
    if diagnosis is None or not diagnosis.feasible:
        return None
    node = diagnosis.nodes.names[diagnosis.feasible[0]]
    if entry.gated_by:
        preempted = entry.gated_by == DEFAULT_PREEMPTION
        return Stranding(Way.GATED_PREEMPTOR if preempted else Way.OPEN_GATE, node, (entry.gated_by,))
    return Stranding(_way(sim, entry), node, entry.rejectors, scheduler.queue.flush_due(entry))


def fits(scheduler: Scheduler, pod: Pod) -> Diagnosis | None:
    """Return the pod's diagnosis on the scheduler's current cache, or None if no profile is responsible for the pod."""
    framework = scheduler.framework_of(pod)
    return None if framework is None else diagnose_on(scheduler, framework, pod, scheduler.cache.table())


def _gate_is_open(scheduler: Scheduler, pod: Pod) -> bool:
    framework = scheduler.framework_of(pod)
    return framework is not None and all(
        run_pre_enqueue(plugin, pod).status.ok for plugin in framework.at(Point.PRE_ENQUEUE)
    )


def _way(sim: Simulation, entry: QueuedPod) -> Way:
    index = sim.journal.last_attempt.get(entry.key)
    refusals = () if index is None else sim.journal.attempts[index].refusals
    return Way.EXISTING_ANTI_AFFINITY if _EXISTING_ANTI in dict(refusals) else Way.NO_HINT
