"""Seeking: a viewer's search for where a breakpoint holds, from its own cursor, told of as it goes and dropped when it is paused.

Back: the last position before the cursor. Forward: the next one after it; where the recorded past has none, whoever may edit goes on
at the head, which the engine then runs. Nothing but a run at the head changes the session.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from django.conf import settings
from django.utils.translation import gettext as _

from playground.sessions.database import markers
from playground.sessions.protocol.errors import SessionError
from playground.sessions.worker.conditions.breakpoints import BadBreakpoint, Breakpoint
from playground.sessions.worker.conditions.until import to_breakpoints, words

if TYPE_CHECKING:
    from playground.sessions.web.live import LiveSession
    from playground.sessions.web.publisher import Viewer

TURN = 0.25  # seconds of one turn of a search; between two of them it can be dropped
PATIENCE = 120.0  # seconds that one search may take

Tell = Callable[[dict[str, Any]], None]


class Asked(NamedTuple):
    """What a viewer searches for: one `point` given here, or `only` the kept one with this number, or all that are on."""

    back: bool
    only: int | None = None
    point: Breakpoint | None = None


class NotFound(SessionError):
    """No breakpoint held where it was searched; the cursor stays."""

    kind = "not-found"
    status = 404


async def search(
    live: LiveSession, points: list[Breakpoint], at: int, back: bool, tell: Tell
) -> dict[str, Any]:
    """Search the past from a position. {"hit" or None, "scanned", "spent", "failures"}; progress goes to `tell`."""
    token, begin = secrets.token_hex(8), True
    asked = {
        "token": token,
        "points": [point.to_json() for point in points],
        "back": back,
        "seconds": TURN,
        "most": settings.MAX_SEARCH_STEPS,
    }
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    head = live.head
    while True:
        result: dict[str, Any] = await live.ask("search", at=at, head=head, begin=begin, **asked)
        begin = False
        if result["done"] or loop.time() > end:
            return {**result, "spent": not result["done"] or result["spent"]}
        tell({"type": "searching", "back": back, "scanned": result["scanned"], "of": result["of"]})


class Seeker:
    """What one viewer searches for; one search at a time."""

    def __init__(self, live: LiveSession, viewer: Viewer) -> None:
        self.live = live
        self.viewer = viewer
        self._task: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    async def begin(self, asked: Asked, move_cursor: Callable[[int], None], at: int | None) -> None:
        """Search without making the viewer's next messages wait."""
        self.drop()
        self._task = asyncio.create_task(self._tell_errors(self.find(asked, move_cursor, at)))

    async def find(self, asked: Asked, move_cursor: Callable[[int], None], at: int | None) -> None:
        """Search, and wait for what is found. Raises NotFound with words for the viewer."""
        points = await self._points(asked)
        if not await self._in_the_past(asked.back, points, move_cursor, at):
            await self.live.run(to_breakpoints(points))
            self.viewer.look = self.viewer.look.but(at=None)
            self.live.publisher.wake()

    def drop(self) -> bool:
        """End the search in progress; whether there was one."""
        if self._task is None or self._task.done():
            return False
        self._task.cancel()
        return True

    async def _tell_errors(self, work: Any) -> None:
        try:
            await work
        except SessionError as error:
            self.viewer.send({"type": "searched", "hit": None, "message": error.message})
        except asyncio.CancelledError:
            self.viewer.send({"type": "searched", "hit": None, "message": _("The search was stopped.")})
            raise

    async def _points(self, asked: Asked) -> list[Breakpoint]:
        """What to search for; an expression that nobody has looked at yet is checked where it will run."""
        if asked.point is None:
            return list(await self.live.runtime.db(markers.stopping, self.live.id, asked.only))
        if asked.point.cel:
            wrong = await self.live.ask("check_breakpoint", point=asked.point.to_json())
            if wrong:
                raise BadBreakpoint(wrong[0]["message"])
        return [asked.point]

    async def _in_the_past(
        self, back: bool, points: list[Breakpoint], move_cursor: Callable[[int], None], at: int | None
    ) -> bool:
        """Whether it was found there; if not, and only the head is left to whoever may edit, False."""
        if not back and at is None:
            if not self.viewer.may_edit:
                raise NotFound(_("You stand at the newest step; only the edit link runs on from here."))
            return False
        position = self.live.shown if at is None else at
        result = await search(self.live, points, position, back, self.viewer.send)
        if result["hit"] is not None:
            await self._found(result["hit"], move_cursor)
            return True
        if back or result["spent"] or not self.viewer.may_edit:
            raise NotFound(_never(points, result, back))
        return False

    async def _found(self, hit: dict[str, Any], move_cursor: Callable[[int], None]) -> None:
        move_cursor(hit["position"])
        if self.viewer.may_edit:  # who only looks leaves no trace
            with contextlib.suppress(SessionError):
                await self.live.runtime.db(markers.hit, self.live.id, hit["id"])
        self.viewer.send({"type": "searched", "hit": hit, "message": held(hit)})


def held(hit: dict[str, Any]) -> str:
    """Where a breakpoint held, in a sentence."""
    told = {"title": hit["title"], "position": f"{hit['position']:,}", "record": hit["record"]}
    if hit["value"] is not None and hit["value"] is not True:
        return _("“%(title)s” became %(value)s at step %(position)s: %(record)s") % {
            **told,
            "value": str(hit["value"])[:80],
        }
    return _("“%(title)s” held at step %(position)s: %(record)s") % told


def _never(points: list[Breakpoint], result: dict[str, Any], back: bool) -> str:
    """That it was not found, how far was searched, and what else may be the cause."""
    waited = words(to_breakpoints(points))
    scanned = f"{result['scanned']:,}"
    if result["spent"]:
        text = _("Stopped at the search's limit. Not found in %(scanned)s steps: %(waited)s.")
    elif back:
        text = _("Not found in the %(scanned)s steps before this one: %(waited)s.")
    else:
        text = _("Not found in the %(scanned)s steps up to the newest one: %(waited)s.")
    said = text % {"scanned": scanned, "waited": waited}
    return " ".join([said, *result["failures"][:2]])
