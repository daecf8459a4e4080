"""The moves of waiting pods: the effect of an event, a failure, an update, or a timer. Other rules can replace this module's.

`HintedMoves` decides like v1.34, by the hints of the plugins that rejected a pod. Other rules are a subclass, as in historical.py. The
class has no state of its own: its state is in QueueState, so that copies and codecs need only one place.

kube: backend/queue/scheduling_queue.go @ v1.34.1
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.base.releases import Behavior
from scheduler_core.base.trace.journal import Place
from scheduler_core.scheduler.framework.events import (
    ATTEMPT_FAILED,
    BACKOFF_COMPLETE,
    UNSCHEDULABLE_TIMEOUT,
    ObjectEvent,
)
from scheduler_core.scheduler.queue.placing import QueuePlacement
from scheduler_core.scheduler.queue.state import QueueState
from scheduler_core.scheduler.queue.types import STAYS, QueuedPod, QueueOptions, RequeueDecision, Rules, Strategy

FLUSH_PERIOD = 30 * SECOND
_AFTER_BACKOFF = RequeueDecision(Strategy.AFTER_BACKOFF)


class HintedMoves:
    """Moves as in v1.34 with its gate SchedulerQueueingHints, which is locked on. Times are virtual nanoseconds."""

    def __init__(self, state: QueueState, placing: QueuePlacement, options: QueueOptions, rules: Rules) -> None:
        self._state = state
        self._placing = placing
        self._options = options
        self._rules = rules
        self._flushes_gated = Behavior.FLUSHED_GATES in options.behaviors

    def on_event(self, what: ObjectEvent, now: int, only: Callable[[Pod], bool] | None) -> None:
        """Move the parked pods that an event may help (of those that pass `only`), and store the event for the pods in flight.

        kube: moveAllToActiveOrBackoffQueue
        """
        if not self._rules.of_interest(what.event):
            return
        state = self._state
        heard = self._rules.listeners(what.event)
        # A list, as moving a pod changes the dict. kube walks a Go map, in random order; here the longest waiting
        # pods go first, so that a run is reproducible.
        waiting = [e for e in state.unschedulable.values() if not heard.isdisjoint(e.rejectors)]
        self._ask(waiting + self._gated(what), what, now, only)
        # Without a pod in flight no later failure needs the event.
        if len(state.flight):
            state.flight.add(what)

    def _gated(self, what: ObjectEvent) -> list[QueuedPod]:
        """Return the pods whose gate the event may open."""
        if not self._state.gated:
            return []
        heard = self._rules.listeners(what.event)
        return [e for e in self._state.gated.values() if e.gated_by in heard]

    def _ask(
        self, waiting: Sequence[QueuedPod], what: ObjectEvent, now: int, only: Callable[[Pod], bool] | None
    ) -> None:
        for entry in waiting:
            if only is None or any(only(each.pod) for each in entry.pods()):
                self._placing.move(entry, self._rules.requeue_decision(entry, what), what.event.label, now)

    def on_failure(self, entry: QueuedPod, now: int) -> None:
        """Move a pod whose attempt failed, and which is still in flight, to its new place."""
        self._placing.follow(entry, self._decide_missed(entry), ATTEMPT_FAILED, now)

    def _decide_missed(self, entry: QueuedPod) -> RequeueDecision:
        """Return the decision for the events that happened while the pod was in flight."""
        if not entry.rejectors:
            return _AFTER_BACKOFF
        events = self._state.flight.events_of(entry.pod.uid)
        if events is None:
            return _AFTER_BACKOFF
        latest = STAYS
        for what in events:
            decision = self._rules.requeue_decision(entry, what)
            if decision.strategy is Strategy.SKIP:
                continue
            # Only a pending plugin can raise the answer to IMMEDIATELY; without one no later event can improve it.
            if decision.strategy is Strategy.IMMEDIATELY or not entry.pending_plugins:
                return decision
            latest = decision
        return latest

    def on_update(self, entry: QueuedPod, happened: Sequence[ObjectEvent], now: int) -> None:
        """Move a parked pod that was updated; its new version is already parked."""
        for what in happened:
            place = self._placing.follow(entry, self._rules.requeue_decision(entry, what), what.event.label, now)
            if place is Place.ACTIVE or (place is Place.BACKOFF and self._options.pop_from_backoff):
                return
            entry = self._state.parked(entry.key) or entry

    def next_backoff_flush(self) -> int | None:
        """Return the time when the next pod may leave a backoff queue, or None if there is no pod."""
        heads = (self._state.backoff.peek(), self._state.errors.peek())
        ends = [entry.backoff_until or 0 for entry in heads if entry is not None]
        # kube flushes once a second, and a backoff lasts through its very end: hence the whole second after it.
        return (min(ends) // SECOND + 1) * SECOND if ends else None

    def flush_backoff(self, now: int) -> None:
        """Move the pods whose backoff has ended to the active queue."""
        over: list[QueuedPod] = []
        for heap in (self._state.backoff, self._state.errors):
            while (first := heap.peek()) is not None and not self._placing.backoff.lasts(first, now):
                heap.remove(first.key)
                over.append(first)
        for entry in over:
            self._placing.to_active(entry, BACKOFF_COMPLETE, now)

    def next_unschedulable_flush(self) -> int | None:
        """Return the time when the first parked pod exceeds its maximum wait, at a whole half minute; None: no such pod.

        Gated pods count while a pod is in flight: they stay, but that pod gets the timeout event.
        """
        state = self._state
        first = next(iter(state.unschedulable.values()), None)
        gated = next(iter(state.gated.values()), None) if len(state.flight) or self._flushes_gated else None
        since = [entry.waits_since for entry in (first, gated) if entry is not None]
        if not since:
            return None
        due = self._overdue(min(since))
        return due if state.flushed is None else max(due, state.flushed + FLUSH_PERIOD)

    def flush_due(self, entry: QueuedPod) -> int:
        """Return the time when a parked pod exceeds its maximum wait."""
        return self._overdue(entry.waits_since)

    def _overdue(self, since: int) -> int:
        late = since + self._options.max_in_unschedulable
        # kube flushes strictly older pods every 30 seconds, so a pod that is due at a tick waits for the next tick.
        return (late // FLUSH_PERIOD + 1) * FLUSH_PERIOD

    def flush_unschedulable(self, now: int) -> None:
        """Move the pods that have exceeded their maximum wait."""
        state = self._state
        state.flushed = now - now % FLUSH_PERIOD
        longest = self._options.max_in_unschedulable
        late = [e for e in state.unschedulable.values() if now - e.waits_since > longest]
        gated = [e for e in state.gated.values() if now - e.waits_since > longest]
        what = ObjectEvent(UNSCHEDULABLE_TIMEOUT, None, None)
        for entry in late + gated * self._flushes_gated:
            flushed = replace(entry, flushed=now)
            self._placing.move(flushed, self._rules.requeue_decision(flushed, what), what.event.label, now)
        if (late or gated) and len(state.flight):
            state.flight.add(what)
