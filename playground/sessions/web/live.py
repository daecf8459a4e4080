"""LiveSession: one session in this process: its log, its engine, what changes it, who watches it, what drives it."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import TypeVar

from django.conf import settings
from django.utils.translation import gettext as _
from msgspec.structs import replace

from playground.models import Session
from playground.presenters.look import Look
from playground.presenters.panel import ShownPanels
from playground.sessions.database import checkpoints, log, markers
from playground.sessions.protocol.base import Message, Query, Request
from playground.sessions.protocol.errors import Conflict, SessionError, Unavailable
from playground.sessions.protocol.looking import View
from playground.sessions.protocol.moving import Movement, RequireFuture
from playground.sessions.protocol.until import Until
from playground.sessions.web.changes import Changes
from playground.sessions.web.driver import Drive, Driver, Live, Play, RunTo, read_drive
from playground.sessions.web.engine_connection import PATIENCE, CheckpointSaver, EngineConnection
from playground.sessions.web.engines import Worker
from playground.sessions.web.lease import Lease, RemoteDrive
from playground.sessions.web.messages import Ended, Error, MarkersChanged, Notice, Running
from playground.sessions.web.outside.asking import Watching
from playground.sessions.web.publisher import Publisher
from playground.sessions.web.relay import Hint
from playground.sessions.web.services import Services, SessionLog
from scheduler_core.world.simulation import Grain

A = TypeVar("A")

# Other processes hear at least this often, in seconds, how far a run is that nobody watches here.
HINT_INTERVAL = 0.25
# Seconds that a request to a live session that slept waits for the present.
CATCH_UP = 5.0


class LiveSession:
    """Lives on the sessions' loop."""

    def __init__(self, session_id: int, services: Services) -> None:
        self.id, self.services = session_id, services
        self.log = SessionLog(session_id, services)
        self.engine = EngineConnection(session_id, self.log, services, lambda: self.saver.moved())
        self.saver = CheckpointSaver(self.engine, self.log, services)
        self.publisher = Publisher(self)
        self.watching = Watching(self.engine)
        self.changes = Changes(self.log, self.engine, self.publisher, self)
        self.elsewhere = RemoteDrive(self.catch_up, self.take_over, self._ask_to_pause, Lease(session_id, services))
        self.driver: Driver | None = None
        self._driving = asyncio.Lock()
        self._last_end: tuple[int, Callable[[], str]] = (-1, str)
        self._hinted = 0.0
        self._owed = 0

    # Its state

    @property
    def head(self) -> int:
        return self.log.head

    @property
    def shown(self) -> int:
        """The position that following viewers see: the head, or during a run one slightly before it."""
        return self.engine.shown

    @property
    def running(self) -> Running | None:
        """The drive of the session now, for viewers."""
        driver = self.driver
        return driver.status() if driver and not driver.ending else self.elsewhere.running

    @property
    def said_at_head(self) -> str:
        """The reason why the last run ended, if it ended where the head is now; otherwise ""."""
        return self._last_end[1]() if self._last_end[0] == self.head else ""

    @property
    def worker(self) -> Worker | None:
        """The worker that has the session's engine."""
        return self.engine.worker

    def idle_for(self) -> float:
        """Seconds since somebody asked for something; none while it is driven."""
        busy = self.driver is not None or self.changes.going_on or self.engine.busy
        return 0.0 if busy else time.monotonic() - self.engine.used

    # What is asked of it

    def notice(self, head: int) -> None:
        """The database says where the head is: whoever looks from now on is shown no less, whatever hints are lost or on their way."""
        self._owed = max(self._owed, head)

    @property
    def is_behind(self) -> bool:
        """True if the position shown here is before one that a present viewer may have seen elsewhere."""
        return self.shown < self._owed

    async def ready(self, wait: float | None = None) -> None:
        """Make sure that the engine is open and nothing is owed; what opens for longer than `wait` seconds raises Opening."""
        await self.engine.ready(wait)
        if self.is_behind:
            owed = self._owed
            await self.changes.reach(owed)
            if self._owed == owed:
                self._owed = self.head  # the log was read since, and is right

    async def ask(self, query: Query[A]) -> A:
        """Ask something that changes nothing, at a position up to the head. What is shown already is asked of the engine alone: a delta
        that has its turn waits for no change, which may wait for that turn.
        """
        if query.at is None or query.at > self.shown:
            await self.ready(PATIENCE)
        return await self.engine.ask(query)

    async def ask_at_head(self, query: Query[A]) -> A:
        """Ask about the newest position that is in the log, whatever is shown so far."""
        await self.ready(PATIENCE)
        return await self.engine.ask(replace(query, at=self.head))

    async def check(self, request: Request[A]) -> A:
        """Ask the engine something that is about no position."""
        return await self.engine.call(request)

    def notify(self, notice: Message) -> None:
        """Say something that needs no answer."""
        self.engine.notify(notice)

    async def current_head(self) -> int:
        await self.ready(PATIENCE)
        return self.head

    async def view(self, look: Look, panels: list[str] | None) -> tuple[ShownPanels, int]:
        """Panels at the look's position, and the head as it is shown. The whole page does not wait long for an opening."""
        wait = settings.OPEN_WAIT if panels is None else PATIENCE
        await self.ready(wait)
        return await self.engine.ask(View(at=look.at, look=look, panels=panels), wait), self.shown

    # What changes it

    async def fork(
        self, at: int | None, name: str, creator: str, branch: bool = False, traced: bool = True
    ) -> tuple[Session, checkpoints.CopiedCheckpoints]:
        """A new session with the same past, in the database; what it has of this one's checkpoints."""
        await self.ready()
        position = self.head if at is None else max(0, min(at, self.head))
        session = await self.services.loop.db(log.copy, self.id, position, name, creator, branch, traced)
        return session, await self.services.loop.db(checkpoints.copy, self.id, session.pk, position)

    async def inherit(self, origin: "LiveSession", session: Session, copied: checkpoints.CopiedCheckpoints) -> None:
        """Be the fork of another session: a copy of its engine, and the checkpoints that were copied."""
        with contextlib.suppress(SessionError):
            await self.engine.inherit(origin.engine, session, copied)

    # What drives it

    async def play(self, grain: Grain, rate: float) -> None:
        """Step by itself at a pace, until paused or nobody watches."""
        await self._drive(Play(grain, rate))

    async def run(self, until: Until | None = None) -> None:
        """Run to the end, or to a condition, as fast as the engine can, watched or not."""
        if until is not None:
            await self.pause()
            await self.engine.call(RequireFuture(until=until))
        await self._drive(RunTo(until))

    async def go_live(self) -> None:
        """Follow the clock on the wall, where nothing drives the session yet; a session that slept is up to date then."""
        driver = self.driver
        if driver is not None:
            driver.last_watched = time.monotonic()
        elif self.elsewhere.running is None:
            await self._drive(Live())
            if (begun := self.driver) is not None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(CATCH_UP):
                        await begun.caught_up.wait()

    async def _drive(self, drive: Drive) -> None:
        async with self._driving:
            await self.pause()
            await self.ready()
            self.log.require_room()
            try:
                await self._start(drive)
            except Conflict:  # by a process that was not heard of: it may have died
                await self.elsewhere.pause()
                await self._start(drive)

    async def _start(self, drive: Drive) -> None:
        driver = Driver(drive, self.changes, Lease(self.id, self.services), self)
        await driver.start()
        self.driver = driver
        self._hint_moved()

    async def look(self) -> None:
        """Somebody begins to watch: another process may drive the session, or have died while it did."""
        driver = self.driver
        await self.level((await self.services.loop.db(log.standings, [self.id])).get(self.id), driver)

    async def take_over(self) -> None:
        """Go on with what another process drove that is gone, where somebody watches here; the lease says who does, of several."""
        async with self._driving:
            if not self.watched or self.driver is not None:
                return
            standing = (await self.services.loop.db(log.standings, [self.id])).get(self.id)
            if standing is None or not standing.orphaned:
                return
            drive = await self._read_drive()
            await self.ready()
            if drive is None:
                await self.services.loop.db(log.release, self.id, standing.driver)
                return
            with contextlib.suppress(Conflict):  # yet another process goes on with it
                await self._start(drive)
                self.publisher.say_all(
                    lambda: Notice(_("The process that played this session stopped. The session continues here."))
                )

    async def pause(self) -> None:
        """Stop what drives the session, here or in another process."""
        if self.driver is not None:
            await self.driver.stop()
        elif self.elsewhere.running is not None:
            await self.elsewhere.pause()

    # What its driver and its changes say (driver.Audience, changes.Onlooker)

    @property
    def watched(self) -> bool:
        return bool(self.publisher.viewers)

    @property
    def turn(self) -> AbstractAsyncContextManager[None]:
        """A play waits in a row with others; who steps, commands or runs waits for none of them."""
        driver = self.driver
        return self.services.turns.taken() if driver and isinstance(driver.drive, Play) else nullcontext()

    def due(self) -> bool:
        return self.publisher.due()

    def goes_on(self) -> None:
        self._hint_moved()

    async def ended(self, say: Callable[[], str], moved: Movement) -> None:
        """A run came to its end by itself: notify whoever watches."""
        if moved.hit is not None:
            with contextlib.suppress(Unavailable):  # a run must not begin again for the sake of its count
                await self.services.loop.db(markers.hit, self.id, moved.hit.id)
        self._last_end = (self.head, say)
        reason = moved.reason
        if reason and say():
            self.publisher.say_all(lambda: Ended(reason, say()))

    def failed(self, error: BaseException) -> None:
        self.publisher.say_all(partial(Error.of, error))

    def waits(self, error: Unavailable) -> None:
        self.publisher.say_all(partial(Error.of, error))

    def resumes(self) -> None:
        self.publisher.say_all(lambda: Notice(_("The database responds again, and the session continues.")))
        self._hint_moved()

    def ends(self) -> None:
        self.engine.shown = self.head
        self.publisher.wake()

    def over(self) -> None:
        self.driver = None
        self._hint_moved()

    def moved(self, show: bool) -> None:
        self.saver.moved()
        self.watching.wake()
        if show or time.monotonic() - self._hinted >= HINT_INTERVAL:
            self._hint_moved()

    def taken_back(self) -> None:
        self.publisher.wake()

    def _hint_moved(self) -> None:
        self._hinted = time.monotonic()
        self.services.relay.notify(self.id, "moved", self.driver.status() if self.driver else None)

    # What other processes say, and what is said to them

    async def hear(self, hint: Hint) -> None:
        """Another process says something about this session."""
        match hint.what:
            case "gone":
                await self.close_deleted()
            case "pause":
                if self.driver is not None:  # it is asked of whoever drives, and passed on by nobody
                    await self.driver.stop()
            case "watched":
                if self.driver is not None:
                    self.driver.last_watched = time.monotonic()
            case "markers":
                self.publisher.send_all(MarkersChanged())
            case "moved":
                self.elsewhere.drives(hint.running)
                if self.elsewhere.running and self.watched:
                    self.services.relay.notify(self.id, "watched")
                await self.catch_up()

    async def level(self, standing: log.SessionStatus | None, driver: Driver | None) -> None:
        """Apply the hints' contents from the database; `driver` is the session's driver here at the time of the query."""
        if standing is None:
            await self.close_deleted()
            return
        if driver is not None and driver is self.driver and standing.driver != self.services.name:
            await driver.stop()  # another process took the lease away
        if self.driver is None:
            before = self.elsewhere.running
            self.elsewhere.drives(await self._drive_elsewhere(standing))
            if standing.head > self.head:
                await self.catch_up()
            elif self.elsewhere.running != before:
                self.publisher.wake()
            if standing.orphaned:
                await self.take_over()
        self._hint_moved()

    async def _drive_elsewhere(self, standing: log.SessionStatus) -> Running | None:
        """Return the drive of another process, as that process or its lease reports it."""
        if not standing.driven or standing.driver == self.services.name:
            return None
        if self.elsewhere.running is not None:
            return self.elsewhere.running
        return (await self._read_drive() or RunTo()).status(0.0, 0, 0)

    async def _read_drive(self) -> Drive | None:
        return read_drive(await self.services.loop.db(log.drive, self.id))

    async def catch_up(self) -> None:
        """Another process wrote to the log: follow it."""
        if self.engine.closed:
            return
        if self.engine.is_open:
            await self.changes.follow()
        elif self.engine.is_opening:  # which may have read the log before that
            self.engine.mark_stale()
        self.watching.wake()
        self.publisher.wake()

    def markers_changed(self) -> None:
        """Breakpoints or bookmarks changed here: pages draw their marks anew."""
        self.publisher.send_all(MarkersChanged())
        self.services.relay.notify(self.id, "markers")

    def _ask_to_pause(self) -> None:
        self.services.relay.notify(self.id, "pause")

    # Its end

    async def release_when_idle(self, after: float) -> bool:
        """Leave the worker's memory where nobody has asked for anything for so many seconds; whether it is gone from this process.

        Watched, it leaves only where it comes back in no time, and stays known here.
        """
        covered = not self.engine.is_open or await self.saver.save()
        if self.idle_for() <= after or (self.watched and not covered):
            return False
        self.engine.release()
        return not self.watched

    async def close(self) -> None:
        """Give the engine's memory back. The session opens again when asked for, from the checkpoints that are saved now."""
        with contextlib.suppress(SessionError):
            await self.saver.save()
        self.engine.release()
        await self.services.relay.leave(self.id)

    async def delete(self) -> None:
        """It was deleted here: notify the other processes."""
        self.services.relay.notify(self.id, "gone")
        await self.close_deleted()

    async def close_deleted(self) -> None:
        """The session was deleted: stop, notify the viewers, forget."""
        self.engine.closed = True
        if self.driver is not None:
            await self.driver.stop()
        self.publisher.gone()
        self.services.jobs.drop(self.id)
        self.engine.release()
        await self.services.relay.leave(self.id)
