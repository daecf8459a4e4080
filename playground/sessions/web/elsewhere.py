"""Elsewhere: what is heard of another server process that drives the same session."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from playground.sessions.web.lease import Lease, term
from playground.sessions.web.messages import Running

# How long, in seconds, another process has to answer a request to pause before it is taken for dead.
ANSWER = 2.0


class Elsewhere:
    """One per live session. `catch_up` has the session follow the log, `take_over` go on with what a process drove that is gone;
    `ask_to_pause` is said to the other processes."""

    def __init__(
        self,
        catch_up: Callable[[], Awaitable[None]],
        take_over: Callable[[], Awaitable[None]],
        ask_to_pause: Callable[[], None],
        lease: Lease,
    ) -> None:
        self._catch_up = catch_up
        self._take_over = take_over
        self._ask_to_pause = ask_to_pause
        self._lease = lease
        self._heard: Running | None = None
        self._until = 0.0
        self._stopped = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None

    @property
    def running(self) -> Running | None:
        """The drive of the session in another process, if a recent message reported one."""
        return self._heard if time.monotonic() < self._until else None

    def drives(self, running: Running | None) -> None:
        """Another process said what it drives; when it falls silent, that is over."""
        self._heard, self._until = running, time.monotonic() + term().seconds
        if running is None:
            self._stopped.set()
        elif self._listening is None or self._listening.done():
            self._listening = asyncio.create_task(self._listen_for_silence())

    async def _listen_for_silence(self) -> None:
        """A process that died while it drove may have written more than it could announce."""
        while self.running is not None:
            await asyncio.sleep(self._until - time.monotonic() + 0.1)
        if self._heard is not None:
            self._heard = None
            await self._catch_up()
            await self._take_over()

    async def pause(self) -> None:
        """Have the other process stop."""
        self._stopped.clear()
        self._ask_to_pause()
        try:
            async with asyncio.timeout(ANSWER):
                await self._stopped.wait()
        except TimeoutError:
            self.drives(None)
            await self._lease.take_away()
            await self._catch_up()
