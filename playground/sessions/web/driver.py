"""Driver: a loop that moves a session's head: play (paced, watched) or run (as fast as possible, watched or not).

Each session has at most one, for any number of viewers and processes: the driver holds the session's lease in the database.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Protocol

from django.conf import settings
from msgspec import Struct, ValidationError, convert, to_builtins

from playground.presenters.words import gettext_noop, message
from playground.sessions.database.log import pack
from playground.sessions.protocol.base import Data
from playground.sessions.protocol.errors import LimitReached, SessionError, Unavailable
from playground.sessions.protocol.moving import GoLive, Movement, OutsideCall, QueueProgress, Run, Step
from playground.sessions.protocol.opening import RowKind
from playground.sessions.protocol.until import Until, to_log
from playground.sessions.web import outside
from playground.sessions.web.changes import Changes
from playground.sessions.web.lease import Lease, LeaseLost, term
from playground.sessions.web.messages import Running, why_ended
from scheduler_core.world.simulation import Grain

RUN_SLICE = 0.1
PLAY_TICK = 0.05
# Seconds between retries while the database is unavailable: the first, and the longest.
AWAY = 0.25
LONGEST_AWAY = 2.0


class Play(Struct, frozen=True, tag_field="kind", tag="play"):
    """Steps of a grain, at `rate` steps a second."""

    grain: Grain
    rate: float

    def status(self, speed: float, done: int, waiting: int) -> Running:
        """Return the status, given the speed in pods decided a second, the pods decided, and the pods waiting."""
        return Running("play", self.grain, self.rate, done, done + waiting, _seconds(waiting, speed), "")


class RunTo(Struct, frozen=True, tag_field="kind", tag="run"):
    """A run to a condition, or to the end."""

    until: Until | None = None

    def status(self, speed: float, done: int, waiting: int) -> Running:
        """Return the status, with the arguments of Play.status."""
        left = None if self.until else _seconds(waiting, speed)
        until = self.until.said() if self.until else ""
        return Running("run", "", round(speed, 1), done, done + waiting, left, until)


class Live(Struct, frozen=True, tag_field="kind", tag="live"):
    """Steps that are due by the wall clock."""

    def status(self, speed: float, done: int, waiting: int) -> Running:
        """Return the status, with the arguments of Play.status."""
        return Running("run", "", round(speed, 1), done, done + waiting, None, message(_LIVE))


_LIVE = gettext_noop("the session no longer follows real time, because it is paused")
LIVE_TICK = 0.05
Drive = Play | RunTo | Live


def _seconds(waiting: int, speed: float) -> float | None:
    return round(waiting / speed, 1) if speed > 0 else None


def read_drive(data: Data | None) -> Drive | None:
    """Return the drive that a lease records; None if the data is not a drive that can be continued."""
    try:
        found: Drive = convert(data, Drive)
    except ValidationError:
        return None
    return found


class Audience(Protocol):
    """The viewers of a drive, which the drive notifies."""

    @property
    def watched(self) -> bool: ...

    @property
    def turn(self) -> AbstractAsyncContextManager[None]:
        """The turn that a slice waits for before it works."""

    def due(self) -> bool:
        """Return whether a viewer is due to see the position where the present slice ends."""

    def goes_on(self) -> None:
        """Note that the drive continues, and notify the other processes."""

    async def ended(self, say: Callable[[], str], moved: Movement) -> None:
        """Handle the end of a run that was not stopped; `say` returns the reason in the language active at the call."""

    def failed(self, error: BaseException) -> None: ...

    def waits(self, error: Unavailable) -> None:
        """Note that the drive waits until the database responds."""

    def resumes(self) -> None:
        """Note that the drive continues, because the database responds again."""

    def ends(self) -> None:
        """Note that the head does not move any more."""

    def over(self) -> None:
        """Note that another drive may start."""


class Driver:
    """One drive, from its start to its end."""

    def __init__(self, drive: Drive, changes: Changes, lease: Lease, audience: Audience) -> None:
        self.drive = drive
        self.last_watched = time.monotonic()
        self.ending = False
        self.caught_up = asyncio.Event()  # for a live session: it has reached the wall-clock time of the start
        self._changes, self._lease, self._audience = changes, lease, audience
        self._steps = 0
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._entry = -1
        self._waits = 0  # consecutive retries while the database is unavailable
        self._started = time.monotonic()
        self._first: QueueProgress | None = None
        self._progress = QueueProgress(0, 0)

    async def start(self) -> None:
        """Acquire the lease and begin. Raise Conflict while another process drives the session."""
        await self._lease.take(to_builtins(self.drive))
        self._task = asyncio.create_task(self._work())

    async def stop(self) -> None:
        """Stop after the present slice and wait until that is logged."""
        self._stop.set()
        self._changes.engine.interrupt()
        # A drive that stops itself must not wait for its own end.
        if self._task is not asyncio.current_task():
            await self.finished()

    async def finished(self) -> None:
        """Wait until the drive is over."""
        if self._task is not None:
            await asyncio.wait({self._task})

    def status(self) -> Running:
        """Return the number of pods decided since the start, the pods waiting, and the seconds left."""
        done = self._progress.decided - (self._first.decided if self._first else 0)
        speed = done / max(time.monotonic() - self._started, 1e-3)
        return self.drive.status(speed, done, self._progress.waiting)

    async def _work(self) -> None:
        due = time.monotonic()
        try:
            while not self._stop.is_set() and self._is_watched():
                try:
                    if isinstance(self.drive, Play):
                        due = await self._pace(self.drive, due)
                    if isinstance(self.drive, Live) and self.caught_up.is_set():
                        await self._stops_within(LIVE_TICK)
                        await self._renew()
                    if self._stop.is_set() or await self._changes.retry_on_conflict(self._slice):
                        break
                    self.caught_up.set()
                    await self._renew()
                except Unavailable as error:
                    await self._wait(error)
                else:
                    if self._waits:
                        self._waits = 0
                        self._audience.resumes()
        except LeaseLost:
            pass  # as if a viewer here had paused
        except (SessionError, OSError) as error:
            self._audience.failed(error)
        except Exception:
            self._changes.engine.mark_stale()
            raise
        finally:
            self.ending = True
            self.caught_up.set()
            self._audience.ends()
            await self._lease.release()
            self._audience.over()

    async def _wait(self, error: Unavailable) -> None:
        """Wait before the next try. An unwritten slice is not shown: the next slice begins where the log ends."""
        if not self._waits:
            self._audience.waits(error)
        self._waits += 1
        await self._stops_within(min(AWAY * self._waits, LONGEST_AWAY))

    async def _stops_within(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stop.wait()

    async def _renew(self) -> None:
        if await self._lease.renew():
            self._audience.goes_on()

    async def _pace(self, play: Play, due: float) -> float:
        """Wait for the next step, and renew the lease meanwhile; a step late by more than a second resets the schedule."""
        if due - time.monotonic() < -1:
            due = time.monotonic()
        while (wait := due - time.monotonic()) > 0 and not self._stop.is_set():
            await self._stops_within(min(wait, term().renew))
            await self._renew()
        return due + self._steps_at_once(play) / play.rate

    def _steps_at_once(self, play: Play) -> int:
        return max(1, int(play.rate * PLAY_TICK))

    async def _slice(self) -> bool:
        """Execute and log one slice; return True if nothing is left to do, or if the drive was stopped while it waited for its turn."""
        await self._changes.engine.ready()  # opening takes long, and must not use up a turn
        async with self._changes.exclusive(), self._audience.turn:
            if self._stop.is_set():
                return True
            keep = self._audience.due() or isinstance(self.drive, Live)
            moved = await self._changes.engine.call(self._request(keep))
            self._progress = moved.after
            self._first = self._first or moved.before
            if moved.to > self._changes.log.head:
                await self._write(moved.to, keep or bool(moved.reason), ends=bool(moved.reason) and not moved.awaited)
            self._steps += moved.to - moved.at
        if moved.awaited:
            await self._ask(moved.awaited)
            return False
        if moved.reason and isinstance(self.drive, RunTo):
            await self._audience.ended(partial(why_ended, moved, self.drive.until, self._steps), moved)
        return bool(moved.reason)

    async def _ask(self, calls: list[OutsideCall]) -> None:
        """Call real extenders; a pause does not wait for them, and the next drive calls them again."""
        asking = asyncio.ensure_future(outside.ask_all(calls))
        stopping = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({asking, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                await self._changes.answer(asking.result())
        finally:
            stopping.cancel()
            asking.cancel()

    def _request(self, keep: bool) -> Step | Run | GoLive:
        if isinstance(self.drive, Live):
            return GoLive(wall=time.time_ns())
        if isinstance(self.drive, Play):
            return Step(grain=self.drive.grain, times=self._steps_at_once(self.drive), keep=keep)
        most = settings.MAX_RUN_STEPS - self._steps
        return Run(seconds=RUN_SLICE, keep=keep, until=self.drive.until, most=most)

    async def _write(self, to: int, show: bool, ends: bool) -> None:
        """Extend the drive's own entry, or write a new one if another entry came in between.

        The last write releases the lease, too: if this process dies then, no other one continues the drive.
        """
        changes, last_of = self._changes, self._lease.holder if ends else ""
        if changes.log.seq == self._entry:
            await changes.extend(to, show, last_of)
            return
        try:
            changes.log.require_room()
        except LimitReached:
            changes.engine.mark_stale()
            raise
        kind: RowKind = "run" if isinstance(self.drive, RunTo) else "play"
        await changes.write(kind, to, pack(self._for_log()), show=show, last_of=last_of)
        self._entry = changes.log.seq

    def _for_log(self) -> Data:
        """Return the request for the steps, as the log records it."""
        if isinstance(self.drive, Play):
            return {"grain": self.drive.grain, "rate": self.drive.rate}
        if isinstance(self.drive, Live):
            return {"live": True}
        return {"until": to_log(self.drive.until)} if self.drive.until else {}

    def _is_watched(self) -> bool:
        """Return whether to continue: a play continues for a while without viewers, a run to its end."""
        now = time.monotonic()
        if self._audience.watched or isinstance(self.drive, RunTo):
            self.last_watched = now
        return now - self.last_watched < settings.PLAY_UNWATCHED_SECONDS
