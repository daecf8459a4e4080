"""The state of a scheduling queue: the waiting pods by place, the pods in flight, and the counts. No decisions are made here.

kube keeps gated pods among the unschedulable ones. Here they have a map of their own, to save scans of thousands of gated pods.
"""

import heapq
from collections import OrderedDict
from dataclasses import dataclass, field

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.state import Copied, State
from scheduler_core.scheduler.framework.events import ObjectEvent
from scheduler_core.scheduler.queue.nominator import Nominator
from scheduler_core.scheduler.queue.types import QueuedPod, QueueMetrics

# A heap of queued pods by key: any entry can be replaced or removed.

Order = tuple[int, ...]
_SLACK = 64


@dataclass(slots=True, eq=False)
class PodHeap(State):
    """Pods in an order. Replaced and removed items stay in the heap until they reach the top or the heap grows too large."""

    entries: Copied[dict[str, QueuedPod]] = field(default_factory=dict)
    _heap: Copied[list[tuple[Order, str]]] = field(default_factory=list)
    _orders: Copied[dict[str, Order]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def get(self, key: str) -> QueuedPod | None:
        return self.entries.get(key)

    def put(self, entry: QueuedPod, order: Order) -> None:
        """Add an entry, or replace the one with its key."""
        key = entry.key
        self.entries[key] = entry
        if self._orders.get(key) != order:
            self._orders[key] = order
            heapq.heappush(self._heap, (order, key))
            # Rebuilt once stale items outnumber live ones: the cost spreads over the puts.
            if len(self._heap) > 2 * len(self.entries) + _SLACK:
                self._heap = [(order, key) for key, order in self._orders.items()]
                heapq.heapify(self._heap)

    def remove(self, key: str) -> QueuedPod | None:
        self._orders.pop(key, None)
        return self.entries.pop(key, None)

    def peek(self) -> QueuedPod | None:
        while self._heap:
            order, key = self._heap[0]
            if self._orders.get(key) == order:
                return self.entries[key]
            heapq.heappop(self._heap)
        return None

    def pop(self) -> QueuedPod | None:
        first = self.peek()
        return None if first is None else self.remove(first.key)

    def ordered(self, limit: int | None = None) -> list[QueuedPod]:
        """Return the entries in order. The first `limit` are found by walking the heap from its root."""
        if limit is None:
            return [self.entries[key] for _, key in sorted((o, k) for k, o in self._orders.items())]
        heap = self._heap
        out: list[QueuedPod] = []
        frontier = [(heap[0], 0)] if heap else []
        seen: set[str] = set()
        while frontier and len(out) < limit:
            (order, key), i = heapq.heappop(frontier)
            # A pod that changed its order and got the old one back is in the heap twice with it.
            if self._orders.get(key) == order and key not in seen:
                seen.add(key)
                out.append(self.entries[key])
            for child in (2 * i + 1, 2 * i + 2):
                if child < len(heap):
                    heapq.heappush(frontier, (heap[child], child))
        return out


# Pods in flight (popped and not done) and the events since the first of them was popped, one list as kube keeps it.
#
# The list has a marker where each pod was popped; the events behind it are those that the pod missed. Events before the
# first marker are dropped. A pod that is never done keeps everything behind it.
#
# kube: backend/queue/active_queue.go @ v1.34.1


@dataclass(slots=True, eq=False)
class InFlight(State):
    """Markers by the pod's UID, events by a running number."""

    _items: Copied[OrderedDict[int, Pod | ObjectEvent]] = field(default_factory=OrderedDict)
    _number: Copied[dict[str, int]] = field(default_factory=dict)  # uid -> number of its marker
    _next: int = 0

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
        """Return markers and events in order."""
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
        """Remove a pod from flight, with the events that no other pod needs."""
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


Members = dict[str, dict[str, QueuedPod]]


@dataclass(slots=True, eq=False)
class QueueState(State):
    """A waiting pod is in one of the places by its key `namespace/name`; pods in flight are identified by UID.

    `active`, `backoff` (after a rejection) and `errors` (after an error) are heaps; `unschedulable` and `gated` keep the longest waiting
    first. `sequence` numbers new pods, `flushed` is the time of the last flush of the unschedulable pods (virtual nanoseconds). `pending`
    are members whose group is in flight, `incomplete` those whose group does not exist, by group and key; `popped` is the key of the last
    popped group until it is back. `cycle` counts the pods popped; `move_request`: see historical.py.
    """

    active: Copied[PodHeap] = field(default_factory=PodHeap)
    backoff: Copied[PodHeap] = field(default_factory=PodHeap)
    errors: Copied[PodHeap] = field(default_factory=PodHeap)
    unschedulable: Copied[dict[str, QueuedPod]] = field(default_factory=dict)
    gated: Copied[dict[str, QueuedPod]] = field(default_factory=dict)
    flight: Copied[InFlight] = field(default_factory=InFlight)
    nominator: Copied[Nominator] = field(default_factory=Nominator)
    metrics: Copied[QueueMetrics] = field(default_factory=QueueMetrics)
    pending: Copied[Members] = field(default_factory=dict)
    incomplete: Copied[Members] = field(default_factory=dict)
    popped: str = ""
    grouped: bool = False  # pods may be members of groups
    sequence: int = 0
    flushed: int | None = None
    cycle: int = 0
    move_request: tuple[int, str] = (-1, "")

    def maps(self) -> tuple[dict[str, QueuedPod], ...]:
        """Return the waiting pods of each place by key."""
        return (self.active.entries, self.backoff.entries, self.errors.entries, self.unschedulable, self.gated)

    def find(self, key: str) -> QueuedPod | None:
        for pods in self.maps():
            if key in pods:
                return pods[key]
        return self._find_member(key) if self.grouped else None

    def _find_member(self, key: str) -> QueuedPod | None:
        for members in (*self.pending.values(), *self.incomplete.values()):
            if key in members:
                return members[key]
        entities = (entry for pods in self.maps() for entry in pods.values() if entry.members)
        return next((each for entry in entities for each in entry.members if each.key == key), None)

    def fresh(self, pod: Pod, now: int) -> QueuedPod:
        """Return the entry of a new pod."""
        self.sequence += 1
        return QueuedPod(pod, now, self.sequence)

    def parked(self, key: str) -> QueuedPod | None:
        """Return an unschedulable pod, gated or not."""
        return self.unschedulable.get(key) or self.gated.get(key)

    def keep(self, entry: QueuedPod) -> None:
        """Put an unschedulable pod among the gated pods if it has a gate, else among the others."""
        here, there = self.gated, self.unschedulable
        if not entry.gated_by:
            here, there = there, here
        there.pop(entry.key, None)
        here[entry.key] = entry

    def unpark(self, key: str, gated: bool) -> None:
        """Remove a pod from the unschedulable pods; `gated` selects the gauge to lower (kube: it may be out of date)."""
        gone = self.unschedulable.pop(key, None) or self.gated.pop(key, None)
        if gone:
            self.metrics.waiting["gated" if gated else "unschedulable"] -= gone.size

    def backs_off(self, key: str) -> bool:
        return key in self.backoff or key in self.errors

    def take_from_backoff(self, key: str) -> QueuedPod | None:
        return self.backoff.remove(key) or self.errors.remove(key)
