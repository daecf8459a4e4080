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
from typing import Protocol, TypeVar

from playground.presenters.look import Look
from playground.sessions.protocol.base import Query
from playground.sessions.protocol.errors import SessionError, SessionGone
from playground.sessions.protocol.looking import Compare, Seen
from playground.sessions.web.messages import Delta, Error, Gone, Running, ToPage
from playground.sessions.web.render import render_delta

A = TypeVar("A")

INTERVAL = 0.11
SHARE = 4.0
LONGEST = 2.0
HURRY = 0.08

log = logging.getLogger(__name__)


class Watched(Protocol):
    """What is published: a live session."""

    @property
    def id(self) -> int: ...

    @property
    def shown(self) -> int:
        """The position that those who follow are shown."""

    @property
    def running(self) -> Running | None: ...

    async def ready(self) -> None: ...

    async def ask(self, query: Query[A]) -> A: ...


@dataclass(eq=False)
class Viewer:
    """One open page. `look.at` None follows the head.

    `seen` is the position and the look that its page shows, `heard` the head and what drives it, as it was told last.
    """

    send: Callable[[ToPage], None]
    may_edit: bool
    look: Look = field(default_factory=Look)
    seen: Seen | None = None
    heard: tuple[int, Running | None] | None = None
    ready: bool = False

    def target(self, head: int) -> Seen:
        at = self.look.at
        return Seen(head if at is None else min(at, head), self.look)


class Publisher:
    """The viewers of one session and the task that keeps them up to date."""

    def __init__(self, session: Watched) -> None:
        self.viewers: set[Viewer] = set()
        self._session = session
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

    def send_all(self, message: ToPage) -> None:
        """Send every viewer a message that is no delta."""
        for viewer in self.viewers:
            viewer.send(message)

    def gone(self) -> None:
        self.send_all(Gone())
        self.viewers.clear()
        self._wake.set()

    async def _work(self) -> None:
        while self.viewers:
            await self._wake.wait()
            if self._session.running:
                await asyncio.sleep(self._last + self._interval() - time.monotonic())
            self._wake.clear()
            started = time.monotonic()
            try:
                await self._session.ready()  # to open the engine is no part of what a delta costs
                started = time.monotonic()
                await self.publish()
            except SessionGone:
                self.gone()
            except Exception as error:
                if not isinstance(error, SessionError):
                    log.exception("publishing session %s", self._session.id)
                self.send_all(Error.of(error))
                await asyncio.sleep(INTERVAL)
            self._last = time.monotonic()
            self._cost = self._last - started

    async def publish(self) -> None:
        """Bring every viewer to where it stands."""
        head, running = self._session.shown, self._session.running
        groups: dict[tuple[Seen | None, Seen], list[Viewer]] = defaultdict(list)
        for viewer in self.viewers:
            if not viewer.ready:
                continue
            target = viewer.target(head)
            if viewer.seen != target:
                groups[viewer.seen, target].append(viewer)
            elif viewer.heard != (head, running):
                self._send([viewer], _delta(viewer.seen, target, head, running, "", []))
        for (seen, target), viewers in groups.items():
            query = Compare(at=target.position, look=target.look, before=seen)
            try:
                changes = await self._session.ask(query)
            except SessionGone:
                raise
            except SessionError as error:
                for viewer in viewers:
                    viewer.seen = target
                    viewer.send(Error.of(error))
                continue
            html = render_delta(changes.panels)
            self._send(viewers, _delta(seen, target, head, running, html, changes.moved), target)
            await asyncio.sleep(0)

    def _send(self, viewers: list[Viewer], delta: Delta, target: Seen | None = None) -> None:
        for viewer in viewers:
            viewer.seen = target or viewer.seen
            viewer.heard = (delta.head, delta.running)
            viewer.send(delta)


def _delta(
    seen: Seen | None, target: Seen, head: int, running: Running | None, html: str, moved: list[str]
) -> Delta:
    return Delta(
        seq=target.position,
        since=seen.position if seen else None,
        head=head,
        following=target.look.at is None,
        running=running,
        html=html,
        moved=moved,
    )
