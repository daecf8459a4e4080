"""Lessons that people make, and variants: each is played in a process of its own, which delays no session, for some seconds at most."""

from __future__ import annotations

from typing import TypeVar

from django.conf import settings
from django.utils.translation import gettext_noop

from playground.lessons.authoring import Checked, LessonFiles
from playground.sessions.protocol.base import Request
from playground.sessions.protocol.lessons import CheckLesson, DrawVariant, Variant
from playground.sessions.web.engines.worker import Worker
from playground.sessions.web.jobs.registry import Asker, Job, Jobs, Kind

LESSON = Kind(
    "lesson",
    at_once=lambda: settings.ENGINE_JOBS,
    busy=gettext_noop("Others are checking lessons here just now. Please try again in a moment."),
    failed=gettext_noop(
        "The lesson could not be played: it takes too long or too much. What you wrote is kept."
    ),
    late=gettext_noop(
        "The lesson could not be played: it takes too long or too much. What you wrote is kept."
    ),
    wait=30.0,
)
VARIANT = Kind(
    "variant",
    at_once=lambda: settings.ENGINE_JOBS,
    busy=gettext_noop("Others are starting variants of lessons here just now. Please try again in a moment."),
    failed=gettext_noop("No variant could be made: playing it takes too long or too much."),
    late=gettext_noop("No variant could be made: playing it takes too long or too much."),
    wait=30.0,
)
A = TypeVar("A")


class Lessons:
    """Lives on the sessions' loop."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    async def check(self, files: LessonFiles, author: str, move: bool = False) -> Checked:
        """Play what somebody wrote."""
        request = CheckLesson(files=files, max_objects=settings.MAX_OBJECTS, move=move)
        return await self._alone(LESSON, request, author)

    async def draw(self, slug: str, lesson: bytes, seed: str, author: str) -> Variant:
        """Draw a variant of a lesson, and prove it."""
        request = DrawVariant(slug=slug, lesson=lesson, seed=seed, max_objects=settings.MAX_OBJECTS)
        return await self._alone(VARIANT, request, author)

    async def _alone(self, kind: Kind, request: Request[A], author: str) -> A:
        async def work(job: Job[A]) -> A:
            worker = Worker()
            try:
                return await worker.call(0, request, settings.LESSON_SECONDS)
            finally:
                await worker.stop()

        return await self._jobs.begin(kind, work, Asker(0, author)).outcome()
