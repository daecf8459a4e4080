"""Counters and gauges of a scheduler's queue, as kube counts them, drift included.

kube: metrics/metrics.go @ v1.34.1
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

Counts = Counter[tuple[str, str]]


@dataclass(slots=True)
class QueueMetrics:
    """`incoming` is scheduler_queue_incoming_pods_total by (queue, event), `attempts` scheduler_schedule_attempts_total by (profile,
    result), `unschedulable` scheduler_unschedulable_pods by (plugin, profile), `waiting` what scheduler_pending_pods says of the queues
    "unschedulable" and "gated".
    """

    incoming: Counts = field(default_factory=Counter)
    attempts: Counts = field(default_factory=Counter)
    unschedulable: Counts = field(default_factory=Counter)
    waiting: Counter[str] = field(default_factory=Counter)

    def copy(self) -> QueueMetrics:
        return QueueMetrics(
            self.incoming.copy(), self.attempts.copy(), self.unschedulable.copy(), self.waiting.copy()
        )
