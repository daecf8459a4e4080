"""EngineConnection: where a session's engine sits - which worker has it, how it is opened from the log, and how it is asked.

The database's log decides. The engine may be ahead of it for a moment (a transition that is not written yet); nobody is shown a position
that is not in the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any

from django.conf import settings

from playground.models import Session
from playground.sessions.database import checkpoints, log
from playground.sessions.protocol.errors import EngineFailed, Opening, SessionError, SessionGone
from playground.sessions.protocol.frames import Frame
from playground.sessions.web.checkpoint_saver import Saver
from playground.sessions.web.pool import Worker, WorkerDied
from scheduler_core import ENGINE_VERSION

if TYPE_CHECKING:
    from playground.sessions.web.runtime import Runtime

OPEN_TIMEOUT = 600.0
# What is asked for by a page that does not come again by itself waits this long, in seconds, for its session to open.
PATIENCE = 30.0
# Seconds that a request may take, in the lane of the small sessions and in that of the large ones.
TIMEOUTS = {False: 20.0, True: 60.0}
# A session in whose requests the engine dies this often within a minute has to wait: others live in the same process.
MAX_CRASHES = 5
CRASH_WINDOW = 60.0


class EngineConnection:
    """Lives on the runtime's loop. `head` and `seq` are the log's end as far as it is known here."""

    def __init__(self, session_id: int, runtime: Runtime) -> None:
        self.id = session_id
        self.runtime = runtime
        self.head = 0
        self.shown = 0  # what following viewers are shown: the head, or while it runs a moment before
        self.seq = 0
        self.used = time.monotonic()
        self.log_bytes = 0
        self.heavy = False
        self.worker: Worker | None = None
        self.saver = Saver(self)
        self._generation = -1
        self._stale = True
        self.gone = False
        self._asking = 0
        self._crashes: list[float] = []
        self._opening: asyncio.Task[None] | None = None

    async def ready(self, wait: float | None = None) -> None:
        """Make sure that the engine stands at the log's end; `wait` seconds at most, then Opening is raised."""
        self.used = time.monotonic()
        if self.gone:
            raise SessionGone("This session was deleted.")
        if self.is_open:
            return
        self._crashes = [when for when in self._crashes if time.monotonic() - when < CRASH_WINDOW]
        if len(self._crashes) >= MAX_CRASHES:
            raise EngineFailed(
                "The engine failed again and again on this session. Its log is whole; please try again in a minute."
            )
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(self._open())
        done, _ = await asyncio.wait({self._opening}, timeout=wait)
        if not done:
            raise await self._progress()
        self._opening.result()

    @property
    def is_open(self) -> bool:
        """Whether an engine stands at the log's end."""
        worker = self.worker
        return (
            worker is not None and worker.alive and worker.generation == self._generation and not self._stale
        )

    async def _open(self) -> None:
        worker = self.worker
        if (
            worker is not None
            and worker.alive
            and worker.generation == self._generation
            and not self._moving()
        ):
            with contextlib.suppress(EngineFailed):
                await self._resume(worker)
                return
        session, rows = await self.runtime.db(log.read, self.id)
        kept = (
            await self.runtime.db(checkpoints.read, self.id) if settings.CHECKPOINTS else checkpoints.Shelf()
        )
        self.heavy = self.heavy or session.log_bytes > settings.HEAVY_LOG_BYTES
        worker = self._assign()
        await worker.start()
        generation = worker.generation
        arguments = {"sid": self.id, "seed": session.seed, "story": session.story}
        arguments |= {"shelf": kept.header(), "told": kept.told}
        header, payloads = told(arguments, session, rows)
        answer, _ = await worker.call("open", header, [*payloads, *kept.attachments()], OPEN_TIMEOUT)
        await self._opened(session, answer["result"])
        self._generation = generation
        self._follow(session)
        self._stale = False
        await self.runtime.relay.join(self.id)

    async def _opened(self, session: Session, result: dict[str, Any]) -> None:
        """Tell where a replay came to something else than what the session's users saw."""
        differs = result["differs"]
        if differs or (not result["restored"] and session.engine_version != ENGINE_VERSION):
            await self.runtime.db(checkpoints.replayed, self.id, differs)
        if not result["restored"]:
            self.saver.moved()

    async def _resume(self, worker: Worker) -> None:
        """The engine knows the log up to what is acknowledged here: read on from there."""
        session, rows = await self.runtime.db(log.read, self.id, self.seq)
        await worker.call("extend", *told({"sid": self.id, "keep": self.head}, session, rows), OPEN_TIMEOUT)
        self._follow(session)
        self._stale = False

    def _moving(self) -> bool:
        return self.worker not in self.runtime.pool.lane(self.heavy)

    def _assign(self) -> Worker:
        if self.worker is not None and self._moving():
            self.runtime.pool.release(self.id, self.worker)
            self.worker = None
        if self.worker is None:
            self.worker = self.runtime.pool.assign(self.id, self.heavy)
        return self.worker

    def _follow(self, session: Session) -> None:
        self.head, self.seq, self.log_bytes = session.head, session.log_seq, session.log_bytes
        self.shown = self.head

    async def _progress(self) -> Opening:
        done, total = 0, 0
        if self.worker is not None and self.worker.alive:
            with contextlib.suppress(SessionError, TimeoutError):
                header, _ = await self.worker.call("progress", {"sid": self.id})
                done, total = header["result"]["done"], header["result"]["total"]
        return Opening("The session is being replayed from its log.", done, total)

    def mark_stale(self) -> None:
        """The engine may be ahead of the log: read the log again before the next use."""
        self._stale = True

    async def engine(self, op: str, arguments: dict[str, Any], timeout: float) -> Frame:
        """Ask the engine something that is nobody's request: it is not opened for it, and may take long."""
        if self.worker is None or not self.is_open:
            raise EngineFailed("The session is not open.")
        return await self.worker.call(op, {"sid": self.id, **arguments}, [], timeout)

    @property
    def busy(self) -> bool:
        """Whether the engine is being opened or asked."""
        return self._asking > 0 or (self._opening is not None and not self._opening.done())

    async def call(self, op: str, arguments: dict[str, Any], attachments: list[bytes] | None = None) -> Frame:
        """Ask the engine."""
        await self.ready()
        assert self.worker is not None
        self._asking += 1
        try:
            return await self.worker.call(
                op, {"sid": self.id, **arguments}, attachments or [], TIMEOUTS[self.heavy]
            )
        except EngineFailed as error:
            if error.fatal:
                self._crashes.append(time.monotonic())
            raise
        finally:
            self._asking -= 1
            self.used = time.monotonic()

    async def ask(
        self, op: str, *, at: int | None = None, patience: float = PATIENCE, **arguments: Any
    ) -> Any:
        """Ask the engine something that changes nothing, at a position up to the head (None: the head)."""
        for again in (True, False):
            await self.ready(patience)
            position = self.shown if at is None else max(0, min(at, self.head))
            try:
                header, _ = await self.call(op, {"at": position, **arguments})
            except WorkerDied:
                if not again:
                    raise
            else:
                return header["result"]
        raise AssertionError

    def interrupt(self) -> None:
        """End the engine's present slice of a run early."""
        if self.worker is not None:
            self.worker.tell("interrupt", sid=self.id)

    def leave_worker(self) -> None:
        """Give the engine's memory back; it is opened again when it is asked for."""
        if self.worker is not None:
            self.runtime.pool.release(self.id, self.worker)
            self.worker = None
        self._stale = True

    async def inherit(self, origin: EngineConnection, session: Session, copied: dict[str, Any]) -> None:
        """Take over a copy of another session's engine, in the same worker, with the checkpoints that were copied."""
        assert origin.worker is not None
        worker = origin.worker
        worker.sessions.add(self.id)
        self.worker, self.heavy, self._generation = worker, origin.heavy, worker.generation
        fork = {"sid": origin.id, "new": self.id, "at": session.head, **copied}
        await worker.call("fork", fork, [], TIMEOUTS[self.heavy])
        self._follow(session)
        self._stale = False
        await self.runtime.relay.join(self.id)


def told(
    arguments: dict[str, Any], session: Session, rows: list[log.Row]
) -> tuple[dict[str, Any], list[bytes]]:
    """A request that hands the log to an engine."""
    told = {**arguments, "head": session.head, "rows": [[row.kind, row.at, row.to] for row in rows]}
    return told, [row.payload for row in rows]
