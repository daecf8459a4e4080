"""Carrying out a preemption: lower nominations are taken back, victims evicted, the most important first.

kube: framework/preemption/preemption.go (prepareCandidate, NewEvaluator's PreemptPod) @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.api.kube_events import NORMAL
from scheduler_core.api.status import Refused
from scheduler_core.framework.plugin import PostFilterResult
from scheduler_core.objects.pod import Pod
from scheduler_core.scheduler import binding
from scheduler_core.scheduler.outcome import note
from scheduler_core.scheduler.scheduler import Scheduler

PLUGIN = "DefaultPreemption"


def evict(scheduler: Scheduler, preemptor: Pod, result: PostFilterResult) -> None:
    """Makes room for a pod on its nominated node. Victims that end already are left to end."""
    world = scheduler.world
    for pod in result.cleared:
        scheduler.queue.nominator.delete(pod)
        world.store.patch_pod_status(pod.key, world.now, nominated_node_name="")
    for victim in result.victims:
        if not victim.deleting:
            _evict_one(scheduler, preemptor, victim, result.nominated_node or "")


def _evict_one(scheduler: Scheduler, preemptor: Pod, victim: Pod, node: str) -> None:
    world = scheduler.world
    waiting = next((b for b in scheduler.bindings.values() if b.pod.uid == victim.uid and b.waiting), None)
    if waiting is not None:
        binding.reject(scheduler, waiting, PLUGIN, "preempted")
    else:
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "PreemptionByScheduler",
            "message": f"{preemptor.spec.scheduler_name}: preempting to accommodate a higher priority pod",
        }
        world.store.patch_pod_status(victim.key, world.now, condition=condition)
        try:
            world.store.delete("Pod", victim.namespace, victim.name, world.now)
        except Refused:
            return  # it has gone in the meantime
    note(scheduler, victim, NORMAL, "Preempted", f"Preempted by pod {preemptor.uid} on node {node}")
