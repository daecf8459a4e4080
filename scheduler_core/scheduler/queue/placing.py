"""The placement of pods in the queue: runs PreEnqueue, keeps the orders, counts, and reports every move.

Entries are replaced, never changed.

kube: backend/queue/scheduling_queue.go (moveToActiveQ, moveToBackoffQ, requeuePodWithQueueingStrategy) @ v1.34.1
"""

import math
from dataclasses import dataclass, replace

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.clock.agenda import FOREVER, SECOND
from scheduler_core.base.releases import Behavior
from scheduler_core.base.trace.journal import Place
from scheduler_core.scheduler.framework.events import BACKOFF_COMPLETE, POP_FROM_BACKOFF, Action
from scheduler_core.scheduler.queue.state import Order, QueueState
from scheduler_core.scheduler.queue.types import STAYS, QueuedPod, QueueOptions, RequeueDecision, Rules, Strategy

# The backoff of a failed pod: its duration and its end.
# kube: backend/queue/backoff_queue.go @ v1.34.1


@dataclass(frozen=True, slots=True)
class Backoff:
    """The backoff: 1 s, 2 s, 4 s … 10 s by default. With `pop_from_backoff` all times are floored to seconds, as in kube's window.

    The historical queue doubles once more, and counts all failed attempts alike.
    """

    _options: QueueOptions

    def begin(self, entry: QueuedPod) -> QueuedPod:
        """Return the pod with the end of the backoff for its failures."""
        # As in kube, consecutive errors have a backoff of their own, so that earlier rejections do not lengthen it.
        failures = entry.error_count or entry.unschedulable_count
        if not failures or not self._options.max_backoff:
            return replace(entry, backoff_until=None)
        doublings = entry.attempts if self._options.historical else failures - 1
        # Python integers do not overflow; the cap avoids huge shifts after very many failures.
        longest = self._options.max_backoff
        if entry.members:
            longest = int(longest * math.sqrt(entry.size))
        wait = min(self._options.initial_backoff << min(doublings, 60), longest)
        until = min(entry.timestamp + wait, FOREVER)
        if self._options.pop_from_backoff:
            # kube's ordering window: among pods whose backoff ends in the same second, the queue's sort decides.
            until -= until % SECOND
        return replace(entry, backoff_until=until)

    def lasts(self, entry: QueuedPod, now: int) -> bool:
        """Return whether the pod is still backing off."""
        if entry.backoff_until is None:
            return False
        return entry.backoff_until >= (now - now % SECOND if self._options.pop_from_backoff else now)


_WANTED = {Strategy.IMMEDIATELY: "active", Strategy.AFTER_BACKOFF: "backoff", Strategy.SKIP: "unschedulable"}


