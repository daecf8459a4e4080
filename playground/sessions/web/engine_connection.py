"""EngineConnection: the worker with a session's engine, the opening of the engine from the log, and requests to it.

The database's log is authoritative. The engine may be ahead of it for a moment (by a transition that is not written yet); viewers never
see a position that is not in the log.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from typing import TypeVar

import msgspec
from django.conf import settings

from playground.models import Session
from playground.presenters.words import message
from playground.sessions.database import checkpoints, lessons
from playground.sessions.protocol.base import Message, Query, Request
from playground.sessions.protocol.errors import Conflict, EngineFailed, Opening, SessionError, SessionGone, Unavailable
from playground.sessions.protocol.opening import (
    AskProgress,
    Extend,
    ForgetSaved,
    Fork,
    Interrupt,
    Open,
    OpenedEngine,
    Save,
    SavedData,
)
from playground.sessions.web.engines import CRASHES, Crashes, Worker, WorkerDied
from playground.sessions.web.services import Services, SessionLog
from playground.storage.postgresql.outage import impatient
from scheduler_core import ENGINE_VERSION

A = TypeVar("A")

OPEN_TIMEOUT = 600.0
# Seconds that a request waits for its session to open, if the page does not retry.
PATIENCE = 30.0
# The time limit of a request in seconds, in the lane of small sessions and in that of large ones.
TIMEOUTS = {False: 20.0, True: 60.0}


class EngineConnection:
    """A session's connection to its engine, on the sessions' loop. `shown` is the position that following viewers see."""

    def __init__(self, session_id: int, log: SessionLog, services: Services, replayed: Callable[[], None]) -> None:
        self.id = session_id
        self.shown = 0
        self.used = time.monotonic()
        self.heavy = False
        self.worker: Worker | None = None
        self.restored = 0  # the position restored without a replay at the last opening
        self._log, self._services, self._replayed = log, services, replayed
        self._generation = -1
        # The number of calls to mark_stale, and that number when the reading of the known state began.
        self._marks = 0
        self._known_marks = -1
        self.openings = 0  # the number of openings begun
        self.closed = False  # the session was deleted, and is not opened any more
        self._asking = 0
        self.crashes = Crashes()
        self._opening: asyncio.Task[None] | None = None

    # Opening and release

    async def ready(self, wait: float | None = None) -> None:
        """Wait until the engine is at or after the end that the log has now; raise Opening after `wait` seconds.

        An opening begun before this call may have read the log too early, so another one follows it.
        """
        self.used = time.monotonic()
        if self.closed:
            raise SessionGone(message("This session was deleted."))
        marks, end = self._marks, None if wait is None else time.monotonic() + wait
        for _opening in ("begun before", "begun since"):
            if self._is_known and self._known_marks >= marks:
                return
            self.crashes.require_calm(reading=True)
            if self._opening is None or self._opening.done():
                self._opening = asyncio.create_task(self._open())
            opening = self._opening  # when it is done, another caller may have begun the next one
            done, _ = await asyncio.wait({opening}, timeout=None if end is None else end - time.monotonic())
            if not done:
                raise await self._progress()
            opening.result()

    @property
    def is_open(self) -> bool:
        """True if an engine is at the log's end."""
        return self._is_known and self._known_marks == self._marks

    @property
    def is_opening(self) -> bool:
        """True while the log is being read or replayed."""
        return self._opening is not None and not self._opening.done()

    @property
    def _is_known(self) -> bool:
        """True if the worker process that opened the engine is still alive."""
        worker = self.worker
        return worker is not None and worker.alive and worker.generation == self._generation

    @property
    def busy(self) -> bool:
        """True while the engine is being opened or queried."""
        return self._asking > 0 or self.is_opening

    def mark_stale(self) -> None:
        """Read the log again before the next use, because the engine may be ahead of the log or behind it.

        Mark an open engine only under the session's lock: a read must not occur while a change is in the engine but not in the log.
        """
        self._marks += 1

    async def _open(self) -> None:
        self.openings += 1
        marks = self._marks
        if self._is_known and not self._must_move():
            with contextlib.suppress(EngineFailed):
                await self._resume(marks)
                return
        await self._services.relay.join(self.id)  # before the log is read, so that no hint is missed in between
        session, rows = await self._log.read()
        saved = (
            await self._services.loop.db(checkpoints.read, self.id)
            if settings.CHECKPOINTS
            else checkpoints.SavedState()
        )
        self.heavy = self.heavy or session.log_bytes > settings.HEAVY_LOG_BYTES
        if self.worker is None or self._must_move():
            await self._services.room.make(self.heavy)
        if self.worker is not None and self._must_move():
            self._services.pool.release(self.id, self.worker)
            self.worker = None
        if self.worker is None:
            self.worker = self._services.pool.assign(self.id, self.heavy)
        worker = self.worker
        await worker.start()
        generation = worker.generation
        request = Open(
            seed=session.seed,
            story=session.story,
            rows=rows,
            head=session.head,
            archive=saved.archive,
            outcomes=saved.outcomes,
            outcomes_saved=saved.outcomes_saved,
            lesson=await self._services.loop.db(lessons.document, session.story),
        )
        opened = await self._call(worker, request, OPEN_TIMEOUT)
        await self._note_opening(session, opened)
        self._generation = generation
        self._follow(session, marks)

    async def _note_opening(self, session: Session, opened: OpenedEngine) -> None:
        """Record the first difference between a replay and the history that the session's users saw."""
        self.restored = opened.restored
        if opened.differs or (not opened.restored and session.engine_version != ENGINE_VERSION):
            with contextlib.suppress(Unavailable), impatient():  # the session can be viewed without this
                await self._services.loop.db(checkpoints.record_replay, self.id, opened.differs)
        if not opened.restored:
            self._replayed()

    async def _resume(self, marks: int) -> None:
        """Extend the engine by the entries after the end of the log that is known here."""
        assert self.worker is not None
        session, rows = await self._log.read(self._log.seq)
        request = Extend(rows=rows, head=session.head, keep=self._log.head)
        await self._call(self.worker, request, OPEN_TIMEOUT)
        self._follow(session, marks)

    def _follow(self, session: Session, marks: int) -> None:
        self._log.follow(session)
        self.shown = session.head
        self._known_marks = marks

    def _must_move(self) -> bool:
        return self.worker not in self._services.pool.lane(self.heavy)

    async def _progress(self) -> Opening:
        done, total = 0, 0
        if self.worker is not None and self.worker.alive:
            with contextlib.suppress(SessionError, TimeoutError):
                progress = await self.worker.call(self.id, AskProgress())
                done, total = progress.done, progress.total
        return Opening(message("The session is being replayed from its log."), done, total)

    async def inherit(
        self, origin: "EngineConnection", session: Session, copied: checkpoints.CopiedCheckpoints
    ) -> None:
        """Fork another session's engine for this session, in the same worker, with the copied checkpoints."""
        worker = origin.worker
        assert worker is not None
        worker.sessions.add(self.id)
        self.worker, self.heavy, self._generation = worker, origin.heavy, worker.generation
        request = Fork(
            new=self.id,
            at=session.head,
            volume=copied.volume,
            parts=copied.parts,
            checkpoints=copied.positions,
            outcomes_saved=copied.outcomes_saved,
        )
        await origin._call(worker, request, TIMEOUTS[self.heavy])
        self._follow(session, self._marks)
        await self._services.relay.join(self.id)

    def release(self) -> None:
        """Release the engine's memory; the engine is opened again on demand."""
        if self.worker is not None:
            self._services.pool.release(self.id, self.worker)
            self.worker = None
        self._marks += 1

    # Requests

    async def call(self, request: Request[A]) -> A:
        reading = isinstance(request, Query)
        self.crashes.require_calm(reading)
        await self.ready()
        assert self.worker is not None
        self._asking += 1
        try:
            return await self._call(self.worker, request, TIMEOUTS[self.heavy], reading)
        finally:
            self._asking -= 1
            self.used = time.monotonic()

    async def ask(self, query: Query[A], patience: float = PATIENCE) -> A:
        """Execute a query at a position up to the head (None: the shown one)."""
        for again in (True, False):
            await self.ready(patience)
            position = self.shown if query.at is None else max(0, min(query.at, self._log.head))
            try:
                return await self.call(msgspec.structs.replace(query, at=position))
            except WorkerDied:
                if not again:
                    raise
        raise AssertionError

    async def call_aside(self, request: Request[A], timeout: float) -> A:
        """Execute a background request: it does not open the engine, and may take long. Raise EngineFailed if the engine is not open."""
        if self.worker is None or not self.is_open:
            raise EngineFailed(message("The session is not open."))
        return await self._call(self.worker, request, timeout, reading=False)

    async def _call(self, worker: Worker, request: Request[A], timeout: float, reading: bool = True) -> A:
        """Send a request to the worker; count a crash of its process if this request caused it."""
        process = worker.process
        try:
            return await worker.call(self.id, request, timeout)
        except CRASHES as error:
            if error.at_fault:
                self.crashes.count(process, reading)
            raise

    def interrupt(self) -> None:
        """End the engine's present slice of a run early."""
        self.notify(Interrupt())

    def notify(self, notice: Message) -> None:
        """Send a message that needs no answer."""
        if self.worker is not None:
            self.worker.notify(self.id, notice)


