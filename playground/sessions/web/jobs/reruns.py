"""Re-runs of a history, experiments, and checks of lessons, as jobs."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, cast

from django.conf import settings
from django.utils.translation import gettext_noop

from playground.lessons.authoring import CheckResult, LessonFiles
from playground.models import Session
from playground.sessions.database import log
from playground.sessions.protocol.base import Request
from playground.sessions.protocol.comparing import DropTask, Rerun, RerunResult
from playground.sessions.protocol.looking import CheckLesson, DrawVariant, Variant
from playground.sessions.web.engines import Worker, own_worker
from playground.sessions.web.jobs.registry import Asker, Job, Jobs, Kind, Live
from playground.sessions.web.loop import SessionsLoop

EXPERIMENT_SECONDS = 1800.0
OF_A_RUN = 300.0


@dataclass
class Batch:
    """Requests about the files of a folder, and the answers so far. `about` is for the page that shows them.

    `finish` turns all answers into a single one at the end.
    """

    requests: Sequence[Request[Any]]
    folder: TemporaryDirectory[str] | None = None
    about: Any = None
    finish: Callable[[list[Any]], Awaitable[Any]] | None = None
    answers: list[Any] = field(default_factory=list)
    began: float = 0.0

    @property
    def left(self) -> float:
        """The estimated seconds that the remaining requests will take; 0 before the first answer."""
        done = len(self.answers)
        return (time.monotonic() - self.began) / done * (len(self.requests) - done) if done else 0.0


EXPERIMENT: Kind[Batch] = Kind(
    "experiment",
    at_once=lambda: settings.ENGINE_JOBS,
    of_a_session=1,
    busy=gettext_noop("The server is running other experiments, or one of this session. Try again in a few minutes."),
    failed=gettext_noop("The experiment failed. The session is unchanged."),
    seconds=EXPERIMENT_SECONDS,
    late=gettext_noop("The experiment took more than half an hour and was stopped. The finished runs are below."),
    stopped=gettext_noop("The experiment was stopped. The finished runs are below."),
    kept=20,
    forgotten=gettext_noop("This experiment has expired. Run it again."),
)


class Experiments:
    """Experiments as jobs, on the sessions' loop."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    def begin(self, session: int, author: str, batch: Batch) -> Job[Batch]:
        """Begin to execute a batch. The answers so far are available at any time, also if the batch is stopped."""

        async def work(job: Job[Batch]) -> Batch:
            job.result, batch.began = batch, time.monotonic()
            async with own_worker(idle=True) as worker:
                for request in batch.requests:
                    job.advance(len(batch.answers), len(batch.requests))
                    batch.answers.append(await worker.call(0, request, OF_A_RUN))
            if batch.finish is not None:
                batch.answers = [await batch.finish(batch.answers)]
            return batch

        return self._jobs.begin(EXPERIMENT, work, Asker(session, author))

    def of(self, session: int, author: str) -> list[Job[Batch]]:
        """Return an author's experiments in a session, the last one first."""
        asker = Asker(session, author)
        return [job for job in reversed(self._jobs.all_of(EXPERIMENT)) if job.asker == asker]


A = TypeVar("A")

PIECE = 0.5  # seconds that the worker spends on a re-run before it answers
SECONDS = 300.0


@dataclass(frozen=True)
class NewBranch:
    """The result of a re-run: the branch, and the outcome of the commands."""

    branch: Session
    result: RerunResult


RERUN: Kind[NewBranch] = Kind(
    "re-run",
    at_once=lambda: 8,
    of_a_session=1,
    busy=gettext_noop("The server is running another re-run. Try again in a moment."),
    failed=gettext_noop("The re-run failed. The session is unchanged."),
    seconds=SECONDS,
    late=f"The re-run had not come to its end after {SECONDS:.0f} s and was stopped. Nothing was kept of it.",
    kept=200,
    forgotten=gettext_noop("This re-run no longer exists. If it finished, its branch is in the list of branches."),
)


