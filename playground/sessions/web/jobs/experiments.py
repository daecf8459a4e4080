"""Experiments: requests that a process of its own answers one after another, at the lowest priority, so that no studio waits for it."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_noop

from playground.sessions.protocol.base import Request
from playground.sessions.web.engines import Worker
from playground.sessions.web.jobs.registry import Asker, Job, Jobs, Kind

SECONDS = 1800.0
OF_A_RUN = 300.0
LOWEST = 19  # as nice counts

EXPERIMENT = Kind(
    "experiment",
    at_once=lambda: settings.ENGINE_JOBS,
    of_a_session=1,
    busy=gettext_noop("The server is running other experiments, or one of this session. Try again in a few minutes."),
    failed=gettext_noop("The experiment failed. The session is unchanged."),
    seconds=SECONDS,
    late=gettext_noop("The experiment took more than half an hour and was stopped. The runs that were made are below."),
    stopped=gettext_noop("The experiment was stopped. The runs that were made are below."),
    kept=20,
    forgotten=gettext_noop("This experiment has expired. Run it again."),
)


@dataclass
class Batch:
    """Requests about the files of a folder, and the answers so far. `about` is whatever the page needs to show them.

    `finish` makes the last answer of all of them.
    """

    requests: Sequence[Request[Any]]
    folder: TemporaryDirectory[str] | None = None
    about: Any = None
    finish: Callable[[list[Any]], Awaitable[Any]] | None = None
    answers: list[Any] = field(default_factory=list)
    began: float = 0.0

    @property
    def left(self) -> float:
        """The seconds that the rest will take, as far as can be said."""
        done = len(self.answers)
        return (time.monotonic() - self.began) / done * (len(self.requests) - done) if done else 0.0


class Experiments:
    """Lives on the sessions' loop."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    def begin(self, session: int, author: str, batch: Batch) -> Job[Batch]:
        """Begin to answer a batch. The answers are there as they come, also where it is stopped."""

        async def work(job: Job[Batch]) -> Batch:
            job.result, batch.began = batch, time.monotonic()
            worker = Worker(LOWEST)
            try:
                for request in batch.requests:
                    job.advance(len(batch.answers), len(batch.requests))
                    batch.answers.append(await worker.call(0, request, OF_A_RUN))
            finally:
                await worker.stop()
            if batch.finish is not None:
                batch.answers = [await batch.finish(batch.answers)]
            return batch

        return self._jobs.begin(EXPERIMENT, work, Asker(session, author))

    def find(self, session: int, token: str) -> Job[Batch]:
        """Raises SessionGone where it is not known."""
        return self._jobs.find(EXPERIMENT, session, token)

    def of(self, session: int, author: str) -> list[Job[Batch]]:
        """Return an author's experiments in a session, the last one first."""
        asker = Asker(session, author)
        return [job for job in reversed(self._jobs.all_of(EXPERIMENT)) if job.asker == asker]
