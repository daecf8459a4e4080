"""Searches: a viewer's search for a position where a breakpoint holds, from the viewer's cursor, with progress; a pause drops it.

Back: the last position before the cursor. Forward: the next one after it; if the recorded past has none, and the viewer may edit, the
engine runs on from the head. Only a run at the head changes the session.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from playground.sessions.database import markers
from playground.sessions.protocol.breakpoints import BadBreakpoint, Breakpoint, Hit
from playground.sessions.protocol.comparing import DropTask
from playground.sessions.protocol.errors import SessionError
from playground.sessions.protocol.until import CheckExpression, Search, SearchProgress
from playground.sessions.web.jobs.registry import Asker, Job, Jobs, Kind, Live
from playground.sessions.web.loop import SessionsLoop
from playground.sessions.web.messages import Searched, Searching, ToPage, describe_hit, never_held

TURN = 0.25  # seconds of one turn of a search; between turns it can be dropped
PATIENCE = 120.0  # seconds that one search may take


class NotFound(SessionError):
    """No breakpoint held in the searched range; the cursor is unchanged."""

    kind = "not-found"
    status = 404


@dataclass(frozen=True)
class SearchRequest:
    """A viewer's search: for one given `point`, for `only` the stored one with this number, or for all that are enabled.

    `at` is the viewer's cursor; None: the viewer follows the head.
    """

    back: bool
    at: int | None
    may_edit: bool
    only: int | None = None
    point: Breakpoint | None = None


@dataclass(frozen=True)
class SearchResult:
    """The position where a breakpoint held, or the breakpoints to run on for at the head."""

    hit: Hit | None
    points: list[Breakpoint]


SEARCH: Kind[SearchResult] = Kind(
    "search",
    at_once=lambda: 256,
    busy=gettext_noop("Too many searches are running. Try again in a moment."),
    failed=gettext_noop("The search failed."),
    stopped=gettext_noop("The search was stopped."),
)


class Searcher:
    """One viewer's searches, one at a time. `send` gets the progress."""

    def __init__(self, session: Live, jobs: Jobs, loop: SessionsLoop, send: Callable[[ToPage], None]) -> None:
        self._session, self._jobs, self._loop, self._send = session, jobs, loop, send
        self._job: Job[SearchResult] | None = None

    def begin(self, request: SearchRequest) -> Job[SearchResult]:
        """Begin a search, and drop the previous one."""
        self.drop()
        self._job = self._jobs.begin(
            SEARCH, lambda job: self._search(job, request), Asker(self._session.id, str(id(self)))
        )
        return self._job

    def drop(self) -> bool:
        """End the search in progress; return whether there was one."""
        return self._job is not None and self._job.cancel()

    async def _search(self, job: Job[SearchResult], request: SearchRequest) -> SearchResult:
        points = await self._points(request)
        if not request.back and request.at is None:
            if not request.may_edit:
                raise NotFound(_("You are viewing the newest step. Only the edit link can run further."))
            return SearchResult(None, points)
        progress, spent = await self._scan(job, points, request)
        if progress.hit is not None:
            await self._count(progress.hit, request)
            return SearchResult(progress.hit, points)
        if request.back or spent or not request.may_edit:
            raise NotFound(never_held(points, progress, spent, request.back))
        return SearchResult(None, points)

    async def _points(self, request: SearchRequest) -> list[Breakpoint]:
        """Return the breakpoints to search for; check a new expression where it will run. Raise BadBreakpoint if it has errors."""
        if request.point is None:
            return await self._loop.db(markers.stopping, self._session.id, request.only)
        if request.point.cel:
            wrong = await self._session.check(CheckExpression(point=request.point))
            if wrong:
                raise BadBreakpoint(wrong[0].message)
        return [request.point]

    async def _scan(
        self, job: Job[SearchResult], points: list[Breakpoint], request: SearchRequest
    ) -> tuple[SearchProgress, bool]:
        """Search the past, turn by turn; return the last progress, and whether a limit ended the search."""
        session, begin = self._session, True
        position = session.shown if request.at is None else request.at
        head, loop = session.head, asyncio.get_running_loop()
        end = loop.time() + PATIENCE
        try:
            while True:
                progress = await session.ask(
                    Search(
                        at=position,
                        token=job.token,
                        points=points,
                        back=request.back,
                        head=head,
                        most=settings.MAX_SEARCH_STEPS,
                        seconds=TURN,
                        begin=begin,
                    )
                )
                begin = False
                if progress.done or loop.time() > end:
                    return progress, progress.spent or not progress.done
                job.advance(progress.scanned, progress.of)
                self._send(Searching(request.back, progress.scanned, progress.of))
        finally:
            session.notify(DropTask(token=job.token))

    async def _count(self, hit: Hit, request: SearchRequest) -> None:
        """Count a hit, if the viewer may edit: a view link changes nothing."""
        if request.may_edit:
            with contextlib.suppress(SessionError):
                await self._loop.db(markers.hit, self._session.id, hit.id)


def build_search_message(hit: Hit) -> Searched:
    """Return the message with the position where a breakpoint held."""
    return Searched(hit, describe_hit(hit))
