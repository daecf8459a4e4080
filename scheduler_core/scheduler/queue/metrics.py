"""Counters and gauges of a scheduler's queue, as kube counts them, drift included.

kube: metrics/metrics.go @ v1.34.1
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from scheduler_core.base.state import Copied, State

Counts = Counter[tuple[str, str]]


@dataclass(slots=True)
class QueueMetrics(State):
    """`incoming` is scheduler_queue_incoming_pods_total by (queue, event), `attempts` scheduler_schedule_attempts_total by (profile,
    result), `unschedulable` scheduler_unschedulable_pods by (plugin, profile), `waiting` what scheduler_pending_pods says of the queues
    "unschedulable" and "gated".
    """

    incoming: Copied[Counts] = field(default_factory=Counter)
    attempts: Copied[Counts] = field(default_factory=Counter)
    unschedulable: Copied[Counts] = field(default_factory=Counter)
    waiting: Copied[Counter[str]] = field(default_factory=Counter)
