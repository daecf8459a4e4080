"""Saver: puts a session's checkpoints into the database, beside its life: after a change and when it rests, never in a step's way."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from django.conf import settings

from playground.sessions import shelf
from playground.sessions.errors import Conflict, SessionError

if TYPE_CHECKING:
    from playground.sessions.live import LiveSession

log = logging.getLogger(__name__)

# Seconds without a change after which is saved; and while a session runs, how often.
QUIET = 1.0
WHILE_RUNNING = 10.0
# A save goes on in the slices that nobody else wants, so it may take long.
TIMEOUT = 600.0


class Saver:
    """One per live session, on the runtime's loop. A save that fails costs nothing but a longer replay."""

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        self._changed = 0.0
        self._saved = time.monotonic()
        self._dirty = False
        self._rested = False
        self._task: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    def moved(self) -> None:
        """The head moved on, and that is in the log."""
        self._changed = time.monotonic()
        self._dirty, self._rested = True, False
        if settings.CHECKPOINTS and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._work())

    def looked(self) -> None:
        """Somebody looked: worlds may be in memory again."""
        self._changed = max(self._changed, time.monotonic())
        self._rested = False

    @property
    def quiet_for(self) -> float:
        """Seconds since something was asked for."""
        return time.monotonic() - self._changed

    async def rest(self) -> None:
        """Save what is new and have the engine give up what can be read again, once until somebody asks for something."""
        if self._rested or not self._live.is_open or self._live.driver is not None:
            return
        self._rested = True
        try:
            await self.save()
            await self._live.engine("rest", {}, TIMEOUT)
        except SessionError:
            log.debug("session %s could not rest", self._live.id, exc_info=True)

    async def _work(self) -> None:
        try:
            while self._dirty:
                await asyncio.sleep(QUIET)
                running = self._live.driver is not None
                wait = WHILE_RUNNING - (time.monotonic() - self._saved) if running else QUIET - self.quiet_for
                if wait <= 0:
                    await self.save()
        except SessionError as error:
            log.info("session %s: its checkpoints were not saved: %s", self._live.id, error.message)
        except Exception:
            log.exception("session %s: its checkpoints were not saved", self._live.id)

    async def save(self) -> None:
        """Save what is new up to the head that is in the log."""
        async with self._turn:
            more = settings.CHECKPOINTS and self._dirty
            while more and self._live.is_open:
                self._dirty = False
                more = await self._save()
            self._saved = time.monotonic()

    async def _save(self) -> bool:
        live = self._live
        asked = {"upto": live.head, "least": settings.CHECKPOINT_WORK}
        header, packed = await live.engine("save", asked, TIMEOUT)
        result = header["result"]
        if not result["outcomes"] and not result.get("marks") and not result["dropped"]:
            return False
        try:
            await live.runtime.db(shelf.write, live.id, result, packed)
        except Conflict:
            told = await live.runtime.db(shelf.told, live.id)
            await live.engine("forget", {"told": told}, TIMEOUT)
            return False
        return bool(result["more"])
