"""A pod in the scheduling queue.

kube: framework/types.go QueuedPodInfo @ v1.34.1
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_core.objects.pod import Pod


@dataclass(frozen=True, slots=True)
class QueuedPod:
    """A pod with its history in the queue; replaced, never changed. Times are virtual nanoseconds."""

    pod: Pod
    timestamp: int
    sequence: int
    attempts: int = 0
    initial_timestamp: int | None = None
    unschedulable_count: int = 0
    error_count: int = 0
    unschedulable_plugins: tuple[str, ...] = ()
    pending_plugins: tuple[str, ...] = ()
    backoff_until: int | None = None
    gated_by: str = ""

    @property
    def key(self) -> str:
        return self.pod.key