class Reruns:
    """Re-runs as jobs, on the sessions' loop; `live` finds a session in this process."""

    def __init__(self, jobs: Jobs, loop: SessionsLoop, live: Callable[[int], Live]) -> None:
        self._jobs, self._loop, self._live = jobs, loop, live

    def begin(self, origin: int, skip: list[int], seed: int | None, name: str, creator: str) -> Job[NewBranch]:
        """Begin to re-run a history without the commands at some positions, or with another seed.

        An equal request while the job runs, such as a double click, returns the same job.
        """

        async def work(job: Job[NewBranch]) -> NewBranch:
            result = await self._compute(job, origin, skip, seed)
            branch = await self._loop.db(log.rerun, origin, result, name, creator, seed)
            return NewBranch(branch, result)

        return self._jobs.begin(RERUN, work, Asker(origin), (origin, seed, *skip))

    @staticmethod
    def skipped(job: Job[NewBranch]) -> list[int]:
        """Return the positions of the commands that a re-run leaves out."""
        _origin, _seed, *skip = cast("tuple[int, ...]", job.key)
        return skip

    @staticmethod
    def seed(job: Job[NewBranch]) -> int | None:
        """Return the seed that a re-run uses in place of its origin's; None if it keeps that seed."""
        _origin, seed, *_skip = cast("tuple[int | None, ...]", job.key)
        return seed

    async def _compute(self, job: Job[NewBranch], origin: int, skip: list[int], seed: int | None) -> RerunResult:
        live = self._live(origin)
        await live.ready()
        request = Rerun(
            at=live.head,
            token=job.token,
            skip=skip,
            seed=seed,
            max_objects=settings.MAX_OBJECTS,
            max_steps=settings.MAX_RUN_STEPS,
            seconds=PIECE,
        )
        try:
            while True:
                progress = await live.ask(request)
                job.advance(progress.done, progress.total)
                if progress.result is not None:
                    return progress.result
        finally:
            live.notify(DropTask(token=job.token))


LESSON: Kind[CheckResult] = Kind(
    "lesson",
    at_once=lambda: settings.ENGINE_JOBS,
    busy=gettext_noop("The server is checking other lessons. Try again in a moment."),
    failed=gettext_noop("The lesson could not be played: it needs too much time or memory. Your text is kept."),
    late=gettext_noop("The lesson could not be played: it needs too much time or memory. Your text is kept."),
    wait=30.0,
)
VARIANT: Kind[Variant] = Kind(
    "variant",
    at_once=lambda: settings.ENGINE_JOBS,
    busy=gettext_noop("The server is starting other variants of lessons. Try again in a moment."),
    failed=gettext_noop("No variant could be created: it needs too much time or memory."),
    late=gettext_noop("No variant could be created: it needs too much time or memory."),
    wait=30.0,
)
KEPT = 300.0  # seconds that a process without requests is kept


class KeptWorker:
    """A worker for requests one after the other, which ends when it has had none for a while."""

    def __init__(self, seconds: float = KEPT) -> None:
        self._seconds = seconds
        self._worker = Worker()
        self._turn = asyncio.Lock()
        self._end: asyncio.TimerHandle | None = None
        self._ending: asyncio.Task[None] | None = None

    async def call(self, request: Request[A]) -> A:
        """Send a request; a process that does not answer in time is killed, and the next request starts a new one."""
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
    """Checks of lessons and draws of variants as jobs, on the sessions' loop."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._kept = KeptWorker()

    async def check(self, files: LessonFiles, author: str, move: bool = False) -> CheckResult:
        """Check a lesson's files by playing it."""
        request = CheckLesson(files=files, max_objects=settings.MAX_OBJECTS, move=move)
        return await self._alone(LESSON, request, author)

    async def draw(self, slug: str, lesson: bytes, seed: str, author: str) -> Variant:
        request = DrawVariant(slug=slug, lesson=lesson, seed=seed, max_objects=settings.MAX_OBJECTS)
        if lesson:
            return await self._alone(VARIANT, request, author)
        return await self._jobs.begin(VARIANT, lambda job: self._kept.call(request), Asker(0, author)).outcome()

    async def _alone(self, kind: Kind[A], request: Request[A], author: str) -> A:
        async def work(job: Job[A]) -> A:
            async with own_worker() as worker:
                return await worker.call(0, request, settings.LESSON_SECONDS)

        return await self._jobs.begin(kind, work, Asker(0, author)).outcome()
