"""Elsewhere: what is heard of another server process that drives the same session."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from playground.sessions.database import log
from playground.sessions.web.driver import LEASE

if TYPE_CHECKING:
    from playground.sessions.web.live import LiveSession

# How long, in seconds, another process has to answer a request to pause before it is taken for dead.
ANSWER = 2.0


class Elsewhere:
    """One per live session."""

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        self._heard: dict[str, Any] | None = None
        self._until = 0.0
        self._stopped = asyncio.Event()

    @property
    def running(self) -> dict[str, Any] | None:
        """What drives the session in another process, as far as that was heard of lately."""
        return self._heard if time.monotonic() < self._until else None

    def tells(self, running: dict[str, Any] | None) -> None:
        """Another process told what it drives; when it falls silent, that is over."""
        self._heard, self._until = running, time.monotonic() + LEASE
        if running is None:
            self._stopped.set()
        else:
            asyncio.get_running_loop().call_later(LEASE + 0.1, self._listen_for_silence)

    def _listen_for_silence(self) -> None:
        """A process that died while it drove may have written more than it could tell."""
        if self._heard is not None and self.running is None and not self._live.gone:
            self._heard = None
            self._live.runtime.begin(self._live.catch_up())

    async def pause(self) -> None:
        """Have the other process stop."""
        live = self._live
        self._stopped.clear()
        live.runtime.relay.tell(live.id, "pause")
        try:
            await asyncio.wait_for(self._stopped.wait(), ANSWER)
        except TimeoutError:
            # Its process is gone. Should it still live, its next write to the log is refused.
            self.tells(None)
            await live.runtime.db(log.release, live.id)
            await live.catch_up()
