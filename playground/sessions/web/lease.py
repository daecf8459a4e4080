"""Lease: the right of one process to drive a session for a time; in the database, so that only one process has it.

RemoteDrive: the drive of the session in another process, as that process reports it.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from django.conf import settings

from playground.presenters.words import message
from playground.sessions.database import log
from playground.sessions.protocol.base import Data
from playground.sessions.protocol.errors import Conflict
from playground.sessions.web.messages import Running
from playground.sessions.web.services import Services


class Term(NamedTuple):
    """The duration of a lease in seconds, and the seconds after which it is renewed."""

    seconds: float
    renew: float


# About three renewals fit into each term, so a late one does not lose the lease.
ALONE = Term(15.0, 5.0)
# If other processes can continue a session, the death of its driver must be detected soon.
AMONG_OTHERS = Term(2.5, 0.8)


def term() -> Term:
    return AMONG_OTHERS if settings.REDIS_URL else ALONE


class LeaseLost(Conflict):
    """Another process took the lease: a viewer paused there, or it assumed that this process had died."""


class Lease:
    """The lease of one drive of a session."""

    def __init__(self, session_id: int, services: Services) -> None:
        self._id, self._services = session_id, services
        self._renewed = 0.0

    @property
    def holder(self) -> str:
        """The name of this process, which acquires the lease."""
        return self._services.name

    async def take(self, drive: Data) -> None:
        """Acquire the lease and record the drive, so that another process can continue it. Raise Conflict if another process has it."""
        if not await self._services.loop.db(log.lease, self._id, self.holder, term().seconds, drive):
            raise Conflict(message("Another server process already plays this session. Pause it first."))
        self._renewed = time.monotonic()

    async def renew(self) -> bool:
        """Renew the lease if that is due; return whether it was. Raise LeaseLost."""
        if time.monotonic() - self._renewed < term().renew:
            return False
        if not await self._services.loop.db(log.renew, self._id, self.holder, term().seconds):
            raise LeaseLost("Another server process took this session over.")
        self._renewed = time.monotonic()
        return True

    async def release(self) -> None:
        with contextlib.suppress(Exception):  # a lease that is not released expires
            await self._services.loop.db(log.release, self._id, self.holder)

    async def take_away(self) -> None:
        """Release the lease of a lost process. If it lives, it stops when it next renews the lease or reads the log."""
        await self._services.loop.db(log.release, self._id)


# Seconds that another process has to answer a request to pause before it counts as dead.
ANSWER = 2.0


class RemoteDrive:
    """The drive of a session in another process. `catch_up` follows the log, `take_over` continues the drive of a process that died;
    `ask_to_pause` notifies the other processes.
    """

    def __init__(
        self,
        catch_up: Callable[[], Awaitable[None]],
        take_over: Callable[[], Awaitable[None]],
        ask_to_pause: Callable[[], None],
        lease: Lease,
    ) -> None:
        self._catch_up, self._take_over = catch_up, take_over
        self._ask_to_pause, self._lease = ask_to_pause, lease
        self._heard: Running | None = None
        self._until = 0.0
        self._stopped = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None

    @property
    def running(self) -> Running | None:
        """The drive of the session in another process, if a recent message reported one."""
        return self._heard if time.monotonic() < self._until else None

    def drives(self, running: Running | None) -> None:
        """Record the drive that another process reports; without further reports it expires."""
        self._heard, self._until = running, time.monotonic() + term().seconds
        if running is None:
            self._stopped.set()
        elif self._listening is None or self._listening.done():
            self._listening = asyncio.create_task(self._listen_for_silence())

    async def _listen_for_silence(self) -> None:
        """Catch up and take over after the reports end: a process that died may have written more than it announced."""
        while self.running is not None:
            await asyncio.sleep(self._until - time.monotonic() + 0.1)
        if self._heard is not None:
            self._heard = None
            await self._catch_up()
            await self._take_over()

    async def pause(self) -> None:
        """Stop the drive in the other process; after ANSWER seconds revoke its lease."""
        # Cleared before the request goes out, so that a quick answer is not lost.
        self._stopped.clear()
        self._ask_to_pause()
        try:
            async with asyncio.timeout(ANSWER):
                await self._stopped.wait()
        except TimeoutError:
            self.drives(None)
            await self._lease.take_away()
            await self._catch_up()
