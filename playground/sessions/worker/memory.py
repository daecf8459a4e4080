"""Memory: when to collect garbage, which can take a second, how to return memory to the system, and limits for jobs."""

import contextlib
import ctypes
import gc
import math
import resource
from collections.abc import Callable, Iterator
from typing import TypeVar

from playground.presenters.words import message
from playground.sessions.protocol.errors import LimitReached
from playground.sessions.protocol.wire import resident
from playground.sessions.worker.time_sharing import Steps

# Shares of the process's memory limit: for one job beside the sessions, and for one with a process of its own.
SHARED = 0.25
ALONE = 0.75
# If the process uses more than this share, a job beside the sessions ends before its own share is used up.
FULL = 0.85
# Dropped worlds after which memory is collected: while idle, and while busy; then only young objects are collected, unless the process
# grew by GROWTH bytes since the last full collection.
SOME = 48
MUCH = 300
GROWTH = 256 << 20
YOUNG = 1  # a generation of the collector

T = TypeVar("T")


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Pause the garbage collector while many objects without cycles are created; after that these count as old."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            # Together these move all objects to the oldest generation, which younger collections skip.
            gc.freeze()
            gc.unfreeze()
            gc.enable()


def release_memory() -> None:
    """Collect garbage, and return free memory to the system if its library can (malloc_trim(3))."""
    gc.collect()
    trim_memory()


def trim_memory() -> None:
    """Return free memory to the system, which takes almost no time."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


class Clearing:
    """A collector of the memory of dropped worlds. `dropped` returns their number.

    A full collection takes a quarter of a second with fifty small sessions and delays all of them, so it waits for idle time, as long as
    there is free memory.
    """

    def __init__(self, dropped: Callable[[], int]) -> None:
        self._dropped = dropped
        self._young = self._all = dropped()
        self._least = resident()

    @property
    def due(self) -> bool:
        """True if there is memory to collect in idle time."""
        return self._dropped() - self._all > SOME

    def clear_up(self, *, busy: bool) -> None:
        dropped = self._dropped()
        if not self.due or (busy and dropped - self._young <= MUCH):
            return
        self._young = dropped
        if busy and resident() - self._least < GROWTH:
            gc.collect(YOUNG)
            return
        self._all = dropped
        release_memory()
        self._least = resident()


class Budget:
    """A limit on a job's memory: the growth of the process in its turns, within `with`.

    Raise LimitReached with the text `words` at the end of a turn that exceeds it.
    """

    def __init__(self, share: float, words: str) -> None:
        self._most, self._full = share * limit(), FULL * limit()
        self._words = words
        self._taken = self._before = 0

    def __enter__(self) -> None:
        self._before = resident()

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        now = resident()
        self._taken += now - self._before
        if error is not None or not self._is_over(now):
            return
        release_memory()
        after = resident()
        self._taken -= now - after
        if self._is_over(after):
            raise LimitReached(message(self._words))

    def _is_over(self, now: int) -> bool:
        return self._taken > self._most or (self._taken > 0 and now > self._full)


def limit() -> float:
    """Return the memory limit of the process in bytes."""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return math.inf if most == resource.RLIM_INFINITY else most


def within(budget: Budget, work: Steps[T]) -> Steps[T]:
    """Do the work turn by turn within a budget."""
    while True:
        try:
            with budget:
                next(work)
        except StopIteration as end:
            result: T = end.value
            return result
        yield
