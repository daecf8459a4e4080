"""Traces and files: a process of its own writes or checks each one, so that no session is delayed."""

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import IO, Any

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from playground.sessions.database import lessons, log
from playground.sessions.protocol import comparing
from playground.sessions.protocol.errors import LimitReached
from playground.sessions.web.engines import Worker, own_worker
from playground.sessions.web.jobs.registry import Asker, Job, Jobs, Kind
from playground.sessions.web.loop import SessionsLoop

CHUNK_TIMEOUT = 30.0
IDLE = 60.0  # seconds that a reader has for a chunk
CHUNKS = 8  # maximum of unread chunks

TRACE: Kind[Any] = Kind(
    "trace",
    at_once=lambda: settings.ENGINE_JOBS,
    busy=gettext_noop("The server is computing other traces. Try again in a moment."),
    failed=gettext_noop("The trace could not be computed."),
    wait=30.0,
)


class Traces:
    """Traces as jobs, on the sessions' loop."""

    def __init__(self, jobs: Jobs, loop: SessionsLoop) -> None:
        self._jobs, self._loop = jobs, loop

    async def check(self, data: bytes, author: str) -> comparing.TraceChecked:
        async def work(job: Job[comparing.TraceChecked]) -> comparing.TraceChecked:
            request = comparing.CheckTrace(data=data, max_objects=settings.MAX_OBJECTS)
            async with own_worker() as worker:
                return await worker.call(0, request, settings.TRACE_SECONDS)

        checked: comparing.TraceChecked = await self._jobs.begin(TRACE, work, Asker(0, author)).outcome()
        return checked

    async def export(self, session_id: int, detail: tuple[int, int], reader: asyncio.AbstractEventLoop) -> "Chunks":
        """Begin to write a session's trace, to be read on another loop."""

        async def work(job: Job[None]) -> None:
            try:
                await self._write(session_id, detail, chunks)
            except TimeoutError as error:  # the reader has stopped
                chunks.fail(error)

        job = self._jobs.begin(TRACE, work, Asker(session_id))
        chunks = Chunks(reader, job)
        return chunks

    async def _write(self, session_id: int, detail: tuple[int, int], chunks: "Chunks") -> None:
        session, rows = await self._loop.db(log.read, session_id)
        request = comparing.OpenTrace(
            seed=session.seed,
            rows=rows,
            head=session.head,
            detail=detail,
            created=session.created.isoformat(),
            lesson=await self._loop.db(lessons.in_trace, session.story),
        )
        async with own_worker() as worker:
            async for part in _write(worker, request, CHUNK_TIMEOUT):
                async with asyncio.timeout(IDLE):
                    await chunks.put(part.data)


async def _write(
    worker: Worker, request: comparing.OpenTrace | comparing.OpenFile, timeout: float
) -> AsyncIterator[comparing.FilePart]:
    """Write a trace or a file in a worker, and yield it part after part."""
    await worker.call(0, request, timeout)
    done = False
    while not done:
        part = await worker.call(0, comparing.NextPart(), timeout)
        done = part.done
        yield part


