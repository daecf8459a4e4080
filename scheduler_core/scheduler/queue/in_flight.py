"""Pods in flight (popped and not done) and the events since the first of them was popped, one list as kube keeps it.

A marker stands in the list where each pod was popped; the events behind it are those that the pod missed. Events in front of the
first marker are dropped. A pod that is never done keeps everything behind it.

kube: backend/queue/active_queue.go @ v1.34.1
"""

from __future__ import annotations

from collections import OrderedDict

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.state import Copied, State
from scheduler_core.scheduler.framework.events import ObjectEvent


class InFlight(State):
    """Markers by the pod's UID, events by a running number."""

    __slots__ = ("_items", "_next", "_number")

    _items: Copied[OrderedDict[int, Pod | ObjectEvent]]
    _number: Copied[dict[str, int]]  # uid -> number of its marker
    _next: int

    def __init__(self) -> None:
        self._items = OrderedDict()
        self._number = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._number)

    def __contains__(self, uid: str) -> bool:
        return uid in self._number

    @property
    def count(self) -> int:
        """The total number of markers and events ever added to the list."""
        return self._next

    def pods(self) -> list[Pod]:
        """Return the pods in flight, oldest first."""
        return [item for item in self._items.values() if isinstance(item, Pod)]

    def items(self) -> list[Pod | ObjectEvent]:
        """Markers and events in order."""
        return list(self._items.values())

    def start(self, pod: Pod) -> None:
        self._number[pod.uid] = self._push(pod)

    def add(self, what: ObjectEvent) -> None:
        self._push(what)

    def events_of(self, uid: str) -> list[ObjectEvent] | None:
        """Return the events since the pod was popped; None if the pod is not in flight."""
        number = self._number.get(uid)
        if number is None:
            return None
        out: list[ObjectEvent] = []
        # From the end, as the events of one pod are the newest part of a list that all pods in flight share.
        for other in reversed(self._items):
            if other <= number:
                break
            item = self._items[other]
            if isinstance(item, ObjectEvent):
                out.append(item)
        out.reverse()
        return out

    def done(self, uid: str) -> None:
        """The pod is no longer in flight; events that nobody waits for go."""
        number = self._number.pop(uid, None)
        if number is None:
            return
        del self._items[number]
        while self._items:
            first = next(iter(self._items))
            if not isinstance(self._items[first], ObjectEvent):
                break
            self._items.popitem(last=False)

    def _push(self, item: Pod | ObjectEvent) -> int:
        self._next += 1
        self._items[self._next] = item
        return self._next
