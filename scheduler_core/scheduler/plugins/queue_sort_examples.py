"""CreationTimeSort and SmallestFirstSort: two other orders of the active queue, as examples of a QueueSort plugin. kube has neither.

A profile replaces PrioritySort with `queueSort: {enabled: [{name: ...}], disabled: [{name: PrioritySort}]}`. All profiles of a scheduler
must use the same plugin, because they share one queue. The order is total: of equal keys, the pod that was queued first comes first.
"""

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework.plugin import Plugin


class CreationTimeSort(Plugin):
    """First come, first served: the oldest pod first, whatever its priority, and however often it has failed.

    A pod that can't be scheduled does not hold up the others, as it waits elsewhere; but it is first again whenever it comes back.
    """

    name = "CreationTimeSort"

    def sort_key(self, pod: Pod, timestamp: int) -> tuple[int, ...]:
        return (pod.creation_time or 0,)


class SmallestFirstSort(Plugin):
    """Least requested CPU first, then least memory, then as PrioritySort: many small pods pass a large one, which may starve."""

    name = "SmallestFirstSort"

    def sort_key(self, pod: Pod, timestamp: int) -> tuple[int, ...]:
        return (pod.requests.milli_cpu, pod.requests.memory, -pod.priority, timestamp)
