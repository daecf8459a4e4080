"""Which pod matters more: the higher priority, then the one that started earlier.

kube: util/utils.go (MoreImportantPod, GetPodStartTime, GetEarliestPodStartTime) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.times import NEVER
from scheduler_core.scheduler.framework.preemption.go_sort import go_sorted


def start_time(pod: Pod, now: int = NEVER) -> int:
    return now if pod.start_time is None else pod.start_time


def by_importance(pods: Iterable[Pod], now: int = NEVER) -> list[Pod]:
    """The most important first; equals (same priority and start time) stand as kube's unstable sort leaves them."""
    return go_sorted(list(pods), lambda pod: (-pod.priority, start_time(pod, now)))


def earliest_start(victims: Sequence[Pod], now: int = NEVER) -> int:
    """The earliest start among the victims of the highest priority."""
    highest = max([pod.priority for pod in victims])
    return min([start_time(pod, now) for pod in victims if pod.priority == highest])
