"""The scheduling queue: active, backoff (two kinds) and unschedulable pods, and those in flight.

```
            add            pop                    failed by a plugin
  (gated) ------> active ------> in flight ----------------------------> unschedulable
     ^   PreEnqueue  ^                |                                      | event that may cure it
     |               |                | failed by an error                   v
     +---------------+----------------+---------> backoff <------- still backing off? else active
                      backoff is over
```

Entries are replaced, never changed. Times are virtual nanoseconds. The rules of hints have room in
`move_all`: today an event wakes a pod when one
of the plugins that refused it registered for the event.

kube: backend/queue/{scheduling_queue,active_queue,backoff_queue}.go @ v1.34.1
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from scheduler_core.clock.agenda import SECOND
from scheduler_core.framework.events import ClusterEvent
from scheduler_core.objects.pod import Pod
from scheduler_core.queue.nominator import Find, Nominator
from scheduler_core.queue.types import QueuedPod
from scheduler_core.trace.journal import Place

SortKey = Callable[[Pod, int], tuple[int, ...]]
PreEnqueue = Callable[[Pod], str]  # the plugin that gates the pod, or ""
Wakes = Callable[[Pod, str, ClusterEvent], bool]  # (pod, plugin, event)
Moved = Callable[[Pod, str, str], None]  # (pod, place, cause)

FLUSH_PERIOD = 30 * SECOND


@dataclass(frozen=True, slots=True)
class QueueOptions:
    """Times in nanoseconds."""

    initial_backoff: int = SECOND
    max_backoff: int = 10 * SECOND
    max_in_unschedulable: int = 300 * SECOND
    pop_from_backoff: bool = True


class SchedulingQueue:
    """Every waiting pod is in exactly one of the maps; keys are `namespace/name`."""

    def __init__(
        self,
        options: QueueOptions,
        sort_key: SortKey,
        pre_enqueue: PreEnqueue,
        wakes: Wakes,
        moved: Moved,
        nominator: Nominator | None = None,
    ) -> None:
        self.nominator = nominator or Nominator()
        self.options = options
        self.active_pods: dict[str, QueuedPod] = {}
        self.backoff_pods: dict[str, QueuedPod] = {}
        self.error_backoff_pods: dict[str, QueuedPod] = {}
        self.unschedulable_pods: dict[str, QueuedPod] = {}  # the longest waiting first
        self.gated_pods: dict[str, QueuedPod] = {}
        self.in_flight: dict[str, tuple[ClusterEvent, ...]] = {}  # with the events since the pod was popped
        self._heap: list[tuple[tuple[int, ...], int, str]] = []
        self._sequence = 0
        self._soonest: int | None = None  # no backoff is over before this
        self._sort_key = sort_key
        self._pre_enqueue = pre_enqueue
        self._wakes = wakes
        self._moved = moved

    # What is in it

    def __len__(self) -> int:
        return sum(map(len, self._maps()))

    def __contains__(self, key: str) -> bool:
        return self.find(key) is not None

    def find(self, key: str) -> QueuedPod | None:
        for pods in self._maps():
            if key in pods:
                return pods[key]
        return None

    def active(self, limit: int | None = None) -> list[QueuedPod]:
        """Pods in pop order, the first `limit` of them."""
        return self._ordered(self.active_pods.values(), None) if limit is None else self._first_active(limit)

    def backoff(self, limit: int | None = None) -> list[QueuedPod]:
        """Pods that are backing off, the soonest first; those that failed by an error included."""
        entries = [*self.backoff_pods.values(), *self.error_backoff_pods.values()]
        order = sorted(entries, key=lambda q: (q.backoff_until or 0, self._key(q)))
        return order if limit is None else order[:limit]

    def unschedulable(self) -> list[QueuedPod]:
        return list(self.unschedulable_pods.values())

    def gated(self) -> list[QueuedPod]:
        return list(self.gated_pods.values())

    @property
    def ready(self) -> bool:
        """Whether `pop` has something to give."""
        return bool(self.active_pods or (self.options.pop_from_backoff and self.backoff_pods))

    # In and out

    def add(self, pod: Pod, now: int, cause: str) -> None:
        """A new pod, or one that the queue has lost sight of."""
        self._sequence += 1
        self._enqueue(QueuedPod(pod, now, self._sequence), cause)

    def pop(self, now: int) -> QueuedPod | None:
        """Takes the first active pod, or the first of the backoff queue when there is none; it is then in flight."""
        entry = self._pop_active()
        if entry is None and self.options.pop_from_backoff and self.backoff_pods:
            entry = min(self.backoff_pods.values(), key=self._backoff_order)
            del self.backoff_pods[entry.key]
        if entry is None:
            return None
        first = now if entry.initial_timestamp is None else entry.initial_timestamp
        entry = replace(
            entry,
            attempts=entry.attempts + 1,
            initial_timestamp=first,
            unschedulable_plugins=(),
            pending_plugins=(),
            backoff_until=None,
        )
        self.in_flight[entry.key] = ()
        self._moved(entry.pod, Place.IN_FLIGHT, "popped")
        return entry

    def done(self, key: str) -> tuple[ClusterEvent, ...]:
        """The pod is no longer in flight; returns the events that came meanwhile."""
        return self.in_flight.pop(key, ())

    def requeue(
        self, entry: QueuedPod, now: int, plugins: tuple[str, ...], pending: tuple[str, ...] = ()
    ) -> None:
        """A pod whose attempt failed, with the plugins that refused it (none: it failed by an error)."""
        events = self.done(entry.key)
        if entry.key in self:
            return
        entry = replace(entry, timestamp=now, unschedulable_plugins=plugins, pending_plugins=pending)
        if not plugins and not pending:
            entry = self._backing_off(
                replace(entry, error_count=entry.error_count + 1), entry.error_count + 1
            )
            self._back_off(self.error_backoff_pods, entry, "ScheduleAttemptFailure")
            return
        count = entry.unschedulable_count + 1
        entry = self._backing_off(replace(entry, unschedulable_count=count, error_count=0), count)
        for event in events:
            if self._cures(entry, event):
                self._wake(entry, event, now)
                return
        self.unschedulable_pods[entry.key] = entry
        self._moved(entry.pod, Place.UNSCHEDULABLE, "ScheduleAttemptFailure")

    def update(self, pod: Pod, now: int, events: Iterable[ClusterEvent]) -> None:
        """The API server's version of a waiting pod changed."""
        old = self.find(pod.key)
        if old is not None:
            self.nominator.update(old.pod, pod)
        for pods in (self.active_pods, self.backoff_pods, self.error_backoff_pods):
            if pod.key in pods:
                pods[pod.key] = replace(pods[pod.key], pod=pod)
                if pods is self.active_pods:
                    self._push(pods[pod.key])
                return
        for pods in (self.unschedulable_pods, self.gated_pods):
            if pod.key in pods:
                self._update_waiting(pods, replace(pods[pod.key], pod=pod), now, events)
                return
        if pod.key in self.in_flight:
            self.in_flight[pod.key] = (*self.in_flight[pod.key], *events)
        else:
            self.add(pod, now, "PodUpdate")

    def _update_waiting(
        self, pods: dict[str, QueuedPod], entry: QueuedPod, now: int, events: Iterable[ClusterEvent]
    ) -> None:
        pods[entry.key] = entry
        for event in events:
            if self._cures(entry, event):
                del pods[entry.key]
                self._wake(entry, event, now)
                return

    def delete(self, pod: Pod) -> None:
        """The pod is gone, or bound by somebody."""
        self.nominator.delete(pod)
        for pods in self._maps():
            pods.pop(pod.key, None)

    # Events and timers

    def move_all(self, event: ClusterEvent, now: int, but: str = "") -> None:
        """Wakes the unschedulable pods that the event may cure, and keeps it for those in flight (`but` one pod)."""
        for key in self.in_flight:
            if key != but:
                self.in_flight[key] = (*self.in_flight[key], event)
        if not self.unschedulable_pods:
            return
        cured = [entry for entry in self.unschedulable_pods.values() if self._cures(entry, event)]
        for entry in cured:
            del self.unschedulable_pods[entry.key]
            self._wake(entry, event, now)

    def activate(self, key: str, now: int, cause: str) -> bool:
        """Moves a waiting pod to the active queue at once; False where it is in neither waiting queue."""
        for pods in (self.unschedulable_pods, self.gated_pods, self.backoff_pods, self.error_backoff_pods):
            entry = pods.pop(key, None)
            if entry is not None:
                self._enqueue(entry, cause)
                return True
        return False

    def next_backoff_flush(self) -> int | None:
        """When the next pod may leave a backoff queue (never too late, perhaps too early); None: there is no such pod."""
        if not (self.backoff_pods or self.error_backoff_pods) or self._soonest is None:
            return None
        return self._soonest + SECOND if self.options.pop_from_backoff else _round_up(self._soonest)

    def flush_backoff(self, now: int) -> None:
        """Moves the pods whose backoff is over to the active queue."""
        for pods in (self.backoff_pods, self.error_backoff_pods):
            over = [entry for entry in pods.values() if not self._is_backing_off(entry, now)]
            for entry in sorted(over, key=self._backoff_order):
                del pods[entry.key]
                self._enqueue(entry, "BackoffComplete")
        waiting = (*self.backoff_pods.values(), *self.error_backoff_pods.values())
        self._soonest = min((e.backoff_until for e in waiting if e.backoff_until is not None), default=None)

    def next_unschedulable_flush(self) -> int | None:
        """When the first pod has been unschedulable for too long: at a whole half minute."""
        first = next(iter(self.unschedulable_pods.values()), None)
        if first is None:
            return None
        late = first.timestamp + self.options.max_in_unschedulable
        return (late // FLUSH_PERIOD + 1) * FLUSH_PERIOD

    def flush_unschedulable(self, now: int) -> None:
        """Wakes the pods that have been unschedulable for longer than allowed."""
        longest = self.options.max_in_unschedulable
        for entry in [e for e in self.unschedulable_pods.values() if now - e.timestamp > longest]:
            del self.unschedulable_pods[entry.key]
            self._enqueue(entry, "UnschedulableTimeout")

    # Copying

    def copy(
        self, sort_key: SortKey, pre_enqueue: PreEnqueue, wakes: Wakes, moved: Moved, find: Find | None
    ) -> SchedulingQueue:
        """The same queue wired to another world."""
        nominator = self.nominator.copy(find)
        twin = SchedulingQueue(self.options, sort_key, pre_enqueue, wakes, moved, nominator)
        twin.active_pods = dict(self.active_pods)
        twin.backoff_pods = dict(self.backoff_pods)
        twin.error_backoff_pods = dict(self.error_backoff_pods)
        twin.unschedulable_pods = dict(self.unschedulable_pods)
        twin.gated_pods = dict(self.gated_pods)
        twin.in_flight = dict(self.in_flight)
        twin._soonest = self._soonest
        twin._heap = list(self._heap)
        twin._sequence = self._sequence
        return twin

    # Below here: how

    def _maps(self) -> tuple[dict[str, QueuedPod], ...]:
        return (
            self.active_pods,
            self.backoff_pods,
            self.error_backoff_pods,
            self.unschedulable_pods,
            self.gated_pods,
        )

    def _key(self, entry: QueuedPod) -> tuple[tuple[int, ...], int]:
        return (self._sort_key(entry.pod, entry.timestamp), entry.sequence)

    def _backoff_order(self, entry: QueuedPod) -> tuple[int, tuple[tuple[int, ...], int]]:
        return (entry.backoff_until or 0, self._key(entry))

    def _ordered(self, entries: Iterable[QueuedPod], limit: int | None) -> list[QueuedPod]:
        if limit is None:
            return sorted(entries, key=self._key)
        return heapq.nsmallest(limit, entries, key=self._key)

    def _first_active(self, limit: int) -> list[QueuedPod]:
        """The first pods in pop order, found by walking the heap from its root: the others are not looked at."""
        heap = self._heap
        out: list[QueuedPod] = []
        frontier = [(heap[0], 0)] if heap else []
        while frontier and len(out) < limit:
            (key, sequence, name), i = heapq.heappop(frontier)
            entry = self.active_pods.get(name)
            if entry is not None and (key, sequence) == self._key(entry) and entry not in out[-1:]:
                out.append(entry)
            for child in (2 * i + 1, 2 * i + 2):
                if child < len(heap):
                    heapq.heappush(frontier, (heap[child], child))
        return out

    def _push(self, entry: QueuedPod) -> None:
        heapq.heappush(self._heap, (*self._key(entry), entry.key))

    def _pop_active(self) -> QueuedPod | None:
        while self._heap:
            key, sequence, name = heapq.heappop(self._heap)
            entry = self.active_pods.get(name)
            if entry is not None and (key, sequence) == self._key(entry):
                del self.active_pods[name]
                return entry
        return None

    def _enqueue(self, entry: QueuedPod, cause: str) -> None:
        """Puts a pod into the active queue unless a PreEnqueue plugin holds it back."""
        gate = self._pre_enqueue(entry.pod)
        if gate:
            plugins = tuple(sorted({*entry.unschedulable_plugins, gate}))
            self.gated_pods[entry.key] = replace(entry, gated_by=gate, unschedulable_plugins=plugins)
            self._moved(entry.pod, Place.GATED, cause)
            return
        entry = replace(entry, gated_by="", backoff_until=None)
        self.active_pods[entry.key] = entry
        self._push(entry)
        self.nominator.add(entry.pod, None)
        self._moved(entry.pod, Place.ACTIVE, cause)

    def _cures(self, entry: QueuedPod, event: ClusterEvent) -> bool:
        return any(
            self._wakes(entry.pod, plugin, event)
            for plugin in (*entry.unschedulable_plugins, *entry.pending_plugins)
        )

    def _wake(self, entry: QueuedPod, event: ClusterEvent, now: int) -> None:
        pending = any(self._wakes(entry.pod, plugin, event) for plugin in entry.pending_plugins)
        if pending or entry.gated_by:
            self._enqueue(entry, event.label)
        else:
            self._move_on(entry, event.label, now)

    def _move_on(self, entry: QueuedPod, cause: str, now: int) -> None:
        if self._is_backing_off(entry, now):
            self._back_off(self.backoff_pods, entry, cause)
        else:
            self._enqueue(entry, cause)

    def _back_off(self, pods: dict[str, QueuedPod], entry: QueuedPod, cause: str) -> None:
        pods[entry.key] = entry
        if entry.backoff_until is not None and (self._soonest is None or entry.backoff_until < self._soonest):
            self._soonest = entry.backoff_until
        self._moved(entry.pod, Place.BACKOFF, cause)

    def _backing_off(self, entry: QueuedPod, failures: int) -> QueuedPod:
        wait = min(self.options.initial_backoff * 2 ** min(failures - 1, 60), self.options.max_backoff)
        until = entry.timestamp + wait
        if self.options.pop_from_backoff:
            until -= until % SECOND
        return replace(entry, backoff_until=until)

    def _is_backing_off(self, entry: QueuedPod, now: int) -> bool:
        if entry.backoff_until is None:
            return False
        if self.options.pop_from_backoff:
            return entry.backoff_until >= now - now % SECOND
        return entry.backoff_until > now


def _round_up(t: int) -> int:
    return -(-t // SECOND) * SECOND