class Chunks:
    """A short queue from a job on the sessions' loop to the loop that sends a response."""

    def __init__(self, reader: asyncio.AbstractEventLoop, job: Job[None]) -> None:
        self._reader, self._job = reader, job
        self._queue: asyncio.Queue[bytes | BaseException | None] = asyncio.Queue()
        self._room = asyncio.Semaphore(CHUNKS)
        self._home = asyncio.get_running_loop()
        assert job.task is not None
        job.task.add_done_callback(lambda _task: self._end())

    async def put(self, data: bytes) -> None:
        """Add data, waiting while the reader is slow; called on the sessions' loop."""
        await self._room.acquire()
        self._reader.call_soon_threadsafe(self._queue.put_nowait, data)

    def fail(self, error: BaseException) -> None:
        with contextlib.suppress(RuntimeError):
            self._reader.call_soon_threadsafe(self._queue.put_nowait, error)

    def _end(self) -> None:
        with contextlib.suppress(RuntimeError):  # the reader's loop may have ended
            self._reader.call_soon_threadsafe(self._queue.put_nowait, self._job.error)

    async def read(self) -> AsyncIterator[bytes]:
        """Yield the data; called on the reader's loop. If the reader stops, the job is canceled."""
        try:
            while (item := await self._queue.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                self._home.call_soon_threadsafe(self._room.release)
                if item:
                    yield item
        finally:
            self._home.call_soon_threadsafe(self._job.cancel)


SECONDS = 300.0
MOST = 64 << 20  # bytes of a file
CHUNK = 256 << 10
PART_TIMEOUT = 60.0


@dataclass(frozen=True)
class File:
    """An unnamed temporary file, which the system deletes when no process has it open."""

    stream: IO[bytes]
    size: int
    content_type: str
    suffix: str

    async def read(self) -> AsyncIterator[bytes]:
        """Yield the parts of the file; several readers may read at once."""
        for offset in range(0, self.size, CHUNK):
            yield await asyncio.to_thread(os.pread, self.stream.fileno(), CHUNK, offset)


DOWNLOAD: Kind[File] = Kind(
    "download",
    at_once=lambda: settings.ENGINE_JOBS,
    of_a_session=2,
    busy=gettext_noop("The server is creating other files. Try again in a moment."),
    failed=gettext_noop("The file could not be created. The session is unchanged."),
    seconds=SECONDS,
    late=gettext_noop("Creating the file took more than five minutes and was stopped. The session is unchanged."),
    stopped=gettext_noop("Creating the file was canceled."),
    kept=32,
    reused=True,
    forgotten=gettext_noop("This file has expired. Request it again."),
)
Making = Callable[[Job[File]], Awaitable[File]]


class Downloads:
    """Files for download as jobs, on the sessions' loop."""

    def __init__(self, jobs: Jobs, loop: SessionsLoop) -> None:
        self._jobs, self._loop = jobs, loop

    def begin(self, session: int, author: str, what: Hashable, make: Making) -> Job[File]:
        """Begin to make a file. An equal request returns the job that makes it or has made it."""
        return self._jobs.begin(DOWNLOAD, make, Asker(session, author), key=(session, author, what))

    def of(self, session: int, author: str) -> list[tuple[Any, Job[File]]]:
        """Return the keys and jobs of an author's downloads in a session, without failed ones, in order of the last request."""
        asker = Asker(session, author)
        jobs = [job for job in self._jobs.all_of(DOWNLOAD) if job.asker == asker and job.error is None]
        return [(job.key[2], job) for job in jobs if isinstance(job.key, tuple)]

    def of_history(self, session: int, form: comparing.FileForm, table: str, content_type: str, suffix: str) -> Making:
        """Return a function that writes a session's history in the given form, in a process of its own."""

        async def make(job: Job[File]) -> File:
            row, rows = await self._loop.db(log.read, session)
            request = comparing.OpenFile(seed=row.seed, rows=rows, head=row.head, form=form, table=table, most=MOST)
            stream = _new_file()
            async with own_worker() as worker:
                async for part in _write(worker, request, PART_TIMEOUT):
                    job.advance(part.steps, row.head)
                    if part.data:
                        await asyncio.to_thread(stream.write, part.data)
            return _finish_file(stream, content_type, suffix)

        return make


def _new_file() -> IO[bytes]:
    return tempfile.TemporaryFile()


def _finish_file(stream: IO[bytes], content_type: str, suffix: str) -> File:
    stream.flush()
    return File(stream, os.fstat(stream.fileno()).st_size, content_type, suffix)


def file_of(data: bytes, content_type: str, suffix: str) -> File:
    """Return a file with these bytes. Raise LimitReached if they are too many."""
    if len(data) > MOST:
        raise LimitReached(_("The file has more than %(most)s MB. Choose fewer attempts.") % {"most": MOST >> 20})
    stream = _new_file()
    stream.write(data)
    return _finish_file(stream, content_type, suffix)
