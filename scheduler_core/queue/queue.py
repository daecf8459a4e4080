"""The scheduling queue: active, backoff (two kinds) and unschedulable pods, and those in flight.

```
            add            pop                    failed by a plugin
  (gated) ------> active ------> in flight ----------------------------> unschedulable
     ^   PreEnqueue  ^                |                                      | event that a hint says may help
     |               |                | failed by an error                   v
     +---------------+----------------+---------> backoff <------- still backing off? else active
                      backoff is over
```

Entries are replaced, never changed. Times are virtual nanoseconds. kube keeps gated pods among the unschedulable ones; here they have a
map of their own, so that nobody looks at thousands of gated pods in vain.

kube: backend/queue/{scheduling_queue,active_queue,backoff_queue}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from scheduler_core.clock.agenda import SECOND
from scheduler_core.framework.events import (
    ATTEMPT_FAILED,
    BACKOFF_COMPLETE,
    FORCE_ACTIVATE,
    POP_FROM_BACKOFF,
    UNSCHEDULABLE_POD_ADD,
    UNSCHEDULABLE_POD_UPDATE,
    UNSCHEDULABLE_TIMEOUT,
    ClusterEvent,
    Happening,
)
from scheduler_core.objects.pod import Pod
from scheduler_core.queue.heap import Order, PodHeap
from scheduler_core.queue.in_flight import InFlight
from scheduler_core.queue.metrics import QueueMetrics
from scheduler_core.queue.nominator import Find, Nominator
from scheduler_core.queue.types import STAYS, QueuedPod, Rules, Strategy, Verdict
from scheduler_core.trace.journal import Place

FLUSH_PERIOD = 30 * SECOND
_AFTER_BACKOFF = Verdict(Strategy.AFTER_BACKOFF)
_NOMINATING = (UNSCHEDULABLE_POD_ADD.label, UNSCHEDULABLE_POD_UPDATE.label)


@dataclass(frozen=True, slots=True)
class QueueOptions:
    """Times in nanoseconds. `pop_from_backoff` is kube's gate SchedulerPopFromBackoffQ."""

    initial_backoff: int = SECOND
    max_backoff: int = 10 * SECOND
    max_in_unschedulable: int = 300 * SECOND
    pop_from_backoff: bool = True


