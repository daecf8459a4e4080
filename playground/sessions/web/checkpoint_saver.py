"""CheckpointSaver: puts a session's checkpoints into the database, after a change and when it rests, never in a step's way."""

import asyncio
import logging
import time

from django.conf import settings

from playground.sessions.database import checkpoints
from playground.sessions.protocol.errors import Conflict, SessionError
from playground.sessions.protocol.opening import ForgetSaved, Save, Saved
from playground.sessions.web.engine_connection import EngineConnection
from playground.sessions.web.services import Services
from playground.sessions.web.session_log import SessionLog

log = logging.getLogger(__name__)

# Seconds without a change after which is saved; and while a session runs, how often.
QUIET = 1.0
WHILE_RUNNING = 10.0
# A save goes on in the slices that nobody else wants, so it may take long.
TIMEOUT = 600.0


class CheckpointSaver:
    """One per live session, on the sessions' loop. A save that fails costs nothing but a longer replay."""

    def __init__(self, engine: EngineConnection, log: SessionLog, services: Services) -> None:
        self._engine = engine
        self._log = log
        self._services = services
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
            log.info("session %s: its checkpoints were not saved: %s", self._engine.id, error.message)
        except Exception:
            log.exception("session %s: its checkpoints were not saved", self._engine.id)

    async def save(self) -> bool:
        """Save what is new up to the head that is in the log; whether the session would come back from it in no time."""
        async with self._turn:
            saved: Saved | None = None
            more = settings.CHECKPOINTS
            while more and self._engine.is_open:
                self._dirty = False
                saved = await self._save()
                more = saved is not None and saved.more
            self._saved = time.monotonic()
            return saved is not None and saved.covered

    async def _save(self) -> Saved | None:
        """Save some of it; None where another process was first, and all is begun anew with the next save."""
        engine = self._engine
        request = Save(upto=self._log.head, least=settings.CHECKPOINT_WORK)
        saved = await engine.call_aside(request, TIMEOUT)
        if saved.is_something:
            try:
                await self._services.loop.db(checkpoints.write, engine.id, saved)
            except Conflict:
                count = await self._services.loop.db(checkpoints.outcomes_saved, engine.id)
                await engine.call_aside(ForgetSaved(outcomes_saved=count), TIMEOUT)
                return None
        return saved
