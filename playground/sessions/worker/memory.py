"""Memory: the collector at the wrong moment costs a second, what it frees goes back to the system, and no job takes it from the others."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import math
import resource
from collections.abc import Iterator
from typing import TypeVar

from playground.presenters.words import message
from playground.sessions.protocol.errors import LimitReached
from playground.sessions.protocol.memory import resident
from playground.sessions.worker.time_sharing import Steps

# Shares of the memory that the process may take: for one job beside the sessions, and for one that has a process of its own.
SHARED = 0.25
ALONE = 0.75
# With more than this taken, a job beside the sessions ends before its share is used up.
FULL = 0.85

T = TypeVar("T")


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Makes many objects without the collector looking for loops among all that there are; what is made here forms none, and counts as
    old afterwards.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.freeze()
            gc.unfreeze()
            gc.enable()


def release_memory() -> None:
    """Collect what nothing needs, and give it back to the system where its library can (malloc_trim(3))."""
    gc.collect()
    trim_memory()


def trim_memory() -> None:
    """Give back what is free already, which takes no time."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


class Budget:
    """How much memory a job may take: what the process grows by in its turns, within `with`. LimitReached, in these words, at the end of
    a turn that took too much.
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
    """The bytes of memory that the process may take."""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return math.inf if most == resource.RLIM_INFINITY else most


def within(budget: Budget, work: Steps[T]) -> Steps[T]:
    """The same work, turn by turn within a budget."""
    while True:
        try:
            with budget:
                next(work)
        except StopIteration as end:
            result: T = end.value
            return result
        yield
