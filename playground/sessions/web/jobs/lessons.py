"""Lessons that people make: each is played in a process of its own, so that it delays no session, and for some seconds at most."""

from __future__ import annotations

from django.conf import settings
from django.utils.translation import gettext_noop

from playground.lessons.authoring import Checked, LessonFiles
from playground.sessions.protocol.lessons import CheckLesson
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


class Lessons:
    """Lives on the sessions' loop."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    async def check(self, files: LessonFiles, author: str, move: bool = False) -> Checked:
        """Play what somebody wrote."""

        async def work(job: Job[Checked]) -> Checked:
            worker = Worker()
            try:
                request = CheckLesson(files=files, max_objects=settings.MAX_OBJECTS, move=move)
                return await worker.call(0, request, settings.LESSON_SECONDS)
            finally:
                await worker.stop()

        return await self._jobs.begin(LESSON, work, Asker(0, author)).outcome()
