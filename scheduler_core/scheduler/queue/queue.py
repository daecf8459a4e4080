"""The scheduling queue: active, backoff (two kinds) and unschedulable pods, and those in flight.

```
            add            pop                    failed by a plugin
  (gated) ------> active ------> in flight ----------------------------> unschedulable
     ^   PreEnqueue  ^                |                                      | event that may help, by a hint
     |               |                | failed by an error                   v
     +---------------+----------------+---------> backoff <------- still backing off? else active
                      backoff is over
```

This module is the queue's interface. Its state is in state.py, the placement of pods and their backoff in placing.py, the rules of moves
in moves.py. Times are virtual nanoseconds.

kube: backend/queue/{scheduling_queue,active_queue,backoff_queue}.go @ v1.34.1
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.releases import Behavior
from scheduler_core.base.state import Copied, Derived, State
from scheduler_core.scheduler.framework.events import FORCE_ACTIVATE, Action, ClusterEvent, ObjectEvent
from scheduler_core.scheduler.queue.groups import GroupQueue
from scheduler_core.scheduler.queue.historical import HistoricalMoves
from scheduler_core.scheduler.queue.moves import HintedMoves
from scheduler_core.scheduler.queue.nominator import Nominator
from scheduler_core.scheduler.queue.placing import QueuePlacement
from scheduler_core.scheduler.queue.state import InFlight, QueueState
from scheduler_core.scheduler.queue.types import QueuedPod, QueueMetrics, QueueOptions, RequeueDecision, Rules


class SchedulingQueue(State):
    """The queue. A waiting pod is in one of its places by the key `namespace/name`; pods in flight are identified by UID."""

    options: QueueOptions
    state: Copied[QueueState]
    _rules: Derived[Rules]
    groups: Derived[GroupQueue | None]
    _placing: Derived[QueuePlacement]
    moves: Derived[HintedMoves]

    def __init__(self, options: QueueOptions, rules: Rules, state: QueueState | None = None) -> None:
        self.options = options
        self.state = state or QueueState()
        self.connect(rules)

    def connect(self, rules: Rules) -> None:
        """Connect to rules. A copy has none until then."""
        moves = HistoricalMoves if self.options.historical else HintedMoves
        self.nominator.queued = self.state.find
        self._rules = rules
        self._placing = QueuePlacement(self.state, self.options, rules)
        self.groups = GroupQueue(self.state, self._placing, self.options, rules) if self.options.groups else None
        self.state.grouped = self.options.groups
        self.moves = moves(self.state, self._placing, self.options, rules)

    def disconnect(self) -> None:
        """Drop the references that `connect` sets."""
        del self._rules, self._placing, self.moves, self.groups
        self.nominator.find = self.nominator.queued = None

    # Contents

    def __len__(self) -> int:
        return sum(map(len, self.state.maps()))

    def __contains__(self, key: str) -> bool:
        return self.state.find(key) is not None

    def find(self, key: str) -> QueuedPod | None:
        return self.state.find(key)

    @property
    def nominator(self) -> Nominator:
        return self.state.nominator

    @property
    def metrics(self) -> QueueMetrics:
        return self.state.metrics

    @property
    def flight(self) -> InFlight:
        return self.state.flight

    @property
    def active_pods(self) -> dict[str, QueuedPod]:
        return self.state.active.entries

    @property
    def backoff_pods(self) -> dict[str, QueuedPod]:
        """The pods that back off after a refusal."""
        return self.state.backoff.entries

    @property
    def error_backoff_pods(self) -> dict[str, QueuedPod]:
        """The pods that back off after an error."""
        return self.state.errors.entries

    @property
    def unschedulable_pods(self) -> dict[str, QueuedPod]:
        """The unschedulable pods, the longest waiting first."""
        return self.state.unschedulable

    @property
    def gated_pods(self) -> dict[str, QueuedPod]:
        """The pods that PreEnqueue rejects, and those without a PodGroup."""
        lone = [each for members in self.state.incomplete.values() for each in members.values()]
        if not lone:
            return self.state.gated
        return self.state.gated | {each.key: replace(each, gated_by="GangScheduling") for each in lone}

    @property
    def in_flight(self) -> list[Pod]:
        """The popped pods whose attempt is not done."""
        return self.state.flight.pods()

    def active(self, limit: int | None = None) -> list[QueuedPod]:
        """Return the first `limit` active pods in pop order."""
        return self.state.active.ordered(limit)

    def backoff(self, limit: int | None = None) -> list[QueuedPod]:
        """Return the pods in backoff, the soonest first, including those that failed by an error."""
        entries = [*self.state.backoff.ordered(limit), *self.state.errors.ordered(limit)]
        return sorted(entries, key=self._placing.backoff_order)[:limit]

    def backoff_after_refusal(self) -> list[QueuedPod]:
        """Return the pods that back off, in the order in which they are popped if no pod is active."""
        return self.state.backoff.ordered()

    def backoff_after_error(self) -> list[QueuedPod]:
        return self.state.errors.ordered()

    def unschedulable(self) -> list[QueuedPod]:
        return list(self.state.unschedulable.values())

    def gated(self) -> list[QueuedPod]:
        return list(self.state.gated.values())

    @property
    def ready(self) -> bool:
        """True if `pop` has a pod to return."""
        state = self.state
        return bool(len(state.active) or (self.options.pop_from_backoff and len(state.backoff)))

    def requeue_decision(self, entry: QueuedPod, what: ObjectEvent) -> RequeueDecision:
        """Return the decision of the refusing plugins' hints for an event, without moving the pod."""
        return self._rules.requeue_decision(entry, what)

    # In and out

    def add(self, pod: Pod, now: int) -> None:
        """Add a new pod."""
        if Behavior.GATED_NOMINATIONS in self.options.behaviors:
            self.state.nominator.add(pod, None)
        if self.groups is not None and pod.spec.group:
            self.groups.add(self.state.fresh(pod, now), now)
            return
        self._placing.to_active(self.state.fresh(pod, now), self.options.events.label(Action.ADD), now)

    def pop(self, now: int) -> QueuedPod | None:
        """Pop the first active pod, or the first in backoff after a rejection if none is active. The pod is then in flight."""
        while (entry := self._placing.take_first()) is not None:
            entry = entry.count_attempt()
            # kube discards a pod that is in flight already. A second marker of its UID would leave the first one, and
            # every event behind it, in the list for good.
            if entry.members:
                entry = replace(entry, members=tuple(m for m in entry.members if m.pod.uid not in self.state.flight))
                if not entry.members:
                    continue
            if entry.members or entry.pod.uid not in self.state.flight:
                return self._placing.fly(entry)
        return None

    def done(self, uid: str) -> None:
        """Remove a pod from flight."""
        self.state.flight.done(uid)

    def requeue(self, entry: QueuedPod, now: int, plugins: tuple[str, ...], pending: tuple[str, ...] = ()) -> None:
        """Requeue a pod whose attempt failed, with the plugins that rejected it (none: an error).

        A pod that is already queued stays in its place. This happens after the attempt of a deleted pod of the same name failed.

        kube: AddUnschedulableIfNotPresent
        """
        queued = self.find(entry.key)
        if queued is None:
            self._requeue_failed(entry, now, plugins, pending)
        else:
            self._placing.report_place(queued)
        # Only now: the decision above reads the events since the pod was popped, and `done` may drop them.
        self.done(entry.pod.uid)

    def _requeue_failed(self, entry: QueuedPod, now: int, plugins: tuple[str, ...], pending: tuple[str, ...]) -> None:
        failed = not plugins and not pending
        entry = replace(
            entry,
            timestamp=now,
            unschedulable_plugins=plugins,
            pending_plugins=pending,
            unschedulable_count=entry.unschedulable_count + (not failed),
            # kube's ConsecutiveErrorsCount: a rejection resets it, but an error does not reset the count of rejections.
            error_count=entry.error_count + 1 if failed else 0,
        )
        for plugin in entry.rejectors:
            self.state.metrics.unschedulable[plugin, entry.pod.spec.scheduler_name] += 1
        if self.groups is not None and entry.pod.spec.group:
            self.groups.add(entry, now)
        else:
            self.moves.on_failure(self._placing.backoff.begin(entry), now)

    def update(self, old: Pod | None, new: Pod, now: int, events: Iterable[ClusterEvent]) -> None:
        """Update a pod without a node that has changed in the API server."""
        state = self.state
        happened = [ObjectEvent(event, old, new) for event in events]
        if new.uid in state.flight:
            # The pod cannot be moved now. If its attempt fails, these events decide on its place, and the live pod is requeued.
            for what in happened:
                state.flight.add(what)
            return
        if self.groups is not None and new.spec.group:
            if old is None or not self.groups.update(old, new, happened, now):
                self.add(new, now)
            return
        if old is not None and self._placing.renew(new):
            state.nominator.update(old, new)
            return
        entry = state.parked(new.key)
        if entry is None:
            if Behavior.GATED_NOMINATIONS in self.options.behaviors:
                self.add(new, now)
            else:
                self._placing.to_active(state.fresh(new, now), self.options.events.label(Action.UPDATE), now)
            return
        entry = replace(entry, pod=new)
        state.keep(entry)
        if old is not None:
            state.nominator.update(old, new)
        self.moves.on_update(entry, happened, now)

    def delete(self, pod: Pod, now: int = 0) -> None:
        """Delete a pod that is deleted or bound."""
        state = self.state
        state.nominator.delete(pod)
        if self.groups is not None and pod.spec.group:
            self.groups.delete(pod, now)
            return
        entry = state.active.remove(pod.key) or state.take_from_backoff(pod.key)
        if entry is None:
            entry = state.parked(pod.key)
            if entry is not None:
                state.unpark(pod.key, bool(entry.gated_by))
        if entry is not None and Behavior.DELETED_PODS_UNCOUNTED in self.options.behaviors:
            self._placing.uncount(entry)

    # Moves

    def move_all(self, what: ObjectEvent, now: int, only: Callable[[Pod], bool] | None = None) -> None:
        """Move the waiting pods that the event may help (of those that pass `only`)."""
        self.moves.on_event(what, now, only)

    def activate(self, pods: Iterable[Pod], now: int) -> None:
        """Move pods to the active queue at once. Pods in flight get an event instead."""
        state = self.state
        for pod in pods:
            if self.groups is not None and pod.spec.group:
                if self.groups.activate(pod, now):
                    continue
            else:
                entry = state.parked(pod.key) or state.take_from_backoff(pod.key)
                if entry is not None and self._placing.to_active(entry, FORCE_ACTIVATE.label, now):
                    continue
            # A pod in flight cannot be moved; if its attempt fails, the event keeps it from being parked.
            if pod.uid in state.flight:
                state.flight.add(ObjectEvent(FORCE_ACTIVATE, None, pod))

    def flush_due(self, entry: QueuedPod) -> int:
        """Return the time when an unschedulable pod exceeds its maximum wait; a gated pod stays nevertheless."""
        return self.moves.flush_due(entry)
