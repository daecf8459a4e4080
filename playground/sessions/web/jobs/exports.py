"""Jobs that are not a session's life: writing a trace, checking one, writing the cluster as YAML.

A trace is computed in a process of its own, so that it delays no session; only few are computed at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from django.conf import settings

from playground.sessions.database import log
from playground.sessions.protocol.errors import LimitReached, SessionError
from playground.sessions.web.engine_connection import told
from playground.sessions.web.pool import Worker

if TYPE_CHECKING:
    from playground.sessions.web.runtime import Runtime

WAIT = 30.0
CHUNK_TIMEOUT = 30.0
IDLE = 60.0


class Jobs:
    """The processes for jobs, at most as many as the settings allow. Lives on the runtime's loop."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._free = asyncio.Semaphore(settings.ENGINE_JOBS)

    @contextlib.asynccontextmanager
    async def worker(self) -> AsyncIterator[Worker]:
        """A process for one job; raises LimitReached where none becomes free in time."""
        try:
            await asyncio.wait_for(self._free.acquire(), WAIT)
        except TimeoutError:
            raise LimitReached(
                "Others are computing traces here just now. Please try again in a moment."
            ) from None
        worker = Worker()
        try:
            yield worker
        finally:
            await worker.stop()
            self._free.release()

    async def check(self, data: bytes) -> tuple[dict[str, Any], list[bytes]]:
        """Compute a trace again (see traces.check)."""
        async with self.worker() as worker:
            header, payloads = await worker.call(
                "trace_check", {"objects": settings.MAX_OBJECTS}, [data], settings.TRACE_SECONDS
            )
        return header["result"], payloads

    async def export(self, session_id: int, detail: tuple[int, int], chunks: Chunks) -> None:
        """Write a session's trace to `chunks`."""
        try:
            session, rows = await self._runtime.db(log.read, session_id)
            arguments = {"seed": session.seed, "detail": detail, "created": session.created.isoformat()}
            async with self.worker() as worker:
                await worker.call("trace_open", *told(arguments, session, rows), CHUNK_TIMEOUT)
                done = False
                while not done:
                    header, (data,) = await worker.call("trace_next", {}, [], CHUNK_TIMEOUT)
                    done = header["result"]["done"]
                    await asyncio.wait_for(chunks.put(data), IDLE)
        except (SessionError, TimeoutError) as error:
            chunks.fail(error)
        finally:
            chunks.end()


class Chunks:
    """A short queue from the sessions' loop to the loop that sends a response."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._queue: asyncio.Queue[bytes | BaseException | None] = asyncio.Queue()
        self._room = asyncio.Semaphore(8)
        self._home = asyncio.get_running_loop()

    async def put(self, data: bytes) -> None:
        """Called on the sessions' loop; waits while the reader is slow."""
        await self._room.acquire()
        self._loop.call_soon_threadsafe(self._queue.put_nowait, data)

    def fail(self, error: BaseException) -> None:
        self._loop.call_soon_threadsafe(self._queue.put_nowait, error)

    def end(self) -> None:
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._queue.put_nowait, None)

    async def read(self) -> AsyncIterator[bytes]:
        """Called on the reader's loop."""
        while (item := await self._queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            self._home.call_soon_threadsafe(self._room.release)
            if item:
                yield item
