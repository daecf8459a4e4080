"""What every live session of a process shares."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from playground.sessions.web.engines import Pool, Room
from playground.sessions.web.jobs.registry import Jobs
from playground.sessions.web.loop import SessionsLoop
from playground.sessions.web.relay import Relay

# Turns: what plays do by themselves is done for a few of them at a time, the others in a row.
#
# So somebody who steps does not wait behind all of them in every queue on the way: the worker's, the database's, the sockets'.

PLAYS_AT_ONCE = max(2, os.cpu_count() or 2)
PATIENCE = 2.0  # seconds in the row, after which whoever is ahead is taken to hang


class Turns:
    """The row, first come first served."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(PLAYS_AT_ONCE)

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Wait for a turn, and give it back at the end; who has waited for PATIENCE goes on without one."""
        try:
            async with asyncio.timeout(PATIENCE):
                await self._free.acquire()
        except TimeoutError:
            yield
            return
        try:
            yield
        finally:
            self._free.release()


@dataclass(frozen=True)
class Services:
    """`name` is this process' among the servers."""

    name: str
    loop: SessionsLoop
    pool: Pool
    room: Room
    relay: Relay
    jobs: Jobs
    turns: Turns = field(default_factory=Turns)
