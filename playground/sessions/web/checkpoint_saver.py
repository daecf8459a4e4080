"""Saver: puts a session's checkpoints into the database, beside its life: after a change and when it rests, never in a step's way."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

from django.conf import settings

from playground.sessions.database import checkpoints
from playground.sessions.protocol.errors import Conflict, SessionError

if TYPE_CHECKING:
    from playground.sessions.web.engine_connection import EngineConnection

log = logging.getLogger(__name__)

# Seconds without a change after which is saved; and while a session runs, how often.
QUIET = 1.0
WHILE_RUNNING = 10.0
# A save goes on in the slices that nobody else wants, so it may take long.
TIMEOUT = 600.0


class Saver:
    """One per live session, on the runtime's loop. A save that fails costs nothing but a longer replay."""

    def __init__(self, engine_connection: EngineConnection) -> None:
        self._seat = engine_connection
        self._changed = 0.0
        self._saved = time.monotonic()
        self._dirty = False
        self._task: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    def moved(self) -> None:
        """The head moved on, and that is in the log."""
        self._changed = time.monotonic()
        self._dirty = True
        if settings.CHECKPOINTS and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._work())

    async def _work(self) -> None:
        try:
            while self._dirty:
                await asyncio.sleep(QUIET)
                now = time.monotonic()
                if now - self._changed >= QUIET or now - self._saved >= WHILE_RUNNING:
                    await self.save()
        except SessionError as error:
            log.info("session %s: its checkpoints were not saved: %s", self._seat.id, error.message)
        except Exception:
            log.exception("session %s: its checkpoints were not saved", self._seat.id)

    async def save(self) -> bool:
        """Save what is new up to the head that is in the log; whether the session would come back from it in no time."""
        async with self._turn:
            more, result = settings.CHECKPOINTS, {}
            while more and self._seat.is_open:
                self._dirty = False
                result = await self._save()
                more = result.get("more", False)
            self._saved = time.monotonic()
            return bool(result.get("covered"))

    async def _save(self) -> dict[str, Any]:
        engine_connection = self._seat
        asked = {"upto": engine_connection.head, "least": settings.CHECKPOINT_WORK}
        header, packed = await engine_connection.engine("save", asked, TIMEOUT)
        result: dict[str, Any] = header["result"]
        if packed or result["dropped"]:
            try:
                await engine_connection.runtime.db(checkpoints.write, engine_connection.id, result, packed)
            except Conflict:
                told = await engine_connection.runtime.db(checkpoints.told, engine_connection.id)
                await engine_connection.engine("forget", {"told": told}, TIMEOUT)
                return {}
        return result
