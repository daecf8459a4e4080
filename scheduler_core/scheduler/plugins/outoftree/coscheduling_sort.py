"""CoschedulingSort: pods of a group follow each other in the queue. Ours, after Coscheduling in kubernetes-sigs/scheduler-plugins.

It stands in place of PrioritySort, in every profile of a scheduler.
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.times import optional_time
from scheduler_core.scheduler.framework.plugin import Plugin
from scheduler_core.scheduler.plugins.outoftree.pod_groups import LABEL, PodGroup, members


class CoschedulingSort(Plugin):
    """QueueSort by priority, creation time of the group's oldest pod, and the group's name; a single pod is its own group."""

    name = "CoschedulingSort"

    def sort_key(self, pod: Pod, timestamp: int) -> tuple[int, ...]:
        name = pod.labels.get(LABEL)
        if not name:
            return (-pod.priority, pod.creation_time or 0, *map(ord, pod.key))
        group = PodGroup(pod.namespace, name)
        times = (optional_time(each.get("creationTimestamp")) or 0 for each in members(self.handle, group))
        return (-pod.priority, min(times, default=0), *map(ord, group.key))
