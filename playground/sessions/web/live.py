"""LiveSession: one session in this process: its log, engine, changes, viewers, and driver."""

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

# The maximum interval, in seconds, of hints to other processes about a run without viewers here.
HINT_INTERVAL = 0.25
# Seconds that a request waits until an idle live session has caught up with the wall clock.
CATCH_UP = 5.0


class LiveSession:
    """A session in this process, on the sessions' loop."""

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

    # State

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
        """The worker with the session's engine, or None."""
        return self.engine.worker

    def idle_for(self) -> float:
        """Return the seconds since the last request; 0 while the session is driven or changed."""
        busy = self.driver is not None or self.changes.going_on or self.engine.busy
        return 0.0 if busy else time.monotonic() - self.engine.used

    # Queries

    def notice(self, head: int) -> None:
        """Note a head that the database reports: from now on viewers see at least this position, even if hints are lost or late."""
        self._owed = max(self._owed, head)

    @property
    def is_behind(self) -> bool:
        """True if the position shown here is before one that a present viewer may have seen elsewhere."""
        return self.shown < self._owed

    async def ready(self, wait: float | None = None) -> None:
        """Wait until the engine is open and has reached each noted head; raise Opening if it opens for longer than `wait` seconds."""
        await self.engine.ready(wait)
        if self.is_behind:
            owed = self._owed
            await self.changes.reach(owed)
            if self._owed == owed:
                self._owed = self.head  # the log was read since, and is authoritative

    async def ask(self, query: Query[A]) -> A:
        """Execute a query at a position up to the head.

        A query about a shown position does not wait for changes: the delta that holds a turn would deadlock with a change that waits for
        it.
        """
        if query.at is None or query.at > self.shown:
            await self.ready(PATIENCE)
        return await self.engine.ask(query)

    async def ask_at_head(self, query: Query[A]) -> A:
        """Execute a query at the newest position in the log, even if it is not shown yet."""
        await self.ready(PATIENCE)
        return await self.engine.ask(replace(query, at=self.head))

    async def check(self, request: Request[A]) -> A:
        """Execute a request to the engine that does not concern a position."""
        return await self.engine.call(request)

    def notify(self, notice: Message) -> None:
        """Send the engine a message that needs no answer."""
        self.engine.notify(notice)

    async def current_head(self) -> int:
        await self.ready(PATIENCE)
        return self.head

    async def view(self, look: Look, panels: list[str] | None) -> tuple[ShownPanels, int]:
        """Return the panels at the look's position, and the shown head. For the whole page wait only OPEN_WAIT for an opening."""
        wait = settings.OPEN_WAIT if panels is None else PATIENCE
        await self.ready(wait)
        return await self.engine.ask(View(at=look.at, look=look, panels=panels), wait), self.shown

    # Forks

    async def fork(
        self, at: int | None, name: str, creator: str, branch: bool = False, traced: bool = True
    ) -> tuple[Session, checkpoints.CopiedCheckpoints]:
        """Create a session with the same past in the database; return it, and the copied checkpoints."""
        await self.ready()
        position = self.head if at is None else max(0, min(at, self.head))
        session = await self.services.loop.db(log.copy, self.id, position, name, creator, branch, traced)
        return session, await self.services.loop.db(checkpoints.copy, self.id, session.pk, position)

    async def inherit(self, origin: "LiveSession", session: Session, copied: checkpoints.CopiedCheckpoints) -> None:
        """Fork the engine of another session, with the checkpoints that were copied."""
        with contextlib.suppress(SessionError):
            await self.engine.inherit(origin.engine, session, copied)

    # Drives

    async def play(self, grain: Grain, rate: float) -> None:
        """Step at a pace, until paused or without viewers."""
        await self._drive(Play(grain, rate))

    async def run(self, until: Until | None = None) -> None:
        """Run to the end, or to a condition, as fast as the engine can, watched or not."""
        if until is not None:
            await self.pause()
            await self.engine.call(RequireFuture(until=until))
        await self._drive(RunTo(until))

    async def go_live(self) -> None:
        """Follow the wall clock unless another drive runs; wait until the session has caught up, at most CATCH_UP seconds."""
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
            except Conflict:  # with a process whose hints were missed: it may have died
                await self.elsewhere.pause()
                await self._start(drive)

    async def _start(self, drive: Drive) -> None:
        driver = Driver(drive, self.changes, Lease(self.id, self.services), self)
        await driver.start()
        self.driver = driver
        self._hint_moved()

    async def look(self) -> None:
        """Check the status in the database for a new viewer: another process may drive the session, or have died while it did."""
        driver = self.driver
        await self.level((await self.services.loop.db(log.standings, [self.id])).get(self.id), driver)

    async def take_over(self) -> None:
        """Continue the drive of a process that died, if the session has viewers here; the lease decides between several processes."""
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
            with contextlib.suppress(Conflict):  # another process continues the drive
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

    # Callbacks of the driver and of changes (driver.Audience, changes.Onlooker)

    @property
    def watched(self) -> bool:
        return bool(self.publisher.viewers)

    @property
    def turn(self) -> AbstractAsyncContextManager[None]:
        """A turn for a play, which waits for other plays; steps, commands, and runs wait for no turn."""
        driver = self.driver
        return self.services.turns.taken() if driver and isinstance(driver.drive, Play) else nullcontext()

    def due(self) -> bool:
        return self.publisher.due()

    def goes_on(self) -> None:
        self._hint_moved()

    async def ended(self, say: Callable[[], str], moved: Movement) -> None:
        """Notify the viewers of the end of a run that was not stopped."""
        if moved.hit is not None:
            with contextlib.suppress(Unavailable):  # the count is not worth a repetition of the run
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

    # Hints from and to other processes

    async def hear(self, hint: Hint) -> None:
        """Handle a hint of another process about this session."""
        match hint.what:
            case "gone":
                await self.close_deleted()
            case "pause":
                if self.driver is not None:  # only the driving process reacts, and no process forwards the hint
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
            await driver.stop()  # another process revoked the lease
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
        """Follow the log after another process wrote to it."""
        if self.engine.closed:
            return
        if self.engine.is_open:
            await self.changes.follow()
        elif self.engine.is_opening:  # the opening may have read the log before that write
            self.engine.mark_stale()
        self.watching.wake()
        self.publisher.wake()

    def markers_changed(self) -> None:
        """Make pages redraw their marks, because breakpoints or bookmarks changed here."""
        self.publisher.send_all(MarkersChanged())
        self.services.relay.notify(self.id, "markers")

    def _ask_to_pause(self) -> None:
        self.services.relay.notify(self.id, "pause")

    # Release and deletion

    async def release_when_idle(self, after: float) -> bool:
        """Release the worker's memory after `after` seconds without a request; return whether to forget the session in this process.

        A session with viewers is released only if it would reopen almost without a replay, and is not forgotten.
        """
        covered = not self.engine.is_open or await self.saver.save()
        if self.idle_for() <= after or (self.watched and not covered):
            return False
        self.engine.release()
        return not self.watched

    async def close(self) -> None:
        """Release the engine's memory, after a save of checkpoints. The session opens again on demand."""
        with contextlib.suppress(SessionError):
            await self.saver.save()
        self.engine.release()
        await self.services.relay.leave(self.id)

    async def delete(self) -> None:
        """Close the session that was deleted here, and notify the other processes."""
        self.services.relay.notify(self.id, "gone")
        await self.close_deleted()

    async def close_deleted(self) -> None:
        """Stop the drive, notify the viewers, and release the engine of a deleted session."""
        self.engine.closed = True
        if self.driver is not None:
            await self.driver.stop()
        self.publisher.gone()
        self.services.jobs.drop(self.id)
        self.engine.release()
        await self.services.relay.leave(self.id)
