"""The virtual clock and the scheduled actions: one heap ordered by (time, priority, sequence).

Time is in integer nanoseconds since the world's creation. Actions at equal times run by priority, then in the order of scheduling. The
idea of one totally ordered heap is SimPy's (core.py).
"""

import heapq
from collections.abc import Callable, Iterator
from typing import ClassVar, NamedTuple

import msgspec

from scheduler_core.base.state import Copied, State

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
FOREVER = 1 << 62  # ns, 146 years: times up to here fit into 64 bits, and no day is too late for a date

URGENT = 0  # what the API server and the kubelets do
NORMAL = 1  # scheduling and binding cycles
TIMER = 2  # flushes of the queue


class Action(msgspec.Struct, frozen=True):
    """A scheduled action, of numbers and texts so that a checkpoint can store it. simulation/actions.py describes each action."""

    priority: ClassVar[int] = NORMAL
    quiet: ClassVar[bool] = False  # no step ends with it where it leaves no record
    in_cycle: ClassVar[bool] = False  # a part of a scheduling cycle, with which no step by event ends


class Entry(NamedTuple):
    """An action with its time and its place in the order."""

    time: int
    priority: int
    sequence: int
    action: Action


class Agenda(State):
    """The heap with its clock. `now` moves when an entry is taken."""

    __slots__ = ("_heap", "_sequence", "now")

    now: int
    _heap: Copied[list[Entry]]
    _sequence: int

    def __init__(self) -> None:
        self.now = 0
        self._heap = []
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, time: int, action: Action) -> None:
        """Schedule an action at a time (ns). A past time means now; an action after FOREVER never runs."""
        if time > FOREVER:
            return
        self._sequence += 1
        heapq.heappush(self._heap, Entry(max(time, self.now), action.priority, self._sequence, action))

    def peek(self) -> Entry | None:
        return self._heap[0] if self._heap else None

    def pop(self) -> Entry:
        """Remove the first entry and advance the clock to its time. Raise IndexError if there is none."""
        entry = heapq.heappop(self._heap)
        self.now = entry.time
        return entry

    def drop(self) -> None:
        """Remove the first entry without advancing the clock."""
        heapq.heappop(self._heap)

    def discard(self, unwanted: Callable[[Action], bool]) -> None:
        """Remove every entry whose action is unwanted."""
        self._heap = [entry for entry in self._heap if not unwanted(entry.action)]
        heapq.heapify(self._heap)

    def unsorted(self) -> Iterator[Entry]:
        """Iterate over all scheduled entries in arbitrary order."""
        return iter(self._heap)

    def entries(self) -> list[Entry]:
        """Everything still to happen, soonest first."""
        return sorted(self._heap)


# Seeded random streams of our own, so that a draw is the same on every machine and in every version of Python.

_MASK = (1 << 64) - 1


class Stream(State):
    """SplitMix64 (Steele, Lea and Flood, 2014): 64 bits a draw, one integer of state."""

    __slots__ = ("state",)

    state: int

    def __init__(self, seed: int) -> None:
        self.state = seed & _MASK

    def next(self) -> int:
        """The next 64 bits as an unsigned integer."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & _MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """A draw from 0..n-1, each equally likely; ValueError if n < 1."""
        if n < 1:
            raise ValueError(f"below() takes a positive bound, received {n}")
        limit = (_MASK + 1) - (_MASK + 1) % n
        while True:
            draw = self.next()
            if draw < limit:
                return draw % n
