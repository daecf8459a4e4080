"""Assumed pods that expire: forgotten by the cache when no watch event has confirmed their binding in time.

v1.34 never expires one (durationToExpireAssumedPod is 0); older releases did, such as the one that waited 30 s. So the setting
`assumed_pod_ttl` is historical. It matters where informers lag: the room of an expired pod looks free, though the pod has it.

kube: backend/cache/cache.go (FinishBinding, cleanupAssumedPods) @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.base.trace.kinds import PodForgotten
from scheduler_core.scheduler.core.actions import ExpireAssumedPod
from scheduler_core.scheduler.core.scheduler import Scheduler


def finish_binding(scheduler: Scheduler, pod: Pod) -> None:
    """The binding call has been answered: from now on the wait for the watch event counts. Cleaned up each whole second."""
    world = scheduler.world
    longest = world.settings.assumed_pod_ttl
    if longest and scheduler.is_assumed(pod):
        due = ((world.now + longest) // SECOND + 1) * SECOND
        world.agenda.push(due, ExpireAssumedPod(scheduler.name, pod.key, pod.uid))


def expire(scheduler: Scheduler, key: str, uid: str) -> None:
    """The cache takes the pod back; no plugin and no queue hears of it."""
    scheduler.cache.forget(scheduler.cache.where[uid][0])
    scheduler.world.record(PodForgotten(key, cause="expired"), scheduler.name)
