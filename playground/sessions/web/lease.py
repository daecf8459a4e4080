"""Lease: the right of one process to drive a session, for a while; in the database, so that of two processes one has it."""

from __future__ import annotations

import contextlib
import time
from typing import NamedTuple

from django.conf import settings

from playground.sessions.database import log
from playground.sessions.protocol.base import Data
from playground.sessions.protocol.errors import Conflict
from playground.sessions.web.services import Services


class Term(NamedTuple):
    """The seconds that a lease holds, and the seconds after which it is renewed."""

    seconds: float
    renew: float


ALONE = Term(15.0, 5.0)
# Where other processes can go on with a session, its home's death is to be known soon.
AMONG_OTHERS = Term(2.5, 0.8)


def term() -> Term:
    return AMONG_OTHERS if settings.REDIS_URL else ALONE


class LeaseLost(Conflict):
    """Another process took it away: somebody paused there, or took this process for dead."""


class Lease:
    """One for each drive of a session."""

    def __init__(self, session_id: int, services: Services) -> None:
        self._id = session_id
        self._services = services
        self._renewed = 0.0

    @property
    def holder(self) -> str:
        """The process that takes it."""
        return self._services.name

    async def take(self, drive: Data) -> None:
        """Take it, to do something that another process could go on with. Raises Conflict while another process has it."""
        if not await self._services.loop.db(log.lease, self._id, self.holder, term().seconds, drive):
            raise Conflict("This session is already being played by another server process. Pause it first.")
        self._renewed = time.monotonic()

    async def renew(self) -> bool:
        """Renew it when that is due; whether it was. Raises LeaseLost."""
        if time.monotonic() - self._renewed < term().renew:
            return False
        if not await self._services.loop.db(log.renew, self._id, self.holder, term().seconds):
            raise LeaseLost("Another server process took this session over.")
        self._renewed = time.monotonic()
        return True

    async def release(self) -> None:
        """Give it back."""
        with contextlib.suppress(Exception):  # it ends by itself
            await self._services.loop.db(log.release, self._id, self.holder)

    async def take_away(self) -> None:
        """Release the lease of a lost process. If it lives, it stops when it next renews the lease or reads the log."""
        await self._services.loop.db(log.release, self._id)
