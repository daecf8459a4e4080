"""Watches that clients hold on a session: what happened goes to each, as soon as it is in the log."""

import asyncio
from collections.abc import Callable

from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol.errors import LimitReached, SessionError
from playground.sessions.protocol.moving import BeginWatch, EndWatch, NextSeen, Watched
from playground.sessions.web.engine_connection import EngineConnection

MOST = 1000
PAUSE = 0.02  # seconds between two looks: what happens in between goes out together
Send = Callable[[bytes | None, int], None]


class Watching:
    """Lives on the sessions' loop. `Send` gets what a watch sees, and the newest resourceVersion; None: the watch ended."""

    def __init__(self, engine: EngineConnection) -> None:
        self._engine = engine
        self._watches: dict[int, Send] = {}
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()

    def __len__(self) -> int:
        return len(self._watches)

    async def begin(self, request: BeginWatch, send: Send) -> Watched:
        """Begin a watch. Raises LimitReached."""
        if len(self._watches) >= MOST:
            raise LimitReached(message(gettext_noop("A session takes at most %(most)s watches."), most=MOST))
        await self._engine.ready()
        begun = await self._engine.call(request)
        if begun.number:
            self._watches[begun.number] = send
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._work())
        return begun

    async def end(self, number: int) -> None:
        """A client went."""
        if self._watches.pop(number, None) is not None:
            await self._engine.call(EndWatch(number=number))

    def wake(self) -> None:
        """Something happened."""
        self._wake.set()

    async def _work(self) -> None:
        while self._watches:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._engine.ready()
                seen = await self._engine.call(NextSeen())
            except SessionError:
                self._end_all(list(self._watches))
                return
            self._end_all([number for number in self._watches if number not in seen.alive])
            parts = dict(seen.parts)
            for number, send in self._watches.items():
                send(parts.get(number, b""), seen.version)
            await asyncio.sleep(PAUSE)

    def _end_all(self, numbers: list[int]) -> None:
        for number in numbers:
            self._watches.pop(number)(None, 0)
