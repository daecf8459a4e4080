"""Why the gang of a pod is stuck: how many of its pods have a node, and what its last cycle said.

kube: pkg/scheduler/schedule_one_podgroup.go @ v1.37.2
"""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_core.analysis.explain.explanation import Fact
from scheduler_core.analysis.explain.placement import note
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.framework.groups import gang, min_count
from scheduler_core.scheduler.queue.groups import group_key
from scheduler_core.scheduler.queue.types import GROUP, QueuedPod


def find_entry(scheduler: Scheduler, pod: Pod) -> QueuedPod | None:
    """Return what the queue has of a pod: its group, if the pod is a member of one that is there."""
    entity = scheduler.queue.find(GROUP + group_key(pod)) if pod.spec.group else None
    return entity or scheduler.queue.find(pod.key)


def explain_group(scheduler: Scheduler, pod: Pod) -> Iterator[Fact]:
    """Yield what the gang of a pod lacks."""
    group = scheduler.pod_group(pod.namespace, pod.spec.group) if pod.spec.group else None
    if group is None or gang(group.manifest) is None:
        return
    needed, scheduled = min_count(group.manifest), len(group.scheduled)
    if scheduled >= needed:
        return
    yield note("GroupBelowQuorum", group=pod.spec.group, needed=needed, members=len(group.pods), scheduled=scheduled)
    conditions = (group.manifest.get("status") or {}).get("conditions") or ()
    message = next((each.get("message") for each in conditions if each.get("status") == "False"), None)
    if message:
        yield note("GroupCycleFailed", group=pod.spec.group, message=message)
