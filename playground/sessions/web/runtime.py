"""The runtime: all live sessions of this process, with their loop, workers, and jobs."""

import asyncio
import atexit
import contextlib
import logging
import os
import secrets
import socket
import threading

from django.conf import settings

from playground.models import Session
from playground.sessions.database import log as log_of_sessions
from playground.sessions.protocol.errors import SessionError
from playground.sessions.web.engines import Pool, Room
from playground.sessions.web.jobs.comparisons import Comparisons
from playground.sessions.web.jobs.imports import Imports
from playground.sessions.web.jobs.registry import Jobs
from playground.sessions.web.jobs.reruns import Experiments, Lessons, Reruns
from playground.sessions.web.jobs.traces import Downloads, Traces
from playground.sessions.web.live import LiveSession
from playground.sessions.web.loop import SessionsLoop
from playground.sessions.web.relay import Hint, Relay
from playground.sessions.web.services import Services

log = logging.getLogger(__name__)

REST_SECONDS = 6.0


class Runtime:
    """The live sessions and services of this process. Use all but the loop's `call` and `do` on the sessions' loop only."""

    def __init__(self) -> None:
        name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"[-64:]
        loop, jobs = SessionsLoop(), Jobs()
        pool = Pool(settings.ENGINE_WORKERS, settings.ENGINE_HEAVY_WORKERS)
        room = Room(pool, lambda: list(self.sessions.values()))
        self.services = Services(name, loop, pool, room, Relay(name, self.hear, self.look), jobs)
        self.comparisons = Comparisons(jobs, loop, self.live)
        self.reruns = Reruns(jobs, loop, self.live)
        self.imports = Imports(jobs, loop)
        self.lessons = Lessons(jobs)
        self.traces = Traces(jobs, loop)
        self.downloads = Downloads(jobs, loop)
        self.experiments = Experiments(jobs)
        self.sessions: dict[int, LiveSession] = {}
        self.call, self.do = loop.call, loop.do
        loop.begin_soon(self._sweep)
        loop.begin_soon(room.watch)
        loop.begin_soon(self.services.relay.work)

    def live(self, session_id: int) -> LiveSession:
        """Return the session in this process."""
        if session_id not in self.sessions:
            self.sessions[session_id] = LiveSession(session_id, self.services)
        return self.sessions[session_id]

    def notice(self, session_id: int, head: int) -> None:
        """Note a session's head that the database reports."""
        live = self.sessions.get(session_id)
        if live is not None:
            live.notice(head)

    async def hear(self, hint: Hint) -> None:
        """Handle a hint of another process about a session."""
        live = self.sessions.get(hint.session)
        if live is not None:
            await live.hear(hint)
            self._forget_deleted(live)

    async def look(self) -> None:
        """Read the status of the open sessions from the database, because hints may be lost, and notify the other processes of it."""
        before = {live: live.driver for live in self.sessions.values()}
        found = await self.services.loop.db(log_of_sessions.standings, [live.id for live in before])
        work = [live.level(found.get(live.id), driver) for live, driver in before.items()]
        for live, result in zip(before, await asyncio.gather(*work, return_exceptions=True), strict=True):
            if isinstance(result, Exception):
                log.warning("session %s was not followed: %s", live.id, result)
            self._forget_deleted(live)

    async def fork(
        self, session_id: int, at: int | None, name: str, creator: str, branch: bool, traced: bool = True
    ) -> Session:
        """Create a session with the same past; its engine shares the origin's checkpoints."""
        origin = self.live(session_id)
        session, copied = await origin.fork(at, name, creator, branch, traced)
        await self.live(session.pk).inherit(origin, session, copied)
        return session

    async def delete(self, session_id: int) -> None:
        """Close a session that was deleted in this process."""
        live = self.live(session_id)
        await live.delete()
        self._forget_deleted(live)

    def _forget_deleted(self, live: LiveSession) -> None:
        if live.engine.closed:
            self.sessions.pop(live.id, None)

    async def _sweep(self) -> None:
        """Release the memory of idle sessions at intervals."""
        services, idle = self.services, settings.ENGINE_IDLE_SECONDS
        while True:
            await asyncio.sleep(min(60, idle))
            for session_id, live in list(self.sessions.items()):
                if live.idle_for() <= idle:
                    continue
                try:
                    if await live.release_when_idle(idle) and self.sessions.get(session_id) is live:
                        del self.sessions[session_id]
                        await services.relay.leave(session_id)
                except Exception as error:
                    log.warning("session %s was not released: %s", session_id, error)
            await services.pool.renew()

    async def rest(self) -> None:
        """Pause the drives and save the checkpoints before the process ends, for at most REST_SECONDS."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(REST_SECONDS):
                await asyncio.gather(*(_rest(live) for live in list(self.sessions.values())))

    def warm(self) -> None:
        """Start the first worker before the first request; from any thread."""
        self.services.loop.begin_soon(self.services.pool.warm)

    def stop(self) -> None:
        """End the workers and the loop."""
        loop = self.services.loop
        asyncio.run_coroutine_threadsafe(self.services.pool.stop(), loop.loop).result(5)
        loop.stop()


async def _rest(live: LiveSession) -> None:
    with contextlib.suppress(SessionError, OSError):
        if live.driver is not None:
            await live.driver.stop()
        await live.saver.save()


_lock = threading.Lock()
_runtime: Runtime | None = None


def runtime() -> Runtime:
    """Return this process's runtime, created at the first call."""
    global _runtime
    with _lock:
        if _runtime is None:
            _runtime = Runtime()
            atexit.register(_runtime.stop)
        return _runtime
