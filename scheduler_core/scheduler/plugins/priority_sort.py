"""PrioritySort: orders the active queue by priority, then by the time a pod was added to the queue.

kube: plugins/queuesort/priority_sort.go @ v1.34.1
"""

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework.plugin import Plugin

NAME = "PrioritySort"


class PrioritySort(Plugin):
    """Higher priority first; among equals the one that has been queued longer."""

    name = NAME

    def sort_key(self, pod: Pod, timestamp: int) -> tuple[int, ...]:
        return (-pod.priority, timestamp)
