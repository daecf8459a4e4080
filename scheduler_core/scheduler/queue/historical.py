"""The scheduling queue as described by a document about older releases (reference 003), for lessons: one number instead of hints.

```
every event that counts: move request      all unschedulable pods -> backing off? backoff, else active;   moveRequestCycle = cycle of now
an attempt failed                          moveRequestCycle >= its cycle? backoff, else unschedulable
every 30 s                                 pods that have been unschedulable for 30 s or longer: as by an event
```
There are no hints and no registrations of plugins. A pod that is bound to a node is a move request only for the
pods whose required affinity matches it. The backoff is the initial one times 2^n after n failed attempts. Nothing is popped
from the backoff queue.

DEVIATION: gates (PreEnqueue) are newer than the document; gated pods are moved as in v1.34.

kube: backend/queue/scheduling_queue.go of the releases before QueueingHints (MoveAllToActiveOrBackoffQueue, moveRequestCycle)
"""

from collections.abc import Callable, Sequence

from scheduler_core.apimachinery.objects.affinity import affinity_terms
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework import events
from scheduler_core.scheduler.queue.moves import FLUSH_PERIOD, HintedMoves
from scheduler_core.scheduler.queue.types import QueuedPod, RequeueDecision, Strategy

SERVICE = "Service"
MOVE_REQUEST = "moveRequestCycle"
_RESOURCES = (
    events.POD,
    events.ASSIGNED_POD,
    events.UNSCHEDULABLE_POD,
    events.UNSCHEDULED_POD,
    events.TARGET_POD,
    "Node",
    SERVICE,
    "PersistentVolume",
    "PersistentVolumeClaim",
    "storage.k8s.io/StorageClass",
    "storage.k8s.io/CSINode",
)


class HistoricalMoves(HintedMoves):
    """Moves by request. `state.cycle` counts the pods popped, `state.move_request` is the last request's cycle and event."""

    def on_event(self, what: events.ObjectEvent, now: int, only: Callable[[Pod], bool] | None) -> None:
        if what.event.resource not in _RESOURCES:
            return
        waiting = list(self._state.unschedulable.values())
        self._ask(self._gated(what), what, now, only)
        if what.event.resource == events.ASSIGNED_POD and what.new is not None:
            waiting = [entry for entry in waiting if _is_affine(entry.pod, what.new)]
        self._request(what, now, [e for e in waiting if only is None or only(e.pod)])

    def _request(self, what: events.ObjectEvent, now: int, entries: Sequence[QueuedPod]) -> None:
        label = what.event.label
        for entry in entries:
            self._placing.move(entry, RequeueDecision(Strategy.AFTER_BACKOFF, label), label, now)
        self._state.move_request = self._state.cycle, label

    def on_failure(self, entry: QueuedPod, now: int) -> None:
        cycle, label = self._state.move_request
        if cycle >= entry.cycle:
            why = RequeueDecision(Strategy.AFTER_BACKOFF, label, hint=MOVE_REQUEST)
            self._placing.to_backoff(entry, events.ATTEMPT_FAILED, why)
        else:
            self._placing.park(entry, events.ATTEMPT_FAILED, None)

    def on_update(self, entry: QueuedPod, happened: Sequence[events.ObjectEvent], now: int) -> None:
        """Move only the updated pod, if more than its status has changed."""
        if entry.gated_by:
            super().on_update(entry, happened, now)
        elif happened and _differs(happened[0].old, happened[0].new):
            label = happened[0].event.label
            self._placing.move(entry, RequeueDecision(Strategy.AFTER_BACKOFF, label), label, now)

    def next_unschedulable_flush(self) -> int | None:
        first = next(iter(self._state.unschedulable.values()), None)
        return None if first is None else -(-(first.timestamp + FLUSH_PERIOD) // FLUSH_PERIOD) * FLUSH_PERIOD

    def flush_unschedulable(self, now: int) -> None:
        late = [e for e in self._state.unschedulable.values() if now - e.timestamp >= FLUSH_PERIOD]
        self._request(events.ObjectEvent(events.UNSCHEDULABLE_TIMEOUT, None, None), now, late)


def _is_affine(pod: Pod, other: Pod) -> bool:
    """Return whether a required affinity term of the pod matches the other. kube: getUnschedulablePodsWithMatchingAffinityTerm"""
    return any(term.matches(other.namespace, other.labels, {}) for term in affinity_terms(pod).required)


def _differs(old: Pod | None, new: Pod) -> bool:
    """Return whether more than the status differs. kube: isPodUpdated"""
    if old is None:
        return True
    return any(_strip_stamps(old, part) != _strip_stamps(new, part) for part in ("spec", "metadata"))


_STAMPS = ("resourceVersion", "generation", "managedFields")


def _strip_stamps(pod: Pod, part: str) -> dict[str, object]:
    fields = pod.manifest.get(part) or {}
    return {name: value for name, value in fields.items() if name not in _STAMPS}
