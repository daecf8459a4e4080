"""Room: no worker's memory becomes full.

Sessions come to the worker with the most room. Where it runs short, those that nobody is using leave, and come back from the database
when they are asked for. What does not fit even then is refused before it begins.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from typing import Protocol

from django.conf import settings
from django.utils.translation import gettext as _

from playground.sessions.protocol.errors import SessionError, Unavailable
from playground.sessions.protocol.opening import ClearUp
from playground.sessions.web.engines.pool import Pool
from playground.sessions.web.engines.worker import Worker

# Shares of the memory that a worker may take. Above the first, sessions leave; above the second none comes.
SHORT = 0.6
FULL = 0.75
UNUSED = 5.0  # seconds that nobody has asked a session for anything, after which it may leave
INTERVAL = 5.0


class NoRoom(Unavailable):
    """The workers' memory is taken by sessions that are in use."""

    kind = "no-room"
    retry_after = 30


class Inhabitant(Protocol):
    """A session as far as its room goes."""

    @property
    def worker(self) -> Worker | None: ...

    def idle_for(self) -> float: ...

    async def release_when_idle(self, after: float) -> bool: ...


class Room:
    """Lives on the sessions' loop."""

    def __init__(self, pool: Pool, sessions: Callable[[], Iterable[Inhabitant]]) -> None:
        self._pool = pool
        self._sessions = sessions
        self._making: dict[Worker, asyncio.Lock] = {}

    async def make(self, heavy: bool) -> None:
        """Room for one more session in a lane. Raises NoRoom."""
        worker = self._pool.roomiest(heavy)
        await self.clear(worker)
        if _get_memory_share(worker) > FULL:
            raise NoRoom(
                _(
                    "There is no room for another session now: %(count)d are in use here, and take the memory that there is. "
                    "Nothing is lost; please try again in half a minute."
                )
                % {"count": sum(len(each.sessions) for each in self._pool.workers())}
            )

    async def watch(self) -> None:
        """Keep all workers below what they may take, as sessions grow."""
        while True:
            await asyncio.sleep(INTERVAL)
            for worker in self._pool.workers():
                await self.clear(worker)

    async def clear(self, worker: Worker) -> None:
        """Release unused sessions of a worker that is short of memory, the longest unused first."""
        async with self._making.setdefault(worker, asyncio.Lock()):
            if _get_memory_share(worker) <= SHORT:
                return
            await _clear_up(worker)
            there = [each for each in self._sessions() if each.worker is worker]
            for unused in sorted(there, key=lambda each: -each.idle_for()):
                if _get_memory_share(worker) <= SHORT or unused.idle_for() < UNUSED:
                    return
                with contextlib.suppress(SessionError):
                    await unused.release_when_idle(UNUSED)
                await _clear_up(worker)


def _get_memory_share(worker: Worker) -> float:
    return worker.memory() / settings.ENGINE_MEMORY


async def _clear_up(worker: Worker) -> None:
    """Ask a worker to return free memory to the system."""
    with contextlib.suppress(SessionError):
        await worker.call(0, ClearUp())
