"""The handlers of a viewer's messages. docs/stream.md describes the protocol of the stream."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Any

import orjson
from django.conf import settings
from django.utils.translation import gettext, override
from msgspec import structs

from playground.presenters import words
from playground.presenters.look import Look
from playground.presenters.panel import SeenPage
from playground.sessions.protocol import breakpoints, until
from playground.sessions.protocol.errors import LimitReached, SessionError, require_edit
from playground.sessions.protocol.moving import Back, Forward
from playground.sessions.web import messages
from playground.sessions.web.jobs.registry import Job
from playground.sessions.web.jobs.searches import Searcher, SearchRequest, SearchResult, build_search_message
from playground.sessions.web.live import LiveSession
from playground.sessions.web.publisher import Viewer
from playground.templatetags.playground_words import error_words


class Dialogue:
    """One viewer's conversation with a session. Runs on the sessions' loop."""

    def __init__(self, live: LiveSession, viewer: Viewer) -> None:
        self.live, self.viewer = live, viewer
        services = live.services
        self._searcher = Searcher(live, services.jobs, services.loop, viewer.send)
        self._following_up: set[asyncio.Task[None]] = set()

    @classmethod
    def join(cls, live: LiveSession, viewer: Viewer) -> "Dialogue":
        """Add a viewer to the session's viewers, and return the viewer's dialogue. Raise LimitReached."""
        if len(live.publisher.viewers) >= settings.MAX_VIEWERS:
            text = words.gettext_noop("This session already has %(most)s viewers, which is the limit.")
            raise LimitReached(words.message(text, most=settings.MAX_VIEWERS))
        live.publisher.add(viewer)
        if settings.REDIS_URL:
            live.services.loop.begin(live.look())
        return cls(live, viewer)

    async def take(self, message: messages.PageMessage) -> None:
        """Execute a message. Raise SessionError with a text for the viewer."""
        with override(self.viewer.language):
            await _HANDLERS[type(message)](self, message)

    def leave(self) -> None:
        """Remove the viewer, and stop the viewer's search."""
        self._searcher.drop()
        self.live.publisher.remove(self.viewer)

    async def look(self, message: messages.Look) -> None:
        """Set the viewer's look, and with `seen` what its page already shows."""
        self.set_look(message)

    def set_look(self, message: messages.Look) -> None:
        """Set the viewer's look without waiting."""
        viewer, first = self.viewer, not self.viewer.ready
        viewer.look = _read_look(orjson.dumps(message.look))
        if first and message.seen is not None:
            viewer.seen = SeenPage(message.seen, viewer.look)
        viewer.ready = True
        self.live.publisher.wake(viewer)

    async def step(self, message: messages.Step) -> None:
        """Make one engine step at the head; in the past move the cursor forward by one step of a grain."""
        live = self.live
        await live.ready()
        at = self.cursor()
        if at is not None:
            self.move_cursor(await live.ask(Forward(at=at, grain=message.grain, head=live.head)))
            return
        require_edit(self.viewer.may_edit)
        await live.pause()
        if not await live.changes.step(message.grain):
            self.viewer.send(messages.Idle(gettext("The simulation has nothing more to do.")))

    async def back(self, message: messages.Back) -> None:
        """Move the cursor back by one step of a grain; the head is unchanged."""
        live = self.live
        await live.ready()
        at = self.cursor()
        at = live.shown if at is None else at
        self.move_cursor(await live.ask(Back(at=at, grain=message.grain, head=live.head)), follow=False)

    async def goto(self, message: messages.Goto) -> None:
        """Move the cursor to a position, or follow the head (null)."""
        await self.live.ready()
        self.move_cursor(self.live.head if message.at is None else message.at)

    async def play(self, message: messages.Play) -> None:
        require_edit(self.viewer.may_edit)
        self.follow()
        await self.live.play(message.grain, message.rate)

    async def run(self, message: messages.Run) -> None:
        require_edit(self.viewer.may_edit)
        await self.live.run(until.from_form(message.until or "", structs.asdict(message)))
        self.follow()

    async def search(self, message: messages.Search) -> None:
        """Search for a position where a breakpoint holds; only with `wait` do the viewer's next messages wait for it."""
        point = None if message.point is None else breakpoints.from_form(message.point)
        await self.live.ready()
        request = SearchRequest(message.back, self.cursor(), self.viewer.may_edit, message.only, point)
        job = self._searcher.begin(request)
        if message.wait:
            await self._go_to_result(await job.outcome())
            return
        task = asyncio.create_task(self._follow_up(job))
        self._following_up.add(task)
        task.add_done_callback(self._following_up.discard)

    async def _follow_up(self, job: Job[SearchResult]) -> None:
        """Wait for a search, then go to its result, or send the viewer its error."""
        try:
            await job.finished.wait()
            await self._go_to_result(await job.outcome())
        except SessionError as error:
            self.viewer.send(messages.Searched(None, error_words(error)))

    async def _go_to_result(self, result: SearchResult) -> None:
        """Go to the position of the hit; without one, run on from the head until a breakpoint holds."""
        if result.hit is None:
            await self.live.run(until.BreakpointHolds(tuple(result.points)))
            self.follow()
            self.live.publisher.wake()
            return
        self.move_cursor(result.hit.position)
        self.viewer.send(build_search_message(result.hit))

    async def pause(self, message: messages.Pause) -> None:
        """Stop the viewer's search; if there is none, pause what drives the session."""
        if self._searcher.drop():
            return
        require_edit(self.viewer.may_edit)
        await self.live.pause()
        self.viewer.heard = None
        self.live.publisher.wake(self.viewer)

    async def ping(self, message: messages.Ping) -> None:
        self.viewer.send(messages.Pong())

    def cursor(self) -> int | None:
        """Return the viewer's position; None if the viewer follows the head or is at the head."""
        at = self.viewer.look.at
        return None if at is None or at >= self.live.head else at

    def move_cursor(self, at: int, follow: bool = True) -> None:
        """Move the cursor to a position; if that is the head, follow it."""
        at = min(at, self.live.head)
        following = follow and at == self.live.head
        self.viewer.look = self.viewer.look.but(at=None if following else at)
        self.live.publisher.wake(self.viewer)

    def follow(self) -> None:
        self.viewer.look = self.viewer.look.but(at=None)


@lru_cache(maxsize=256)
def _read_look(query: bytes) -> Look:
    """Return the look of a query as JSON; cached, because the pages of a class send the same look at the same moment."""
    return Look.from_query(orjson.loads(query))


_HANDLERS: dict[type[messages.PageMessage], Callable[[Dialogue, Any], Awaitable[None]]] = {
    messages.Look: Dialogue.look,
    messages.Step: Dialogue.step,
    messages.Back: Dialogue.back,
    messages.Goto: Dialogue.goto,
    messages.Play: Dialogue.play,
    messages.Run: Dialogue.run,
    messages.Search: Dialogue.search,
    messages.Pause: Dialogue.pause,
    messages.Ping: Dialogue.ping,
}
