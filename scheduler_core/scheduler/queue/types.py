"""A pod in the scheduling queue, the queue's options, the reason of a move, and the queue's interface to the plugins.

kube: framework/types.go QueuedPodInfo, backend/queue/scheduling_queue.go @ v1.34.1
"""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.base.releases import Behavior
from scheduler_core.base.state import Copied, State
from scheduler_core.scheduler.framework.events import SPLIT, UNSPLIT, ClusterEvent, ObjectEvent, PodEvents

# Counters and gauges of a scheduler's queue, with the drift of kube's.
# kube: metrics/metrics.go @ v1.34.1

Counts = Counter[tuple[str, str]]


@dataclass(slots=True)
class QueueMetrics(State):
    """`incoming` is scheduler_queue_incoming_pods_total by (queue, event), `entities` scheduler_queue_incoming_entities_total by (queue,
    event, type), `attempts` scheduler_schedule_attempts_total by (profile, result), `groups` the same of pod groups, `unschedulable`
    scheduler_unschedulable_pods by (plugin, profile), `waiting` scheduler_pending_pods of the queues "unschedulable" and "gated".
    """

    incoming: Copied[Counts] = field(default_factory=Counter)
    entities: Copied[Counter[tuple[str, str, str]]] = field(default_factory=Counter)
    attempts: Copied[Counts] = field(default_factory=Counter)
    groups: Copied[Counts] = field(default_factory=Counter)
    unschedulable: Copied[Counts] = field(default_factory=Counter)
    waiting: Copied[Counter[str]] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class QueueOptions:
    """Times in nanoseconds. `pop_from_backoff` is kube's gate SchedulerPopFromBackoffQ, `historical`: see historical.py."""

    initial_backoff: int = SECOND
    max_backoff: int = 10 * SECOND
    max_in_unschedulable: int = 300 * SECOND
    pop_from_backoff: bool = True
    historical: bool = False
    groups: bool = False  # kube's gate GenericWorkload
    events: PodEvents = UNSPLIT
    behaviors: frozenset[Behavior] = frozenset()

    @classmethod
    def of_release(cls, behaviors: frozenset[Behavior], **options: Any) -> QueueOptions:
        events = SPLIT if Behavior.SPLIT_POD_EVENTS in behaviors else UNSPLIT
        return cls(**options, events=events, behaviors=behaviors)


@dataclass(frozen=True, slots=True)
class QueuedPod:
    """A pod with its history in the queue; replaced, never changed. Times are virtual nanoseconds.

    `unschedulable_plugins` are those that rejected it last (sorted; they stay until it is popped), `pending_plugins` those among them
    that only wait. `gated_by` is the PreEnqueue plugin that rejects it. `cycle`: the number of popped pods, including itself, when it was
    last popped. `flushed`: the time when it last exceeded its maximum wait.
    """

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
    cycle: int = 0
    flushed: int = 0
    members: tuple[QueuedPod, ...] = ()  # of the pod group that `pod` represents

    @property
    def key(self) -> str:
        return f"{GROUP}{self.pod.key}" if self.members else self.pod.key

    @property
    def size(self) -> int:
        """The number of pods."""
        return len(self.members) or 1

    def begin(self, now: int) -> QueuedPod:
        """Return the entry when it first enters the active queue."""
        members = tuple([each.begin(now) for each in self.members])
        first = now if self.initial_timestamp is None else self.initial_timestamp
        return replace(self, initial_timestamp=first, members=members)

    def take_off(self, cycle: int) -> QueuedPod:
        """Return the entry in flight, without rejections."""
        members = tuple([each.take_off(cycle) for each in self.members])
        return replace(self, unschedulable_plugins=(), pending_plugins=(), gated_by="", cycle=cycle, members=members)

    def count_attempt(self) -> QueuedPod:
        """Return the entry with one more attempt."""
        members = tuple([each.count_attempt() for each in self.members])
        return replace(self, attempts=self.attempts + 1, members=members)

    def pods(self) -> tuple[QueuedPod, ...]:
        """Return the pod, or the members of the group."""
        return self.members or (self,)

    @property
    def waits_since(self) -> int:
        return max(self.timestamp, self.flushed)

    @property
    def rejectors(self) -> tuple[str, ...]:
        """The plugins that rejected it, and those that wait."""
        if not self.pending_plugins:
            return self.unschedulable_plugins
        return tuple(sorted({*self.unschedulable_plugins, *self.pending_plugins}))


GROUP = "podgroup/"  # prefix of a group's key, because a pod may have the group's name


class Strategy(enum.StrEnum):
    """The effect of an event on a waiting pod."""

    SKIP = "stays"
    AFTER_BACKOFF = "queue after backoff"
    IMMEDIATELY = "queue immediately"


@dataclass(frozen=True, slots=True)
class RequeueDecision:
    """A strategy with its reason: the plugin whose hint decided, and the hint's name ("" if the plugin has none)."""

    strategy: Strategy
    event: str = ""
    plugin: str = ""
    hint: str = ""

    @property
    def reason(self) -> tuple[str, str, str] | tuple[()]:
        """The (event, plugin, hint) for the journal, or () if event and plugin are unknown."""
        return (self.event, self.plugin, self.hint) if self.event or self.plugin else ()


STAYS = RequeueDecision(Strategy.SKIP)


class Rules(Protocol):
    """The queue's interface to the profiles' plugins and to the listeners for moves."""

    def sort_key(self, pod: Pod, timestamp: int) -> tuple[int, ...]:
        """Return the key of QueueSort: smaller sorts first."""

    def group(self, key: str, member: Pod) -> Pod | None:
        """Return the pod that represents a PodGroup, or None if there is no such group."""

    def gate(self, pod: Pod, first: str) -> str:
        """Run PreEnqueue. Return the plugin that rejects the pod, or ""; `first` runs first."""

    def of_interest(self, event: ClusterEvent) -> bool:
        """Return whether any plugin is registered for the event."""

    def listeners(self, event: ClusterEvent) -> frozenset[str]:
        """Return the plugins that are registered for the event."""

    def requeue_decision(self, entry: QueuedPod, what: ObjectEvent) -> RequeueDecision:
        """Return the effect of an event on a pod, by the hints of the plugins that refused the pod."""

    def moved(self, entry: QueuedPod, place: str, cause: str, why: RequeueDecision | None) -> None:
        """Report that a pod moved to a place of the queue."""