class QueuePlacement:
    """The places of the queue. `cause` is the label of a move's cause, `why` the decision if a plugin's hint ran."""

    def __init__(self, state: QueueState, options: QueueOptions, rules: Rules) -> None:
        self._state = state
        self._options = options
        self._rules = rules
        self.backoff = Backoff(options)
        self._counts_once = Behavior.REASONS_COUNTED_ONCE in options.behaviors
        # Since 1.37 a new pod is nominated before PreEnqueue runs (SchedulingQueue.add).
        late = Behavior.GATED_NOMINATIONS not in options.behaviors
        self._nominating = (options.events.label(Action.ADD), options.events.label(Action.UPDATE)) if late else ()

    def active_order(self, entry: QueuedPod) -> Order:
        # The sequence number makes the order total; without it, names would order pods of one priority and time.
        return (*self._rules.sort_key(entry.pod, entry.timestamp), entry.sequence)

    def backoff_order(self, entry: QueuedPod) -> Order:
        return (entry.backoff_until or 0, *self.active_order(entry))

    def take_first(self) -> QueuedPod | None:
        """Pop the first active pod; if there is none, the first pod in backoff after a rejection."""
        entry = self._state.active.pop()
        if entry is None and self._options.pop_from_backoff:
            # Never from `errors`: kube keeps podErrorBackoffQ apart so that pods wait out the backoff of an error.
            entry = self._state.backoff.pop()
            if entry is not None:
                self._count("active", entry, POP_FROM_BACKOFF, None)
        return entry

    def fly(self, entry: QueuedPod) -> QueuedPod:
        """Put a pod in flight, and forget its earlier rejections."""
        for each in entry.pods():
            self._state.flight.start(each.pod)
            self.uncount(each)
        self._state.cycle += 1
        entry = entry.take_off(self._state.cycle)
        if entry.members:
            self._state.popped = entry.key
        self._rules.moved(entry, Place.IN_FLIGHT, "popped", None)
        return entry

    def uncount(self, entry: QueuedPod) -> None:
        """Remove a pod from scheduler_unschedulable_pods."""
        for plugin in entry.rejectors:
            self._state.metrics.unschedulable[plugin, entry.pod.spec.scheduler_name] -= 1

    def follow(self, entry: QueuedPod, decision: RequeueDecision, cause: str, now: int) -> str:
        """Put a pod in the place of a decision. Return the place. kube: requeuePodWithQueueingStrategy"""
        if decision.strategy is Strategy.SKIP:
            self.park(entry, cause, STAYS)
            return Place.UNSCHEDULABLE
        if decision.strategy is Strategy.AFTER_BACKOFF and self.backoff.lasts(entry, now):
            return Place.BACKOFF if self.to_backoff(entry, cause, decision) else Place.UNSCHEDULABLE
        return Place.ACTIVE if self.to_active(entry, cause, now, decision) else Place.UNSCHEDULABLE

    def move(self, entry: QueuedPod, decision: RequeueDecision, cause: str, now: int) -> None:
        """Move an unschedulable pod as decided, or leave it if it stays."""
        if decision.strategy is Strategy.SKIP:
            return
        self._state.unpark(entry.key, bool(entry.gated_by))
        self.follow(entry, decision, cause, now)

    def to_active(self, entry: QueuedPod, cause: str, now: int, why: RequeueDecision | None = None) -> bool:
        """Move a pod to the active queue. Return False if a PreEnqueue plugin rejects it."""
        state = self._state
        gated_before = bool(entry.gated_by)
        # With this gate kube has run PreEnqueue on the way into backoff (see to_backoff), and does not run it twice.
        if cause != BACKOFF_COMPLETE or not self._options.pop_from_backoff:
            entry = self._ask_gates(entry)
        if entry.gated_by:
            if entry.key not in state.active and not state.backs_off(entry.key):
                self.park(entry, cause, why)
            return False
        # Only after PreEnqueue, as in kube: the time while a pod is gated is not part of its scheduling latency.
        if entry.initial_timestamp is None or entry.members:
            entry = entry.begin(now)
        state.active.put(entry, self.active_order(entry))
        self._count("active", entry, cause, why)
        state.unpark(entry.key, gated_before)
        state.take_from_backoff(entry.key)
        # On other moves the nominator stays unchanged: it may be newer than the pod's status, which an update would restore.
        if cause in self._nominating:
            state.nominator.add(entry.pod, None)
        self._rules.moved(entry, Place.ACTIVE, cause, why)
        return True

    def to_backoff(self, entry: QueuedPod, cause: str, why: RequeueDecision | None) -> bool:
        """Move a pod to a backoff queue. Return False if a PreEnqueue plugin rejects it."""
        state, gated_before = self._state, bool(entry.gated_by)
        if self._options.pop_from_backoff:
            entry = self._ask_gates(entry)
            if entry.gated_by:
                self.park(entry, cause, why)
                return False
        state.unpark(entry.key, gated_before)
        mine, other = (state.backoff, state.errors) if entry.rejectors else (state.errors, state.backoff)
        mine.put(entry, self.backoff_order(entry))
        if other.remove(entry.key) is None:
            self._count("backoff", entry, cause, why)
        self._rules.moved(entry, Place.BACKOFF, cause, why)
        return True

    def park(self, entry: QueuedPod, cause: str, why: RequeueDecision | None) -> None:
        """Move a pod to the unschedulable pods, gated or not."""
        state = self._state
        before = state.parked(entry.key)
        if before is None:
            state.metrics.waiting["gated" if entry.gated_by else "unschedulable"] += entry.size
            self._count("unschedulable", entry, cause, why)
        state.keep(entry)
        if before is None or bool(before.gated_by) != bool(entry.gated_by):
            self._rules.moved(entry, Place.GATED if entry.gated_by else Place.UNSCHEDULABLE, cause, why)

    def report_place(self, entry: QueuedPod) -> None:
        """Report the place of a queued pod again, because its journey continued outside of the queue."""
        state = self._state
        place = Place.GATED if entry.gated_by else Place.UNSCHEDULABLE
        if entry.key in state.active:
            place = Place.ACTIVE
        elif state.backs_off(entry.key):
            place = Place.BACKOFF
        self._rules.moved(entry, place, "already queued", None)

    def put_back(self, entry: QueuedPod) -> None:
        """Put a changed entity in its place, which is one of the heaps."""
        state = self._state
        for heap, order in (
            (state.active, self.active_order),
            (state.backoff, self.backoff_order),
            (state.errors, self.backoff_order),
        ):
            if entry.key in heap:
                heap.put(entry, order(entry))

    def renew(self, pod: Pod) -> bool:
        """Replace an active or backing-off pod by a newer version. Return False if it is neither."""
        for heap, order in (
            (self._state.active, self.active_order),
            (self._state.backoff, self.backoff_order),
            (self._state.errors, self.backoff_order),
        ):
            entry = heap.get(pod.key)
            if entry is not None:
                entry = replace(entry, pod=pod)
                heap.put(entry, order(entry))
                return True
        return False

    def _count(self, place: str, entry: QueuedPod, cause: str, why: RequeueDecision | None) -> None:
        """Count an entity if no hint ran, or if the hint chose another queue. kube: recordIncomingEntitiesMetrics"""
        metrics = self._state.metrics
        metrics.incoming[place, cause] += entry.size
        if why is None or _WANTED[why.strategy] != place:
            metrics.entities[place, cause, "podgroup" if entry.members else "pod"] += 1

    def _ask_gates(self, entry: QueuedPod) -> QueuedPod:
        if entry.members:
            members = tuple([self._ask_gates(each) for each in entry.members])
            gates = [each.gated_by for each in members if each.gated_by]
            return replace(entry, members=members, gated_by=gates[-1] if gates else "")
        gate = self._rules.gate(entry.pod, entry.gated_by)
        if not gate:
            return replace(entry, gated_by="") if entry.gated_by else entry
        if not self._counts_once or gate not in entry.rejectors:
            self._state.metrics.unschedulable[gate, entry.pod.spec.scheduler_name] += 1
        plugins = tuple(sorted({*entry.unschedulable_plugins, gate}))
        return replace(entry, gated_by=gate, unschedulable_plugins=plugins)
