"""ShortNamesFirst: QueueSort. A key is a tuple of whole numbers, of which the smaller is tried first."""

from __future__ import annotations

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework.plugin import Plugin


class ShortNamesFirst(Plugin):
    """The shorter the name, the earlier; among equals as they came."""

    name = "ShortNamesFirst"

    def sort_key(self, pod: Pod, timestamp: int) -> tuple[int, ...]:
        return (len(pod.name), timestamp)