log = logging.getLogger(__name__)

# Seconds without a change before a save; and seconds between saves while a session runs.
QUIET = 1.0
WHILE_RUNNING = 10.0
# A save runs in idle slices only, so it may take long.
TIMEOUT = 600.0


class CheckpointSaver:
    """The saver of a session's checkpoints, on the sessions' loop. A failed save only makes a later replay longer."""

    def __init__(self, engine: EngineConnection, log: SessionLog, services: Services) -> None:
        self._engine, self._log, self._services = engine, log, services
        self._changed = 0.0
        self._saved = time.monotonic()
        self._dirty = False
        self._task: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    def moved(self) -> None:
        """Schedule a save, because the head moved, and the log has the change."""
        self._changed = time.monotonic()
        self._dirty = True
        if settings.CHECKPOINTS and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._work())

    async def _work(self) -> None:
        try:
            while self._dirty:
                await asyncio.sleep(QUIET)
                now = time.monotonic()
                if now - self._changed >= QUIET or now - self._saved >= WHILE_RUNNING:
                    await self.save()
        except SessionError as error:
            log.info("session %s: its checkpoints were not saved: %s", self._engine.id, error.message)
        except Exception:
            log.exception("session %s: its checkpoints were not saved", self._engine.id)

    async def save(self) -> bool:
        """Save what is new up to the head in the log; return whether the session would reopen almost without a replay."""
        async with self._turn:
            saved: SavedData | None = None
            more = settings.CHECKPOINTS
            while more and self._engine.is_open:
                self._dirty = False
                saved = await self._save()
                more = saved is not None and saved.more
            self._saved = time.monotonic()
            return saved is not None and saved.covered

    async def _save(self) -> SavedData | None:
        """Save a part; return None if another process was first: the next save starts again."""
        engine = self._engine
        request = Save(upto=self._log.head, least=settings.CHECKPOINT_WORK)
        saved = await engine.call_aside(request, TIMEOUT)
        if saved.is_something:
            try:
                await self._services.loop.db(checkpoints.write, engine.id, saved)
            except Conflict:
                count = await self._services.loop.db(checkpoints.outcomes_saved, engine.id)
                await engine.call_aside(ForgetSaved(outcomes_saved=count), TIMEOUT)
                return None
        return saved
