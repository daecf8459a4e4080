"""Jobs: long tasks of a session: comparisons, re-runs, searches, traces, downloads, previews.

A job continues without its requester, reports its progress, can be canceled, and is identified by a token that only its requester has.
Its kind sets how many run at once, how long one may take, and how long results are kept.
"""

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from django.utils.translation import gettext

from playground.sessions.protocol.base import Message, Query, Request
from playground.sessions.protocol.errors import LimitReached, SessionError, SessionGone

T = TypeVar("T")

log = logging.getLogger(__name__)

EXPIRY = 3600.0  # seconds that a result is kept at most


A = TypeVar("A")


class Live(Protocol):
    """A live session, as its jobs use it."""

    @property
    def id(self) -> int: ...
    @property
    def head(self) -> int: ...
    @property
    def shown(self) -> int: ...
    async def ready(self) -> None: ...
    async def ask(self, query: Query[A]) -> A: ...
    async def check(self, request: Request[A]) -> A: ...
    def notify(self, notice: Message) -> None: ...


class Cancelled(SessionError):
    """The requester canceled the job."""


@dataclass(frozen=True)
class Kind(Generic[T]):
    """The limits of a kind of job, and the texts for a reached limit.

    At most `at_once` run in this process, `of_a_session` of them for one session (0: any number). One more is refused, or waits for up to
    `wait` seconds. `seconds` is the time limit of one, `kept` the number of results that are kept; `reused`: an equal request gets such a
    result. Texts are message ids (gettext_noop).
    """

    name: str
    at_once: Callable[[], int]
    busy: str
    failed: str
    of_a_session: int = 0
    wait: float = 0.0
    seconds: float | None = None
    late: str = ""
    stopped: str = "This was stopped."
    kept: int = 0
    reused: bool = False
    forgotten: str = "This is not known any more."


@dataclass(frozen=True)
class Asker:
    """The requester of a job: the session (0: none), and which of its viewers or authors."""

    session: int
    author: str = ""


@dataclass(eq=False)
class Job(Generic[T]):
    """One job; `done` of `total` in a `stage`, "" before the start. `key` is equal for jobs with the same result."""

    kind: Kind[T]
    asker: Asker
    key: Hashable
    token: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    done: int = 0
    total: int = 0
    stage: str = ""
    result: T | None = None
    error: SessionError | None = None
    ended: float = 0.0
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    @property
    def going(self) -> bool:
        return not self.finished.is_set()

    def advance(self, done: int, total: int, stage: str = "") -> None:
        """Set the progress."""
        self.done, self.total, self.stage = done, total, stage

    async def wait(self, patience: float) -> None:
        """Wait until the job is finished, or `patience` seconds have passed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self.finished.wait()

    async def outcome(self) -> T:
        """Wait for the result. Raise the job's error. If the waiting task is canceled, the job is canceled, too."""
        try:
            await self.finished.wait()
        except asyncio.CancelledError:
            self.cancel()
            raise
        self.check()
        return self.result  # type: ignore[return-value]  # it finished without an error, so there is one

    def check(self) -> None:
        """Raise the job's error, if any."""
        if self.error is not None:
            raise self.error

    def cancel(self) -> bool:
        """Cancel the job; return whether it was running."""
        if self.task is None or not self.going:
            return False
        self.task.cancel()
        return True


class Jobs:
    """The jobs of this process. Lives on the sessions' loop."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job[Any]] = {}
        self._slots: dict[str, asyncio.Semaphore] = {}

    def begin(
        self, kind: Kind[T], work: Callable[[Job[T]], Awaitable[T]], asker: Asker, key: Hashable = None
    ) -> Job[T]:
        """Begin a job, or return one with the same key that runs or has a reusable result. Raise LimitReached."""
        same = self._same(kind, key)
        if same is not None:
            return same
        self._make_room(kind, asker)
        job: Job[T] = Job(kind, asker, key)
        self._jobs[job.token] = job
        job.task = asyncio.create_task(self._work(job, work))
        return job

    def find(self, kind: Kind[T], session: int, token: str) -> Job[T]:
        """Return the session's job with a token. Raise SessionGone if there is none."""
        job = self._jobs.get(token)
        if job is None or job.kind is not kind or job.asker.session != session:
            raise SessionGone(gettext(kind.forgotten))
        return job

    def all_of(self, kind: Kind[T]) -> list[Job[T]]:
        """Return the running jobs of a kind and those with a stored outcome, in order of the last request."""
        return [job for job in self._jobs.values() if job.kind is kind]

    def going(self, kind: Kind[T]) -> list[Job[T]]:
        return [job for job in self.all_of(kind) if job.going]

    def drop(self, session: int) -> None:
        """Cancel and forget the jobs of a deleted session."""
        for job in [job for job in self._jobs.values() if job.asker.session == session]:
            job.cancel()
            self._jobs.pop(job.token, None)

    def _same(self, kind: Kind[T], key: Hashable) -> Job[T] | None:
        for job in self.all_of(kind) if key is not None else ():
            if job.key == key and (job.going or (kind.reused and job.error is None)):
                self._jobs[job.token] = self._jobs.pop(job.token)  # jobs are in order of the last request
                return job
        return None

    def _make_room(self, kind: Kind[Any], asker: Asker) -> None:
        """Make room for one more job, or raise LimitReached. Running jobs are kept, so that a later request can find them."""
        going = self.going(kind)
        of_the_session = sum(job.asker.session == asker.session for job in going)
        if (not kind.wait and len(going) >= kind.at_once()) or 0 < kind.of_a_session <= of_the_session:
            raise LimitReached(gettext(kind.busy))
        self._forget(kind)

    def _forget(self, kind: Kind[Any]) -> None:
        """Forget the results that are too many or too old."""
        over = [job for job in self.all_of(kind) if not job.going]
        old = [job for job in over if time.monotonic() - job.ended > EXPIRY]
        for job in {*old, *over[: max(0, len(over) - kind.kept)]}:
            del self._jobs[job.token]

    async def _work(self, job: Job[T], work: Callable[[Job[T]], Awaitable[T]]) -> None:
        kind = job.kind
        try:
            async with self._slot(kind), asyncio.timeout(kind.seconds):
                job.result = await work(job)
        except SessionError as error:
            job.error = error
        except TimeoutError:
            job.error = LimitReached(gettext(kind.late))
        except asyncio.CancelledError:
            job.error = Cancelled(gettext(kind.stopped))
            raise
        except Exception:
            log.exception("%s of session %s", kind.name, job.asker.session)
            job.error = SessionError(gettext(kind.failed))
        finally:
            job.ended = time.monotonic()
            job.finished.set()
            self._forget(kind)

    @contextlib.asynccontextmanager
    async def _slot(self, kind: Kind[Any]) -> AsyncIterator[None]:
        """Hold one of the kind's slots, if the kind waits for one. Raise LimitReached after its time limit."""
        if not kind.wait:
            yield
            return
        slot = self._slots.setdefault(kind.name, asyncio.Semaphore(kind.at_once()))
        try:
            async with asyncio.timeout(kind.wait):
                await slot.acquire()
        except TimeoutError:
            raise LimitReached(gettext(kind.busy)) from None
        try:
            yield
        finally:
            slot.release()
