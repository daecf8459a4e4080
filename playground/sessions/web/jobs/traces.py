"""Traces: a session's is written, or a file's is checked, in a process of its own, so that it delays no session."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from django.conf import settings
from django.utils.translation import gettext_noop

from playground.sessions.database import lessons, log
from playground.sessions.protocol.traces import CheckTrace, NextTraceLines, OpenTrace, TraceChecked
from playground.sessions.web.engines import Worker
from playground.sessions.web.jobs.registry import Asker, Job, Jobs, Kind
from playground.sessions.web.loop import SessionsLoop

CHUNK_TIMEOUT = 30.0
IDLE = 60.0  # seconds that a reader may leave a chunk lying
CHUNKS = 8  # that wait to be read

TRACE = Kind(
    "trace",
    at_once=lambda: settings.ENGINE_JOBS,
    busy=gettext_noop("The server is computing other traces. Try again in a moment."),
    failed=gettext_noop("The trace could not be computed."),
    wait=30.0,
)


class Traces:
    """Lives on the sessions' loop."""

    def __init__(self, jobs: Jobs, loop: SessionsLoop) -> None:
        self._jobs = jobs
        self._loop = loop

    async def check(self, data: bytes, author: str) -> TraceChecked:
        """Compute a trace again."""

        async def work(job: Job[TraceChecked]) -> TraceChecked:
            request = CheckTrace(data=data, max_objects=settings.MAX_OBJECTS)
            async with _process() as worker:
                return await worker.call(0, request, settings.TRACE_SECONDS)

        return await self._jobs.begin(TRACE, work, Asker(0, author)).outcome()

    async def export(self, session_id: int, detail: tuple[int, int], reader: asyncio.AbstractEventLoop) -> "Chunks":
        """Begin to write a session's trace, to be read on another loop."""

        async def work(job: Job[None]) -> None:
            try:
                await self._write(session_id, detail, chunks)
            except TimeoutError as error:  # nobody reads any more
                chunks.fail(error)

        job = self._jobs.begin(TRACE, work, Asker(session_id))
        chunks = Chunks(reader, job)
        return chunks

    async def _write(self, session_id: int, detail: tuple[int, int], chunks: "Chunks") -> None:
        session, rows = await self._loop.db(log.read, session_id)
        request = OpenTrace(
            seed=session.seed,
            rows=rows,
            head=session.head,
            detail=detail,
            created=session.created.isoformat(),
            lesson=await self._loop.db(lessons.in_trace, session.story),
        )
        async with _process() as worker:
            await worker.call(0, request, CHUNK_TIMEOUT)
            done = False
            while not done:
                lines = await worker.call(0, NextTraceLines(), CHUNK_TIMEOUT)
                done = lines.done
                async with asyncio.timeout(IDLE):
                    await chunks.put(lines.data)


@contextlib.asynccontextmanager
async def _process() -> AsyncIterator[Worker]:
    """A process for one job."""
    worker = Worker()
    try:
        yield worker
    finally:
        await worker.stop()


class Chunks:
    """A short queue from a job on the sessions' loop to the loop that sends a response."""

    def __init__(self, reader: asyncio.AbstractEventLoop, job: Job[None]) -> None:
        self._reader = reader
        self._job = job
        self._queue: asyncio.Queue[bytes | BaseException | None] = asyncio.Queue()
        self._room = asyncio.Semaphore(CHUNKS)
        self._home = asyncio.get_running_loop()
        assert job.task is not None
        job.task.add_done_callback(lambda _task: self._end())

    async def put(self, data: bytes) -> None:
        """Called on the sessions' loop; waits while the reader is slow."""
        await self._room.acquire()
        self._reader.call_soon_threadsafe(self._queue.put_nowait, data)

    def fail(self, error: BaseException) -> None:
        with contextlib.suppress(RuntimeError):
            self._reader.call_soon_threadsafe(self._queue.put_nowait, error)

    def _end(self) -> None:
        with contextlib.suppress(RuntimeError):  # the reader's loop may be over
            self._reader.call_soon_threadsafe(self._queue.put_nowait, self._job.error)

    async def read(self) -> AsyncIterator[bytes]:
        """Called on the reader's loop. Who stops reading ends the job."""
        try:
            while (item := await self._queue.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                self._home.call_soon_threadsafe(self._room.release)
                if item:
                    yield item
        finally:
            self._home.call_soon_threadsafe(self._job.cancel)
