"""LiveSession: one session in this process: its engine, what changes it, who watches it, what drives it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any

from django.conf import settings

from playground.models import LogKind, Session
from playground.presenters.look import Look
from playground.sessions.database import checkpoints, log
from playground.sessions.protocol.errors import Conflict, SessionError
from playground.sessions.web.changes import Changes
from playground.sessions.web.driver import Driver
from playground.sessions.web.elsewhere import Elsewhere
from playground.sessions.web.engine_connection import PATIENCE
from playground.sessions.worker.conditions.until import Until

if TYPE_CHECKING:
    from playground.sessions.web.runtime import Runtime


class LiveSession(Changes):
    """Lives on the runtime's loop."""

    def __init__(self, session_id: int, runtime: Runtime) -> None:
        super().__init__(session_id, runtime)
        self.ended = (-1, "")
        self.elsewhere = Elsewhere(self)
        self._driving = asyncio.Lock()

    def idle_for(self) -> float:
        """Seconds since somebody asked for something; none while it is driven."""
        busy = self.driver is not None or self._lock.locked() or self.busy
        return 0.0 if busy else time.monotonic() - self.used

    async def release_when_idle(self, after: float) -> bool:
        """Leave the worker's memory where nobody has asked for anything for so many seconds; whether it is gone from this process.

        Watched, it leaves only where it comes back in no time, and stays known here.
        """
        covered = not self.is_open or await self.saver.save()
        if self.idle_for() <= after or (self.publisher.viewers and not covered):
            return False
        self.leave_worker()
        return not self.publisher.viewers

    async def close(self) -> None:
        """Give the engine's memory back. The session opens again when asked for, from the checkpoints that are saved now."""
        with contextlib.suppress(SessionError):
            await self.saver.save()
        self.leave_worker()
        await self.runtime.relay.leave(self.id)

    async def play(self, grain: str, rate: float) -> None:
        """Step by itself at a pace, until paused or nobody watches."""
        await self._drive(Driver(self, LogKind.PLAY, grain, rate))

    async def run(self, until: Until | None = None) -> None:
        """Run to the end, or to a condition, as fast as the engine can, watched or not."""
        if until is not None:
            await self.pause()
            await self.call("require_future", {"until": until})
        await self._drive(Driver(self, LogKind.RUN, until=until))

    def end(self, reason: str, message: str) -> None:
        """A run came to its end by itself: tell whoever watches."""
        self.ended = (self.head, message)
        if message:
            self.publisher.tell({"type": "ended", "reason": reason, "message": message})

    @property
    def told_at_head(self) -> str:
        """Why the last run ended where the head is now."""
        return self.ended[1] if self.ended[0] == self.head else ""

    async def _drive(self, driver: Driver) -> None:
        async with self._driving:
            await self.pause()
            await self.ready()
            self.require_room()
            try:
                await driver.start()
            except Conflict:  # by a process that was not heard of: it may have died
                await self.elsewhere.pause()
                await driver.start()

    async def pause(self) -> None:
        """Stop what drives the session, here or in another process."""
        if self.driver is not None:
            await self.driver.stop()
        elif self.elsewhere.running is not None:
            await self.elsewhere.pause()

    def notice(self, head: int) -> None:
        """The database says where the head is: a hint may have been lost, or be on its way."""
        if head > self.head and self.driver is None and not self._lock.locked():
            self.mark_stale()

    @property
    def running(self) -> dict[str, Any] | None:
        """What drives the session now, for people to see."""
        return self.driver.status() if self.driver else self.elsewhere.running

    async def fork(self, at: int | None, name: str, creator: str, branch: bool = False) -> Session:
        """A new session with the same past; its engine shares this one's checkpoints."""
        await self.ready()
        position = self.head if at is None else max(0, min(at, self.head))
        session = await self.runtime.db(log.copy, self.id, position, name, creator, branch)
        copied = await self.runtime.db(checkpoints.copy, self.id, session.pk, position)
        twin = self.runtime.live(session.pk)
        with contextlib.suppress(SessionError):
            await twin.inherit(self, session, copied)
        return session

    # What other processes and views tell.

    async def current_head(self) -> int:
        await self.ready(PATIENCE)
        return self.head

    async def view(self, look: Look, panels: list[str] | None) -> dict[str, Any]:
        """Panels at the look's position, as plain data. The whole page says how far the opening is, rather than wait for it."""
        wait = settings.OPEN_WAIT if panels is None else PATIENCE
        result = await self.ask("view", at=look.at, patience=wait, look=look.to_query(), panels=panels)
        return {**result["panels"], "position": result["position"], "head": self.shown}

    async def cluster(self, at: int, first: int) -> tuple[bytes, int | None]:
        """Some objects at a position as YAML, and the number of the next one."""
        header, (text,) = await self.call("cluster", {"at": min(at, self.head), "first": first})
        return text, header["result"]["next"]

    async def catch_up(self) -> None:
        """Another process wrote to the log: follow it."""
        if self.is_open:
            async with self._lock:
                self.mark_stale()
                await self.ready()
        self.publisher.wake()

    def markers_changed(self, told: bool = False) -> None:
        """Breakpoints or bookmarks changed: pages draw their marks anew; `told`: another process said so."""
        self.publisher.tell({"type": "pins"})
        if not told:
            self.runtime.relay.tell(self.id, "pins")

    async def delete(self) -> None:
        """It was deleted here: tell the other processes."""
        self.runtime.relay.tell(self.id, "gone")
        await self.close_deleted()

    async def close_deleted(self) -> None:
        """The session was deleted: stop, tell the viewers, forget."""
        self.gone = True
        if self.driver is not None:
            await self.driver.stop()
        self.publisher.gone()
        self.mark_stale()
        await self.close()
        self.runtime.sessions.pop(self.id, None)
