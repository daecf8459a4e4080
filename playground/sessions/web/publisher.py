"""Publisher: tells every viewer of a session what changed on what it looks at.

A delta leads from what a viewer has seen to where it stands now. Viewers that need the same delta get the same one, computed and
rendered once. While a session runs, deltas are at least INTERVAL apart.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from playground.presenters.look import Look
from playground.sessions.protocol.errors import SessionError, SessionGone
from playground.sessions.web.render import render_delta

if TYPE_CHECKING:
    from playground.sessions.web.live import LiveSession

INTERVAL = 0.11
SHARE = 4.0
LONGEST = 2.0
HURRY = 0.08

log = logging.getLogger(__name__)

Seen = tuple[int, Look]


@dataclass(eq=False)
class Viewer:
    """One open page. `look.at` None follows the head. `seen` is the position and the look that its page shows."""

    send: Callable[[dict[str, Any]], None]
    may_edit: bool
    look: Look = field(default_factory=Look)
    seen: Seen | None = None
    told: dict[str, Any] | None = None
    told_head: int = -1
    ready: bool = False

    def target(self, head: int) -> Seen:
        at = self.look.at
        return (head if at is None else min(at, head), self.look)


class Publisher:
    """The viewers of one session and the task that keeps them up to date."""

    def __init__(self, live: LiveSession) -> None:
        self.live = live
        self.viewers: set[Viewer] = set()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._last = 0.0
        self._cost = 0.0

    def add(self, viewer: Viewer) -> None:
        self.viewers.add(viewer)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    def remove(self, viewer: Viewer) -> None:
        self.viewers.discard(viewer)
        self._wake.set()

    def wake(self) -> None:
        """Something changed."""
        self._wake.set()

    def due(self) -> bool:
        """Whether somebody is to be shown where the present slice of a run ends."""
        return bool(self.viewers) and time.monotonic() >= self._last + self._interval() - HURRY

    def _interval(self) -> float:
        return min(max(INTERVAL, SHARE * self._cost), LONGEST)

    def tell_all(self, error: BaseException) -> None:
        self.tell(error_message(error))

    def tell(self, message: dict[str, Any]) -> None:
        """Send every viewer a message that is no delta."""
        for viewer in self.viewers:
            viewer.send(message)

    def gone(self) -> None:
        for viewer in self.viewers:
            viewer.send({"type": "gone"})
        self.viewers.clear()
        self._wake.set()

    async def _work(self) -> None:
        while self.viewers:
            await self._wake.wait()
            if self.live.running:
                await asyncio.sleep(self._last + self._interval() - time.monotonic())
            self._wake.clear()
            started = time.monotonic()
            try:
                await self.live.ready()  # to open the engine is no part of what a delta costs
                started = time.monotonic()
                await self.publish()
            except SessionGone:
                self.gone()
            except Exception as error:
                if not isinstance(error, SessionError):
                    log.exception("publishing session %s", self.live.id)
                self.tell_all(error)
                await asyncio.sleep(INTERVAL)
            self._last = time.monotonic()
            self._cost = self._last - started

    async def publish(self) -> None:
        """Bring every viewer to where it stands."""
        await self.live.ready()
        head, running = self.live.shown, self.live.running
        groups: dict[tuple[Seen | None, Seen], list[Viewer]] = defaultdict(list)
        for viewer in self.viewers:
            if not viewer.ready:
                continue
            target = viewer.target(head)
            if viewer.seen != target:
                groups[viewer.seen, target].append(viewer)
            elif viewer.told != running or viewer.told_head != head:
                self._send([viewer], viewer.seen, target, head, running, "", [])
        for (seen, target), viewers in groups.items():
            try:
                delta = await self._delta(seen, target)
            except SessionGone:
                raise
            except SessionError as error:
                for viewer in viewers:
                    viewer.seen = target
                    viewer.send(error_message(error))
                continue
            html = render_delta(delta["panels"])
            self._send(viewers, seen, target, head, running, html, delta["moved"])
            await asyncio.sleep(0)

    async def _delta(self, seen: Seen | None, target: Seen) -> dict[str, Any]:
        before = None if seen is None else [seen[0], seen[1].to_query()]
        result: dict[str, Any] = await self.live.ask(
            "delta", at=target[0], look=target[1].to_query(), before=before
        )
        return result

    def _send(
        self,
        viewers: list[Viewer],
        seen: Seen | None,
        target: Seen,
        head: int,
        running: dict[str, Any] | None,
        html: str,
        moved: list[str],
    ) -> None:
        message = {
            "type": "delta",
            "seq": target[0],
            "from": seen[0] if seen else None,
            "head": head,
            "following": target[1].at is None,
            "running": running,
            "html": html,
            "moved": moved,
        }
        for viewer in viewers:
            viewer.seen, viewer.told, viewer.told_head = target, running, head
            viewer.send(message)


def error_message(error: BaseException) -> dict[str, Any]:
    """An error as the page shows it; what is not meant for people is not told."""
    if isinstance(error, SessionError):
        return {"type": "error", **error.to_json()}
    return {
        "type": "error",
        "kind": "error",
        "message": "Something went wrong on the server. Nothing was changed.",
        "errors": [],
    }
