"""Leaving commands out, or drawing with another seed: a session's history made again becomes a branch, with a log of its own.

The session's worker makes the history again (worker/rerun.py); here that is asked for piece by piece, and then written.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar, cast

from django.conf import settings
from django.utils.translation import gettext_noop

from playground.models import Session
from playground.sessions.database import log
from playground.sessions.protocol.base import Message, Query
from playground.sessions.protocol.comparing import DropTask, Rerun, RerunResult
from playground.sessions.web.jobs.registry import Asker, Job, Jobs, Kind
from playground.sessions.web.loop import SessionsLoop

A = TypeVar("A")

PIECE = 0.5  # seconds that the worker spends on a re-run before it answers
SECONDS = 300.0

RERUN = Kind(
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


class Rerunnable(Protocol):
    """The parts of a live session that a re-run needs."""

    @property
    def head(self) -> int: ...

    async def ready(self) -> None: ...

    async def ask(self, query: Query[A]) -> A: ...

    def notify(self, notice: Message) -> None: ...


@dataclass(frozen=True)
class NewBranch:
    """The result of a re-run: the branch, and the outcome of the commands."""

    branch: Session
    result: RerunResult


class Reruns:
    """Lives on the sessions' loop; `live` finds a session in this process."""

    def __init__(self, jobs: Jobs, loop: SessionsLoop, live: Callable[[int], Rerunnable]) -> None:
        self._jobs = jobs
        self._loop = loop
        self._live = live

    def begin(self, origin: int, skip: list[int], seed: int | None, name: str, creator: str) -> Job[NewBranch]:
        """Make a history again without the commands at some positions, or with another seed.

        Whoever asks for the very one that is on its way, as a double click does, is given that one.
        """

        async def work(job: Job[NewBranch]) -> NewBranch:
            result = await self._compute(job, origin, skip, seed)
            branch = await self._loop.db(log.rerun, origin, result, name, creator, seed)
            return NewBranch(branch, result)

        return self._jobs.begin(RERUN, work, Asker(origin), (origin, seed, *skip))

    def find(self, origin: int, token: str) -> Job[NewBranch]:
        """The re-run with a token. Raises SessionGone where it is not known."""
        return self._jobs.find(RERUN, origin, token)

    @staticmethod
    def skipped(job: Job[NewBranch]) -> list[int]:
        """The positions of the commands that a re-run leaves out."""
        _origin, _seed, *skip = cast("tuple[int, ...]", job.key)
        return skip

    @staticmethod
    def seed(job: Job[NewBranch]) -> int | None:
        """The seed that a re-run has in place of its origin's; None where it keeps that one."""
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
