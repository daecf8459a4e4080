"""The runtime: one thread with one event loop that all live sessions of this process share.

Views and sockets run on whatever loop or thread serves them and ask through `call`; so a slow page never holds up a session, and
tests may use as many loops as they like.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings
from django.db import close_old_connections

from playground.sessions.protocol.errors import SessionError

if TYPE_CHECKING:
    from playground.sessions.web.live import LiveSession

T = TypeVar("T")


class Runtime:
    """The loop, the workers, the threads for the database, and the live sessions by id."""

    def __init__(self) -> None:
        from playground.sessions.web.jobs.comparing import Comparisons
        from playground.sessions.web.jobs.exports import Jobs
        from playground.sessions.web.jobs.rerunning import Reruns
        from playground.sessions.web.pool import Pool
        from playground.sessions.web.relay import Relay

        self.name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"[-64:]
        self.loop = asyncio.new_event_loop()
        self.pool = Pool(settings.ENGINE_WORKERS, settings.ENGINE_HEAVY_WORKERS)
        self.relay = Relay(self)
        self.jobs = Jobs(self)
        self.comparisons = Comparisons(self)
        self.reruns = Reruns(self)
        self.sessions: dict[int, LiveSession] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._database = ThreadPoolExecutor(4, thread_name_prefix="database")
        self._thread = threading.Thread(target=self._work, name="sessions", daemon=True)
        self._thread.start()
        self.loop.call_soon_threadsafe(lambda: self.begin(self._sweep()))

    def _work(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    async def call(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Run `ask()` on the sessions' loop and wait for its answer on the caller's."""
        future = asyncio.run_coroutine_threadsafe(_awaited(ask), self.loop)
        return await asyncio.wrap_future(future)

    async def db(self, function: Callable[..., T], *args: Any) -> T:
        """Run a database function in a thread; from the sessions' loop only."""

        def work() -> T:
            close_old_connections()
            return function(*args)

        return await self.loop.run_in_executor(self._database, work)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Let something go on by itself; from the sessions' loop only."""
        task = self.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def live(self, session_id: int) -> LiveSession:
        """The session in this process; from the sessions' loop only."""
        from playground.sessions.web.live import LiveSession

        if session_id not in self.sessions:
            self.sessions[session_id] = LiveSession(session_id, self)
        return self.sessions[session_id]

    async def _sweep(self) -> None:
        """Give back, now and then, the memory of sessions that nobody has asked for anything."""
        idle = settings.ENGINE_IDLE_SECONDS
        while True:
            await asyncio.sleep(min(60, idle))
            with contextlib.suppress(OSError):
                await self.relay.stay()
            for session_id, live in list(self.sessions.items()):
                if live.idle_for() <= idle:
                    continue
                with contextlib.suppress(SessionError):
                    if await live.release_when_idle(idle) and self.sessions.get(session_id) is live:
                        del self.sessions[session_id]
                        await self.relay.leave(session_id)
            await self.pool.renew()

    def stop(self) -> None:
        """End the workers and the loop."""
        asyncio.run_coroutine_threadsafe(self.pool.stop(), self.loop).result(5)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(5)
        self._database.shutdown()


async def _awaited(ask: Callable[[], Awaitable[T]]) -> T:
    return await ask()


_lock = threading.Lock()
_runtime: Runtime | None = None


def runtime() -> Runtime:
    """This process' runtime, made when first asked for."""
    global _runtime
    with _lock:
        if _runtime is None:
            _runtime = Runtime()
            atexit.register(_runtime.stop)
        return _runtime
