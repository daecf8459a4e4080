"""Downloads: files that take long to make, so that no request is held meanwhile. A file waits on the disk until it is fetched."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import IO, Any

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from playground.sessions.database import log
from playground.sessions.protocol.errors import LimitReached
from playground.sessions.protocol.traces import FileForm, NextFilePart, OpenFile
from playground.sessions.web.engines import Worker
from playground.sessions.web.jobs.registry import Asker, Job, Jobs, Kind
from playground.sessions.web.loop import SessionsLoop

SECONDS = 300.0
MOST = 64 << 20  # bytes of a file
CHUNK = 256 << 10
PART_TIMEOUT = 60.0

DOWNLOAD = Kind(
    "download",
    at_once=lambda: settings.ENGINE_JOBS,
    of_a_session=2,
    busy=gettext_noop("The server is creating other files. Try again in a moment."),
    failed=gettext_noop("The file could not be created. The session is unchanged."),
    seconds=SECONDS,
    late=gettext_noop("Creating the file took more than five minutes and was stopped. The session is unchanged."),
    stopped=gettext_noop("The file was cancelled."),
    kept=32,
    reused=True,
    forgotten=gettext_noop("This file has expired. Request it again."),
)


@dataclass(frozen=True)
class File:
    """A file on the disk that has no name there and goes when nobody holds it."""

    stream: IO[bytes]
    size: int
    content_type: str
    suffix: str

    async def read(self) -> AsyncIterator[bytes]:
        """Its parts; several may read at once."""
        for offset in range(0, self.size, CHUNK):
            yield await asyncio.to_thread(os.pread, self.stream.fileno(), CHUNK, offset)


Making = Callable[[Job[File]], Awaitable[File]]


class Downloads:
    """Lives on the sessions' loop."""

    def __init__(self, jobs: Jobs, loop: SessionsLoop) -> None:
        self._jobs = jobs
        self._loop = loop

    def begin(self, session: int, author: str, what: Hashable, make: Making) -> Job[File]:
        """Begin to make a file. Who asks for the same again is given what is on its way, or was made."""
        return self._jobs.begin(DOWNLOAD, make, Asker(session, author), key=(session, author, what))

    def find(self, session: int, token: str) -> Job[File]:
        """Raises SessionGone where it is not known."""
        return self._jobs.find(DOWNLOAD, session, token)

    def of(self, session: int, author: str) -> list[tuple[Any, Job[File]]]:
        """Return the keys and jobs of an author's downloads in a session, without failed ones, in order of the last request."""
        asker = Asker(session, author)
        jobs = [job for job in self._jobs.all_of(DOWNLOAD) if job.asker == asker and job.error is None]
        return [(job.key[2], job) for job in jobs if isinstance(job.key, tuple)]

    def of_history(self, session: int, form: FileForm, table: str, content_type: str, suffix: str) -> Making:
        """Makes a form of a session's history in a process of its own."""

        async def make(job: Job[File]) -> File:
            row, rows = await self._loop.db(log.read, session)
            request = OpenFile(seed=row.seed, rows=rows, head=row.head, form=form, table=table, most=MOST)
            stream = _new_file()
            worker = Worker()
            try:
                await worker.call(0, request, PART_TIMEOUT)
                done = False
                while not done:
                    part = await worker.call(0, NextFilePart(), PART_TIMEOUT)
                    done = part.done
                    job.advance(part.steps, row.head)
                    if part.data:
                        await asyncio.to_thread(stream.write, part.data)
            finally:
                await worker.stop()
            return _finish_file(stream, content_type, suffix)

        return make


def _new_file() -> IO[bytes]:
    return tempfile.TemporaryFile()


def _finish_file(stream: IO[bytes], content_type: str, suffix: str) -> File:
    stream.flush()
    return File(stream, os.fstat(stream.fileno()).st_size, content_type, suffix)


def file_of(data: bytes, content_type: str, suffix: str) -> File:
    """A file with these bytes. Raises LimitReached where they are too many."""
    if len(data) > MOST:
        raise LimitReached(_("The file has more than %(most)s MB. Choose fewer attempts.") % {"most": MOST >> 20})
    stream = _new_file()
    stream.write(data)
    return _finish_file(stream, content_type, suffix)
