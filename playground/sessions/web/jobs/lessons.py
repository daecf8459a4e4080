"""Lessons that people make, and variants: played in processes of their own, which delay no session, for some seconds at most.

What somebody wrote has a process to itself. Variants of the lessons that come with the project follow one another in a process that is kept
for a while: starting one takes longer than proving a variant.
"""

import asyncio
from typing import TypeVar

from django.conf import settings
from django.utils.translation import gettext_noop

from playground.lessons.authoring import Checked, LessonFiles
from playground.sessions.protocol.base import Request
from playground.sessions.protocol.lessons import CheckLesson, DrawVariant, Variant
from playground.sessions.web.engines import Worker
from playground.sessions.web.jobs.registry import Asker, Job, Jobs, Kind

LESSON = Kind(
    "lesson",
    at_once=lambda: settings.ENGINE_JOBS,
    busy=gettext_noop("The server is checking other lessons. Try again in a moment."),
    failed=gettext_noop("The lesson could not be played: it needs too much time or memory. Your text is kept."),
    late=gettext_noop("The lesson could not be played: it needs too much time or memory. Your text is kept."),
    wait=30.0,
)
VARIANT = Kind(
    "variant",
    at_once=lambda: settings.ENGINE_JOBS,
    busy=gettext_noop("The server is starting other variants of lessons. Try again in a moment."),
    failed=gettext_noop("No variant could be created: it needs too much time or memory."),
    late=gettext_noop("No variant could be created: it needs too much time or memory."),
    wait=30.0,
)
KEPT = 300.0  # seconds for which a process without work is kept

A = TypeVar("A")


class KeptWorker:
    """A worker that is asked by one after another, and ended when nobody has asked for a while."""

    def __init__(self, seconds: float = KEPT) -> None:
        self._seconds = seconds
        self._worker = Worker()
        self._turn = asyncio.Lock()
        self._end: asyncio.TimerHandle | None = None
        self._ending: asyncio.Task[None] | None = None

    async def call(self, request: Request[A]) -> A:
        """Ask; a process that does not answer in time is ended, and the next request has a new one."""
        async with self._turn:
            if self._end is not None:
                self._end.cancel()
            try:
                return await self._worker.call(0, request, settings.LESSON_SECONDS)
            except asyncio.CancelledError:
                self._worker.kill()
                raise
            finally:
                self._end = asyncio.get_running_loop().call_later(self._seconds, self._let_go)

    def _let_go(self) -> None:
        if not self._turn.locked():
            worker, self._worker = self._worker, Worker()
            self._ending = asyncio.create_task(worker.stop())


class Lessons:
    """Lives on the sessions' loop."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._kept = KeptWorker()

    async def check(self, files: LessonFiles, author: str, move: bool = False) -> Checked:
        """Play what somebody wrote."""
        request = CheckLesson(files=files, max_objects=settings.MAX_OBJECTS, move=move)
        return await self._alone(LESSON, request, author)

    async def draw(self, slug: str, lesson: bytes, seed: str, author: str) -> Variant:
        """Draw a variant of a lesson, and prove it."""
        request = DrawVariant(slug=slug, lesson=lesson, seed=seed, max_objects=settings.MAX_OBJECTS)
        if lesson:
            return await self._alone(VARIANT, request, author)
        return await self._jobs.begin(VARIANT, lambda job: self._kept.call(request), Asker(0, author)).outcome()

    async def _alone(self, kind: Kind, request: Request[A], author: str) -> A:
        async def work(job: Job[A]) -> A:
            worker = Worker()
            try:
                return await worker.call(0, request, settings.LESSON_SECONDS)
            finally:
                await worker.stop()

        return await self._jobs.begin(kind, work, Asker(0, author)).outcome()