class SchedulingQueue:
    """A waiting pod is in one of the queues by its key `namespace/name`; pods in flight are known by UID."""

    def __init__(self, options: QueueOptions, rules: Rules, nominator: Nominator | None = None) -> None:
        self.options = options
        self.nominator = nominator or Nominator()
        self.metrics = QueueMetrics()
        self.flight = InFlight()
        self.unschedulable_pods: dict[str, QueuedPod] = {}  # the longest waiting first
        self.gated_pods: dict[str, QueuedPod] = {}
        self._active = PodHeap()
        self._backoff = PodHeap()
        self._errors = PodHeap()  # those that failed by an error back off by themselves
        self._sequence = 0
        self._flushed: int | None = None  # when the unschedulable pods were looked through last
        self._rules = rules

    # What is in it

    def __len__(self) -> int:
        return sum(map(len, self._maps()))

    def __contains__(self, key: str) -> bool:
        return self.find(key) is not None

    @property
    def active_pods(self) -> dict[str, QueuedPod]:
        return self._active.entries

    @property
    def backoff_pods(self) -> dict[str, QueuedPod]:
        """Those that back off after a refusal."""
        return self._backoff.entries

    @property
    def error_backoff_pods(self) -> dict[str, QueuedPod]:
        """Those that back off after an error."""
        return self._errors.entries

    @property
    def in_flight(self) -> list[Pod]:
        """Pods that have been popped and are not done."""
        return self.flight.pods()

    def find(self, key: str) -> QueuedPod | None:
        for pods in self._maps():
            if key in pods:
                return pods[key]
        return None

    def active(self, limit: int | None = None) -> list[QueuedPod]:
        """Pods in pop order, the first `limit` of them."""
        return self._active.ordered(limit)

    def backoff(self, limit: int | None = None) -> list[QueuedPod]:
        """Pods that are backing off, the soonest first; those that failed by an error included."""
        entries = [*self._backoff.ordered(limit), *self._errors.ordered(limit)]
        return sorted(entries, key=self._backoff_order)[:limit]

    def backoff_after_refusal(self) -> list[QueuedPod]:
        """In the order in which they are popped when nothing is active."""
        return self._backoff.ordered()

    def backoff_after_error(self) -> list[QueuedPod]:
        return self._errors.ordered()

    def unschedulable(self) -> list[QueuedPod]:
        return list(self.unschedulable_pods.values())

    def gated(self) -> list[QueuedPod]:
        return list(self.gated_pods.values())

    @property
    def ready(self) -> bool:
        """Whether `pop` has something to give."""
        return bool(len(self._active) or (self.options.pop_from_backoff and len(self._backoff)))

    # In and out

    def add(self, pod: Pod, now: int) -> None:
        """A new pod."""
        self._to_active(self._fresh(pod, now), UNSCHEDULABLE_POD_ADD.label, now)

    def pop(self, now: int) -> QueuedPod | None:
        """Takes the first active pod, or the first that backs off after a refusal when there is none; it is then in flight."""
        while (entry := self._take_first()) is not None:
            entry = replace(entry, attempts=entry.attempts + 1)
            if entry.pod.uid not in self.flight:
                return self._fly(entry)
        return None

    def _take_first(self) -> QueuedPod | None:
        entry = self._active.pop()
        if entry is None and self.options.pop_from_backoff:
            entry = self._backoff.pop()
            if entry is not None:
                self.metrics.incoming["active", POP_FROM_BACKOFF] += 1
        return entry

    def _fly(self, entry: QueuedPod) -> QueuedPod:
        self.flight.start(entry.pod)
        for plugin in entry.rejectors:
            self.metrics.unschedulable[plugin, entry.pod.spec.scheduler_name] -= 1
        entry = replace(entry, unschedulable_plugins=(), pending_plugins=(), gated_by="")
        self._rules.moved(entry, Place.IN_FLIGHT, "popped", None)
        return entry

    def done(self, uid: str) -> None:
        """The pod is no longer in flight."""
        self.flight.done(uid)

    def requeue(
        self, entry: QueuedPod, now: int, plugins: tuple[str, ...], pending: tuple[str, ...] = ()
    ) -> None:
        """A pod whose attempt failed, with the plugins that refused it (none: it failed by an error).

        kube: AddUnschedulableIfNotPresent
        """
        if entry.key not in self:
            self._requeue_failed(entry, now, plugins, pending)
        self.done(entry.pod.uid)

    def _requeue_failed(
        self, entry: QueuedPod, now: int, plugins: tuple[str, ...], pending: tuple[str, ...]
    ) -> None:
        failed = not plugins and not pending
        entry = self._with_backoff(
            replace(
                entry,
                timestamp=now,
                unschedulable_plugins=plugins,
                pending_plugins=pending,
                unschedulable_count=entry.unschedulable_count + (not failed),
                error_count=entry.error_count + 1 if failed else 0,
            )
        )
        for plugin in entry.rejectors:
            self.metrics.unschedulable[plugin, entry.pod.spec.scheduler_name] += 1
        self._follow(entry, self._missed(entry), ATTEMPT_FAILED, now)

    def _missed(self, entry: QueuedPod) -> Verdict:
        """What the events that came while the pod was in flight mean to it."""
        if not entry.rejectors:
            return _AFTER_BACKOFF
        events = self.flight.events_of(entry.pod.uid)
        if events is None:
            return _AFTER_BACKOFF
        found = STAYS
        for what in events:
            verdict = self._rules.judge(entry, what)
            if verdict.strategy is Strategy.SKIP:
                continue
            if verdict.strategy is Strategy.IMMEDIATELY or not entry.pending_plugins:
                return verdict
            found = verdict
        return found

    def update(self, old: Pod | None, new: Pod, now: int, events: Iterable[ClusterEvent]) -> None:
        """The API server's version of a pod without a node changed."""
        happened = [Happening(event, old, new) for event in events]
        if new.uid in self.flight:
            for what in happened:
                self.flight.add(what)
            return
        if old is not None:
            for heap, order in (
                (self._active, self._active_order),
                (self._backoff, self._backoff_order),
                (self._errors, self._backoff_order),
            ):
                entry = heap.get(new.key)
                if entry is not None:
                    entry = replace(entry, pod=new)
                    heap.put(entry, order(entry))
                    self.nominator.update(old, new)
                    return
        entry = self._waiting(new.key)
        if entry is None:
            self._to_active(self._fresh(new, now), UNSCHEDULABLE_POD_UPDATE.label, now)
            return
        self._keep(replace(entry, pod=new))
        if old is not None:
            self.nominator.update(old, new)
        self._update_waiting(replace(entry, pod=new), now, happened)

    def _update_waiting(self, entry: QueuedPod, now: int, happened: list[Happening]) -> None:
        gated = bool(entry.gated_by)
        for what in happened:
            place = self._follow(entry, self._rules.judge(entry, what), what.event.label, now)
            if place is not Place.UNSCHEDULABLE:
                self._unpark(entry.key, gated)
                if place is Place.ACTIVE or self.options.pop_from_backoff:
                    return
            entry = self._waiting(entry.key) or entry

    def delete(self, pod: Pod) -> None:
        """The pod is gone, or bound by somebody."""
        self.nominator.delete(pod)
        for heap in (self._active, self._backoff, self._errors):
            if heap.remove(pod.key) is not None:
                return
        entry = self._waiting(pod.key)
        if entry is not None:
            self._unpark(pod.key, bool(entry.gated_by))

    # Events and timers

    def move_all(self, what: Happening, now: int, only: Callable[[Pod], bool] | None = None) -> None:
        """Moves the waiting pods that the event may help (of those that `only` leaves), and keeps it for the pods in flight."""
        if not self._rules.of_interest(what.event):
            return
        heard = self._rules.listeners(what.event)
        waiting = [e for e in self.unschedulable_pods.values() if not heard.isdisjoint(e.rejectors)]
        waiting += [e for e in self.gated_pods.values() if e.gated_by in heard]
        for entry in waiting:
            if only is None or only(entry.pod):
                self._move(entry, self._rules.judge(entry, what), what.event.label, now)
        if len(self.flight):
            self.flight.add(what)

    def _move(self, entry: QueuedPod, verdict: Verdict, cause: str, now: int) -> None:
        if verdict.strategy is Strategy.SKIP:
            return
        self._unpark(entry.key, bool(entry.gated_by))
        self._follow(entry, verdict, cause, now)

    def activate(self, pods: Iterable[Pod], now: int) -> None:
        """Moves pods to the active queue at once; those in flight will know that they were wanted."""
        for pod in pods:
            entry = self._waiting(pod.key)
            if entry is None:
                entry = self._backoff.remove(pod.key) or self._errors.remove(pod.key)
            if entry is not None and self._to_active(entry, FORCE_ACTIVATE.label, now):
                continue
            if pod.uid in self.flight:
                self.flight.add(Happening(FORCE_ACTIVATE, None, pod))

    def next_backoff_flush(self) -> int | None:
        """When the next pod may leave a backoff queue; None: there is no such pod."""
        heads = (self._backoff.peek(), self._errors.peek())
        ends = [entry.backoff_until or 0 for entry in heads if entry is not None]
        return (min(ends) // SECOND + 1) * SECOND if ends else None

    def flush_backoff(self, now: int) -> None:
        """Moves the pods whose backoff is over to the active queue."""
        over: list[QueuedPod] = []
        for heap in (self._backoff, self._errors):
            while (first := heap.peek()) is not None and not self._is_backing_off(first, now):
                heap.remove(first.key)
                over.append(first)
        for entry in over:
            self._to_active(entry, BACKOFF_COMPLETE, now)

    def next_unschedulable_flush(self) -> int | None:
        """When the first pod has waited for too long: at a whole half minute.

        Gated pods count while a pod is in flight: they stay, but it hears of the timeout.
        """
        first = next(iter(self.unschedulable_pods.values()), None)
        gated = next(iter(self.gated_pods.values()), None) if len(self.flight) else None
        since = [entry.timestamp for entry in (first, gated) if entry is not None]
        if not since:
            return None
        late = min(since) + self.options.max_in_unschedulable
        due = (late // FLUSH_PERIOD + 1) * FLUSH_PERIOD
        return due if self._flushed is None else max(due, self._flushed + FLUSH_PERIOD)

    def flush_unschedulable(self, now: int) -> None:
        """Moves the pods that have been unschedulable for longer than allowed."""
        self._flushed = now - now % FLUSH_PERIOD
        longest = self.options.max_in_unschedulable
        late = [e for e in self.unschedulable_pods.values() if now - e.timestamp > longest]
        gated = any(now - e.timestamp > longest for e in self.gated_pods.values())
        what = Happening(UNSCHEDULABLE_TIMEOUT, None, None)
        for entry in late:
            self._move(entry, self._rules.judge(entry, what), what.event.label, now)
        if (late or gated) and len(self.flight):
            self.flight.add(what)

    # Copying

    def copy(self, rules: Rules, find: Find | None) -> SchedulingQueue:
        """The same queue wired to another world."""
        twin = SchedulingQueue(self.options, rules, self.nominator.copy(find))
        twin.metrics = self.metrics.copy()
        twin.flight = self.flight.copy()
        twin.unschedulable_pods = dict(self.unschedulable_pods)
        twin.gated_pods = dict(self.gated_pods)
        twin._active = self._active.copy()
        twin._backoff = self._backoff.copy()
        twin._errors = self._errors.copy()
        twin._sequence = self._sequence
        twin._flushed = self._flushed
        return twin

    # Below here: how

    def _maps(self) -> tuple[dict[str, QueuedPod], ...]:
        return (
            self._active.entries,
            self._backoff.entries,
            self._errors.entries,
            self.unschedulable_pods,
            self.gated_pods,
        )

    def _fresh(self, pod: Pod, now: int) -> QueuedPod:
        self._sequence += 1
        return QueuedPod(pod, now, self._sequence)

    def _active_order(self, entry: QueuedPod) -> Order:
        return (*self._rules.sort_key(entry.pod, entry.timestamp), entry.sequence)

    def _backoff_order(self, entry: QueuedPod) -> Order:
        return (entry.backoff_until or 0, *self._active_order(entry))

    def _follow(self, entry: QueuedPod, verdict: Verdict, cause: str, now: int) -> str:
        """Puts a pod where a verdict says; returns the place that it came to. kube: requeuePodWithQueueingStrategy"""
        if verdict.strategy is Strategy.SKIP:
            self._park(entry, cause, None)
            return Place.UNSCHEDULABLE
        if verdict.strategy is Strategy.AFTER_BACKOFF and self._is_backing_off(entry, now):
            return Place.BACKOFF if self._to_backoff(entry, cause, verdict) else Place.UNSCHEDULABLE
        return Place.ACTIVE if self._to_active(entry, cause, now, verdict) else Place.UNSCHEDULABLE

    def _to_active(self, entry: QueuedPod, cause: str, now: int, why: Verdict | None = None) -> bool:
        """False where a PreEnqueue plugin holds the pod back."""
        gated_before = bool(entry.gated_by)
        if cause != BACKOFF_COMPLETE or not self.options.pop_from_backoff:
            entry = self._ask_gates(entry)
        if entry.gated_by:
            if entry.key not in self._active and not self._backs_off(entry.key):
                self._park(entry, cause, why)
            return False
        if entry.initial_timestamp is None:
            entry = replace(entry, initial_timestamp=now)
        self._active.put(entry, self._active_order(entry))
        self.metrics.incoming["active", cause] += 1
        self._unpark(entry.key, gated_before)
        if self._backoff.remove(entry.key) is None:
            self._errors.remove(entry.key)
        if cause in _NOMINATING:
            self.nominator.add(entry.pod, None)
        self._rules.moved(entry, Place.ACTIVE, cause, why)
        return True

    def _to_backoff(self, entry: QueuedPod, cause: str, why: Verdict | None) -> bool:
        """False where a PreEnqueue plugin holds the pod back."""
        if self.options.pop_from_backoff:
            entry = self._ask_gates(entry)
            if entry.gated_by:
                self._park(entry, cause, why)
                return False
        mine, other = (self._backoff, self._errors) if entry.rejectors else (self._errors, self._backoff)
        mine.put(entry, self._backoff_order(entry))
        if other.remove(entry.key) is None:
            self.metrics.incoming["backoff", cause] += 1
        self._rules.moved(entry, Place.BACKOFF, cause, why)
        return True

    def _ask_gates(self, entry: QueuedPod) -> QueuedPod:
        gate = self._rules.gate(entry.pod, entry.gated_by)
        if not gate:
            return replace(entry, gated_by="") if entry.gated_by else entry
        self.metrics.unschedulable[gate, entry.pod.spec.scheduler_name] += 1
        plugins = tuple(sorted({*entry.unschedulable_plugins, gate}))
        return replace(entry, gated_by=gate, unschedulable_plugins=plugins)

    def _backs_off(self, key: str) -> bool:
        return key in self._backoff or key in self._errors

    def _waiting(self, key: str) -> QueuedPod | None:
        return self.unschedulable_pods.get(key) or self.gated_pods.get(key)

    def _park(self, entry: QueuedPod, cause: str, why: Verdict | None) -> None:
        """Into the unschedulable pods, gated or not."""
        before = self._waiting(entry.key)
        if before is None:
            self.metrics.waiting["gated" if entry.gated_by else "unschedulable"] += 1
            self.metrics.incoming["unschedulable", cause] += 1
        self._keep(entry)
        if before is None or bool(before.gated_by) != bool(entry.gated_by):
            self._rules.moved(entry, Place.GATED if entry.gated_by else Place.UNSCHEDULABLE, cause, why)

    def _keep(self, entry: QueuedPod) -> None:
        """Writes an unschedulable pod where its gate says it belongs."""
        here, there = self.gated_pods, self.unschedulable_pods
        if not entry.gated_by:
            here, there = there, here
        there.pop(entry.key, None)
        here[entry.key] = entry

    def _unpark(self, key: str, gated: bool) -> None:
        """Out of the unschedulable pods; `gated` is what the gauge is told (kube: it may be out of date)."""
        if self.unschedulable_pods.pop(key, None) or self.gated_pods.pop(key, None):
            self.metrics.waiting["gated" if gated else "unschedulable"] -= 1

    def _with_backoff(self, entry: QueuedPod) -> QueuedPod:
        """With the end of the backoff that its failures ask for."""
        failures = entry.error_count or entry.unschedulable_count
        if not failures or not self.options.max_backoff:
            return replace(entry, backoff_until=None)
        wait = min(self.options.initial_backoff << min(failures - 1, 60), self.options.max_backoff)
        until = entry.timestamp + wait
        if self.options.pop_from_backoff:
            until -= until % SECOND
        return replace(entry, backoff_until=until)

    def _is_backing_off(self, entry: QueuedPod, now: int) -> bool:
        if entry.backoff_until is None:
            return False
        return entry.backoff_until >= (now - now % SECOND if self.options.pop_from_backoff else now)
