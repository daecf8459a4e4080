"""Large imports: a session's engine plans a file's import in turns, and then applies it, one import at a time.

Other imports wait for their turn. The file is in a folder of the server until it is read, and is deleted with the job, even if the job
fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.utils.translation import gettext, gettext_noop

from playground.sessions.database import markers
from playground.sessions.protocol.comparing import DropTask
from playground.sessions.protocol.errors import LimitReached
from playground.sessions.protocol.moving import ImportPlan, ImportProgress, PackedPlan, ReadImport
from playground.sessions.web.engines import Worker
from playground.sessions.web.jobs.registry import Asker, Job, Jobs, Kind, Live
from playground.sessions.web.loop import SessionsLoop

# Previews of imports: the session's engine plans the import of a text; the plan is stored in the database until it is applied.

PREVIEW: Kind[KeptPreview] = Kind(
    "preview",
    at_once=lambda: 16,
    busy=gettext_noop("The server is reading other imports. Try again in a moment."),
    failed=gettext_noop("The preview of the import failed."),
    wait=30.0,
)


class KeptPreview(NamedTuple):
    """A preview's token, and the old and new names of a renamed import, which only its author gets."""

    token: str
    names: list[tuple[str, str]]


PIECE = 0.25  # seconds of one turn; between turns an import can be canceled
LOOK = 0.1  # seconds between checks of the progress
MOST_WAITING = 4
LEFT = 3600.0  # seconds after which a file is an orphan: its server ended before its job did

IMPORT: Kind[ImportResult] = Kind(
    "import",
    at_once=lambda: 1,
    of_a_session=1,
    busy=gettext_noop("The server is reading other large imports. Try again in a few minutes."),
    failed=gettext_noop("The import failed. The session is unchanged."),
    wait=900.0,
    seconds=600.0,
    late=gettext_noop("The import took more than ten minutes and was stopped."),
    stopped=gettext_noop("The import was canceled. Nothing was saved."),
    kept=50,
    forgotten=gettext_noop("This import no longer exists. Upload the file again."),
)


class ImportChanges(Protocol):
    """The changes of a live session that an import needs."""

    async def preview(self, text: bytes, rename: bool = False) -> ImportPlan: ...
    async def make_room_for_large(self) -> None: ...
    async def read_import(self, request: ReadImport) -> ImportProgress: ...
    async def apply_import(self, token: str, command: Callable[[], Awaitable[bytes]]) -> int: ...


class ImportSession(Live, Protocol):
    """A live session, as a large import uses it."""

    @property
    def changes(self) -> ImportChanges: ...
    @property
    def worker(self) -> Worker | None: ...


@dataclass(frozen=True)
class ImportResult:
    """An import's result: a preview's token, with the former names of a renamed one, returned once; or it was `applied`."""

    token: str
    names: list[tuple[str, str]]
    applied: int = 0


class Imports:
    """Imports as jobs, on the sessions' loop."""

    def __init__(self, jobs: Jobs, loop: SessionsLoop) -> None:
        self._jobs, self._loop = jobs, loop

    async def preview(
        self, session_id: int, session: ImportChanges, text: bytes, filename: str, author: str, rename: bool
    ) -> KeptPreview:
        """Preview the import of a text, and store the plan."""

        async def work(job: Job[KeptPreview]) -> KeptPreview:
            plan = await session.preview(text, rename)
            token = await self._loop.db(markers.keep, session_id, author, filename, plan)
            return KeptPreview(token, plan.names)

        return await self._jobs.begin(PREVIEW, work, Asker(session_id, author)).outcome()

    def look_at(
        self, session: ImportSession, file: Path, filename: str, author: str, rename: bool
    ) -> Job[ImportResult]:
        """Begin to plan the import of a file. The file is deleted after that, or if the job is refused, fails, or is canceled."""

        async def work(job: Job[ImportResult]) -> ImportResult:
            packed = await self._plan(session, job, file, rename)
            job.advance(0, 0, "save")
            name = "" if rename else filename
            await self._loop.db(markers.keep_packed, session.id, author, name, packed, job.token)
            return ImportResult(job.token, packed.names)

        try:
            job = self._begin(work, Asker(session.id, author))
        except LimitReached:
            file.unlink(missing_ok=True)
            raise
        assert job.task is not None
        job.task.add_done_callback(lambda _: file.unlink(missing_ok=True))
        return job

    def apply(self, session: ImportSession, token: str, accepted: int) -> Job[ImportResult]:
        """Begin to apply an import that was planned."""

        async def work(job: Job[ImportResult]) -> ImportResult:
            job.advance(0, accepted, "apply")
            async with _watch_progress(job, session):
                await session.changes.apply_import(
                    token, lambda: self._loop.db(markers.get_packed_command, session.id, token)
                )
            await self._loop.db(markers.drop, session.id, token)
            return ImportResult(token, [], accepted)

        return self._begin(work, Asker(session.id))

    def outcome(self, job: Job[ImportResult]) -> ImportResult | None:
        """Return an import's result, and forget its former names; None if there is no result."""
        found = job.result
        if found is not None:
            job.result = replace(found, names=[])
        return found

    def _begin(self, work: Callable[[Job[ImportResult]], Awaitable[ImportResult]], asker: Asker) -> Job[ImportResult]:
        if len(self._jobs.going(IMPORT)) > MOST_WAITING:
            raise LimitReached(gettext(IMPORT.busy))
        return self._jobs.begin(IMPORT, work, asker)

    async def _plan(self, session: ImportSession, job: Job[ImportResult], file: Path, rename: bool) -> PackedPlan:
        job.advance(0, 0, "read")
        await session.changes.make_room_for_large()
        request = ReadImport(
            token=job.token, file=str(file), rename=rename, most_bytes=settings.MAX_IMPORT_BYTES, seconds=PIECE
        )
        try:
            while True:
                progress = await session.changes.read_import(request)
                job.advance(progress.done, progress.total, progress.stage)
                if progress.made is not None:
                    return progress.made
        finally:
            session.notify(DropTask(token=job.token))


@contextlib.asynccontextmanager
async def _watch_progress(job: Job[ImportResult], session: ImportSession) -> AsyncIterator[None]:
    """Copy the progress of the worker's blocking work to the job during the context."""

    async def look() -> None:
        while True:
            done, total = session.worker.progress() if session.worker is not None else (0, 0)
            if total:
                job.advance(done, total, "apply")
            await asyncio.sleep(LOOK)

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()


def take_file(source: UploadedFile[Any]) -> Path:
    """Move or copy an upload to a file of its own, and return the path."""
    settings.UPLOADS.mkdir(parents=True, exist_ok=True)
    drop_left()
    file: Path = settings.UPLOADS / secrets.token_urlsafe(12)
    if isinstance(source, TemporaryUploadedFile):
        shutil.move(source.temporary_file_path(), file)
        return file
    with file.open("xb") as copy:
        copy.writelines(source.chunks())
    return file


def drop_left() -> None:
    """Delete the files left by a server that ended in the middle of an import."""
    for file in settings.UPLOADS.glob("*"):
        with contextlib.suppress(OSError):
            if time.time() - file.stat().st_mtime > LEFT:
                file.unlink()
