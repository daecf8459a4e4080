"""How long a pod that failed backs off, and when its backoff is over.

kube: backend/queue/backoff_queue.go @ v1.34.1
"""

from __future__ import annotations

from dataclasses import replace

from scheduler_core.base.clock.agenda import FOREVER, SECOND
from scheduler_core.scheduler.queue.types import QueuedPod, QueueOptions


class Backoff:
    """1 s, 2 s, 4 s … 10 s by default. With `pop_from_backoff` all times are floored to whole seconds, as kube's window has it.

    The historical queue doubles once more, and counts all failed attempts alike.
    """

    __slots__ = ("_options",)

    def __init__(self, options: QueueOptions) -> None:
        self._options = options

    def begin(self, entry: QueuedPod) -> QueuedPod:
        """The pod with the end of the backoff that its failures ask for."""
        failures = entry.error_count or entry.unschedulable_count
        if not failures or not self._options.max_backoff:
            return replace(entry, backoff_until=None)
        doublings = entry.attempts if self._options.historical else failures - 1
        wait = min(self._options.initial_backoff << min(doublings, 60), self._options.max_backoff)
        until = min(entry.timestamp + wait, FOREVER)
        if self._options.pop_from_backoff:
            until -= until % SECOND
        return replace(entry, backoff_until=until)

    def lasts(self, entry: QueuedPod, now: int) -> bool:
        """Return whether the pod is still backing off."""
        if entry.backoff_until is None:
            return False
        return entry.backoff_until >= (now - now % SECOND if self._options.pop_from_backoff else now)
