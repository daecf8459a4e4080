"""A heap of queued pods by key: entries can be replaced and taken out anywhere."""

from __future__ import annotations

import heapq

from scheduler_core.base.state import Copied, State
from scheduler_core.scheduler.queue.types import QueuedPod

Order = tuple[int, ...]
_SLACK = 64


class PodHeap(State):
    """Pods in an order; what has been replaced or taken out stays in the heap until it comes to the top or grows too much."""

    __slots__ = ("_heap", "_orders", "entries")

    entries: Copied[dict[str, QueuedPod]]
    _heap: Copied[list[tuple[Order, str]]]
    _orders: Copied[dict[str, Order]]

    def __init__(self) -> None:
        self.entries = {}
        self._heap = []
        self._orders = {}

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def get(self, key: str) -> QueuedPod | None:
        return self.entries.get(key)

    def put(self, entry: QueuedPod, order: Order) -> None:
        """Adds an entry, or replaces the one of its key."""
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
        """The entries in order; the first `limit` are found by walking the heap from its root."""
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
