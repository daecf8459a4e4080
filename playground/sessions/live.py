"""LiveSession: one session in this process - which worker has its engine, what is acknowledged, who watches, what drives it.

The database's log decides. The engine may be ahead of it for a moment (a transition that is not written yet); nobody is shown a position
that is not in the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import orjson
from django.conf import settings

from playground.models import LogKind, Session
from playground.presenters.look import Look
from playground.sessions import log, plans, shelf
from playground.sessions.driver import LEASE, Driver
from playground.sessions.errors import (
    Conflict,
    EngineFailed,
    LimitReached,
    Opening,
    SessionError,
    SessionGone,
)
from playground.sessions.frames import Frame
from playground.sessions.pool import Worker, WorkerDied
from playground.sessions.publisher import Publisher
from playground.sessions.saving import Saver
from playground.sessions.until import Until
from scheduler_core import ENGINE_VERSION

if TYPE_CHECKING:
    from playground.sessions.runtime import Runtime

T = TypeVar("T")

OPEN_TIMEOUT = 600.0
# Seconds that a request may take, in the lane of the small sessions and in that of the large ones.
TIMEOUTS = {False: 20.0, True: 60.0}
# A session in whose requests the engine dies this often within a minute has to wait: others live in the same process.
DEATHS = 5
MOURNING = 60.0
# Other processes hear at least this often, in seconds, how far a run is that nobody watches here.
TELL_INTERVAL = 0.25
# How long, in seconds, another process has to answer a request to pause before it is taken for dead.
ANSWER = 2.0
# Two processes that write at the same moment: the one that lost reads the log and tries again, this often.
TRIES = 5
POD_BYTES = 600
_REPLICAS = re.compile(rb"(?:replicas|completions|parallelism)[\"']?:\s*(\d{1,9})\b")


class LiveSession:
    """Lives on the runtime's loop. Whatever changes the session happens under `exclusive`."""

    def __init__(self, session_id: int, runtime: Runtime) -> None:
        self.id = session_id
        self.runtime = runtime
        self.head = 0
        self.shown = 0  # what following viewers are shown: the head, or while it runs a moment before
        self.seq = 0
        self.used = time.monotonic()
        self.driver: Driver | None = None
        self.ended = (-1, "")
        self.publisher = Publisher(self)
        self.saver = Saver(self)
        self._remote: dict[str, Any] | None = None
        self._remote_until = 0.0
        self._remote_stopped = asyncio.Event()
        self._log_bytes = 0
        self._told = 0.0
        self._heavy = False
        self._worker: Worker | None = None
        self._generation = -1
        self._stale = True
        self._gone = False
        self._lock = asyncio.Lock()
        self._driving = asyncio.Lock()
        self._deaths: list[float] = []
        self._opening: asyncio.Task[None] | None = None

    # The engine: open, ask, close.

    async def ready(self, wait: float | None = None) -> None:
        """Make sure that the engine stands at the log's end; `wait` seconds at most, then Opening is raised."""
        self.used = time.monotonic()
        if self._gone:
            raise SessionGone("This session was deleted.")
        if self.is_open:
            return
        self._deaths = [when for when in self._deaths if time.monotonic() - when < MOURNING]
        if len(self._deaths) >= DEATHS:
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
        worker = self._worker
        return (
            worker is not None and worker.alive and worker.generation == self._generation and not self._stale
        )

    async def _open(self) -> None:
        worker = self._worker
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
        kept = await self.runtime.db(shelf.read, self.id) if settings.CHECKPOINTS else shelf.Shelf()
        self._heavy = self._heavy or session.log_bytes > settings.HEAVY_LOG_BYTES
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
            await self.runtime.db(shelf.replayed, self.id, differs)
        if not result["restored"]:
            self.saver.moved()

    async def _resume(self, worker: Worker) -> None:
        """The engine knows the log up to what is acknowledged here: read on from there."""
        session, rows = await self.runtime.db(log.read, self.id, self.seq)
        await worker.call("extend", *told({"sid": self.id, "keep": self.head}, session, rows), OPEN_TIMEOUT)
        self._follow(session)
        self._stale = False

    def _moving(self) -> bool:
        return self._worker not in self.runtime.pool.lane(self._heavy)

    def _assign(self) -> Worker:
        if self._worker is not None and self._moving():
            self.runtime.pool.release(self.id, self._worker)
            self._worker = None
        if self._worker is None:
            self._worker = self.runtime.pool.assign(self.id, self._heavy)
        return self._worker

    def _follow(self, session: Session) -> None:
        self.head, self.seq, self._log_bytes = session.head, session.log_seq, session.log_bytes
        self.shown = self.head

    async def _progress(self) -> Opening:
        done, total = 0, 0
        if self._worker is not None and self._worker.alive:
            with contextlib.suppress(SessionError, TimeoutError):
                header, _ = await self._worker.call("progress", {"sid": self.id})
                done, total = header["result"]["done"], header["result"]["total"]
        return Opening("The session is being replayed from its log.", done, total)

    def spoil(self) -> None:
        """The engine may be ahead of the log: read the log again before the next use."""
        self._stale = True

    async def engine(self, op: str, arguments: dict[str, Any], timeout: float) -> Frame:
        """Ask the engine something that is nobody's request: it is not opened for it, and may take long."""
        if self._worker is None or not self.is_open:
            raise EngineFailed("The session is not open.")
        return await self._worker.call(op, {"sid": self.id, **arguments}, [], timeout)

    async def call(self, op: str, arguments: dict[str, Any], attachments: list[bytes] | None = None) -> Frame:
        """Ask the engine."""
        self.saver.looked()
        await self.ready()
        assert self._worker is not None
        try:
            return await self._worker.call(
                op, {"sid": self.id, **arguments}, attachments or [], TIMEOUTS[self._heavy]
            )
        except EngineFailed as error:
            if error.fatal:
                self._deaths.append(time.monotonic())
            raise

    async def ask(self, op: str, *, at: int | None = None, **arguments: Any) -> Any:
        """Ask the engine something that changes nothing, at a position up to the head (None: the head)."""
        for again in (True, False):
            await self.ready(settings.OPEN_WAIT)
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
        if self._worker is not None:
            self._worker.tell("interrupt", sid=self.id)

    def idle_for(self) -> float:
        """Seconds since somebody asked for the session; none while it is watched or driven."""
        busy = self.publisher.viewers or self.driver is not None or self._lock.locked()
        return 0.0 if busy else time.monotonic() - self.used

    async def close(self) -> None:
        """Give the engine's memory back. The session opens again when asked for, from the checkpoints that are saved now."""
        with contextlib.suppress(SessionError):
            await self.saver.save()
        if self._worker is not None:
            self.runtime.pool.release(self.id, self._worker)
            self._worker = None
        self._stale = True
        await self.runtime.relay.leave(self.id)

    # What changes the session.

    @contextlib.asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """The session for oneself: a run's slice ends early, and an error leaves the log, not the engine, in the right."""
        self.interrupt()
        async with self._lock:
            await self.ready()
            try:
                yield
            except (Conflict, EngineFailed, asyncio.CancelledError):
                self.spoil()
                self.publisher.wake()
                raise

    async def write(self, kind: str, to: int, payload: bytes, size: int = 0, show: bool = True) -> None:
        """Write the next entry; only then is the new head shown to anybody."""
        row = log.Row(self.seq + 1, kind, self.head, to, payload, size)
        try:
            await self.runtime.db(log.append, self.id, row)
        except BaseException:
            self.spoil()
            raise
        self.seq, self.head = row.seq, to
        self._log_bytes += size
        self._moved(show)

    async def extend(self, to: int, show: bool) -> None:
        """Let the last entry reach further."""
        try:
            await self.runtime.db(log.advance, self.id, self.seq, self.head, to)
        except BaseException:
            self.spoil()
            raise
        self.head = to
        self._moved(show)

    def _moved(self, show: bool) -> None:
        self.saver.moved()
        if show:
            self.shown = self.head
            self.publisher.wake()
        elif time.monotonic() - self._told < TELL_INTERVAL:
            return
        self._told = time.monotonic()
        self.runtime.relay.tell(self.id, "moved", running=self.driver.status() if self.driver else None)

    def require_room(self, size: int = 0, show: bool = True) -> None:
        """Raises LimitReached where the log is full."""
        if self.seq >= settings.MAX_LOG_ENTRIES:
            raise LimitReached(
                f"The log of this session is full: {self.seq:,} entries, at most {settings.MAX_LOG_ENTRIES:,} are kept. "
                "Duplicate the cluster into a new session to go on."
            )
        if self._log_bytes + size > settings.MAX_LOG_BYTES:
            raise LimitReached(
                f"The log of this session would take {self._log_bytes + size:,} bytes; "
                f"at most {settings.MAX_LOG_BYTES:,} are kept."
            )

    async def apply(self, command: dict[str, Any], source: str) -> int:
        """Apply a command at the head; its position afterwards."""
        data = orjson.dumps({"command": command, "source": source})
        if len(data) > settings.MAX_COMMAND_BYTES:
            raise LimitReached(
                f"The command takes {len(data):,} bytes; at most {settings.MAX_COMMAND_BYTES:,} are taken."
            )
        await self._make_heavy(len(data))
        return await self._changed("apply", {}, [data])

    async def plan(self, text: str | bytes, filename: str) -> dict[str, Any]:
        """Preview an import; the text is kept until it is applied or replaced."""
        data = text.encode() if isinstance(text, str) else text
        if len(data) > settings.MAX_UPLOAD_BYTES:
            raise LimitReached(
                f"The text has {len(data):,} bytes; at most {settings.MAX_UPLOAD_BYTES:,} are taken at once."
            )
        await self._make_heavy(len(data) + _made_of(data))
        token = await self.runtime.db(plans.keep, self.id, data, filename)
        header, _ = await self.call("plan", {"token": token, "filename": filename}, [data])
        return {**header["result"], "token": token}

    async def apply_plan(self, token: str) -> int:
        """Apply what the preview accepted, as one command."""
        data, filename = await self.runtime.db(plans.find, self.id, token)
        await self._make_heavy(len(data) + _made_of(data))
        position = await self._changed("apply_plan", {"token": token, "filename": filename}, [data])
        await self.runtime.db(plans.drop, self.id)
        return position

    async def _changed(self, op: str, arguments: dict[str, Any], attachments: list[bytes]) -> int:
        return await self._insist(lambda: self._change(op, arguments, attachments))

    async def _insist(self, work: Callable[[], Awaitable[T]]) -> T:
        """What is asked for at the head is done at the head, also when another process has just moved it."""
        for number in range(1, TRIES):
            try:
                return await work()
            except Conflict:
                await asyncio.sleep(0.02 * number)
        return await work()

    async def _change(self, op: str, arguments: dict[str, Any], attachments: list[bytes]) -> int:
        async with self.exclusive():
            self.require_room()
            limits = {"limits": {"objects": settings.MAX_OBJECTS}}
            header, packed = await self.call(op, {**arguments, **limits}, attachments)
            result = header["result"]
            try:
                self.require_room(result["size"])
            except LimitReached:
                self.spoil()
                raise
            await self.write(LogKind.COMMAND, result["to"], packed[0], result["size"])
            return self.head

    async def _make_heavy(self, size: int) -> None:
        """A session that takes a large command moves to the lane of the large ones."""
        await self.ready()
        if size > settings.HEAVY_COMMAND_BYTES and not self._heavy:
            async with self.exclusive():
                self._heavy = True
                self._stale = True

    async def step(self, grain: str) -> bool:
        """One engine step at the head; False where nothing is left to do."""
        await self.pause()
        return await self._insist(lambda: self._step(grain))

    async def _step(self, grain: str) -> bool:
        async with self.exclusive():
            self.require_room()
            header, _ = await self.call("step", {"grain": grain, "times": 1, "keep": True})
            if header["result"]["to"] > self.head:
                await self.write(LogKind.STEP, header["result"]["to"], log.pack({"grain": grain}))
            return not header["result"]["idle"]

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
            await driver.start()

    async def pause(self) -> None:
        """Stop what drives the session, here or in another process."""
        if self.driver is not None:
            await self.driver.stop()
        elif self.remote_running is not None:
            self._remote_stopped.clear()
            self.runtime.relay.tell(self.id, "pause")
            try:
                await asyncio.wait_for(self._remote_stopped.wait(), ANSWER)
            except TimeoutError:
                # Its process is gone. Should it still live, its next write to the log is refused.
                self.remote_is(None)
                await self.runtime.db(log.release, self.id)
                await self.catch_up()

    @property
    def remote_running(self) -> dict[str, Any] | None:
        """What drives the session in another process, as far as that was heard of lately."""
        return self._remote if time.monotonic() < self._remote_until else None

    def remote_is(self, running: dict[str, Any] | None) -> None:
        """Another process told what it drives; when it falls silent, that is over."""
        self._remote, self._remote_until = running, time.monotonic() + LEASE
        if running is None:
            self._remote_stopped.set()
        else:
            asyncio.get_running_loop().call_later(LEASE + 0.1, self._listen_for_silence)

    def _listen_for_silence(self) -> None:
        """A process that died while it drove may have written more than it could tell."""
        if self._remote is not None and self.remote_running is None and not self._gone:
            self._remote = None
            self.runtime.begin(self.catch_up())

    def notice(self, head: int) -> None:
        """The database says where the head is: a hint may have been lost, or be on its way."""
        if head > self.head and self.driver is None and not self._lock.locked():
            self.spoil()

    @property
    def running(self) -> dict[str, Any] | None:
        """What drives the session now, for people to see."""
        return self.driver.status() if self.driver else self.remote_running

    async def fork(self, at: int | None, name: str, creator: str, branch: bool = False) -> Session:
        """A new session with the same past; its engine shares this one's checkpoints."""
        await self.ready()
        position = self.head if at is None else max(0, min(at, self.head))
        session = await self.runtime.db(log.copy, self.id, position, name, creator, branch)
        copied = await self.runtime.db(shelf.copy, self.id, session.pk, position)
        twin = self.runtime.live(session.pk)
        with contextlib.suppress(SessionError):
            await twin.inherit(self, session, copied)
        return session

    async def inherit(self, origin: LiveSession, session: Session, copied: dict[str, Any]) -> None:
        """Take over a copy of another session's engine, in the same worker, with the checkpoints that were copied."""
        assert origin._worker is not None
        worker = origin._worker
        worker.sessions.add(self.id)
        self._worker, self._heavy, self._generation = worker, origin._heavy, worker.generation
        fork = {"sid": origin.id, "new": self.id, "at": session.head, **copied}
        await worker.call("fork", fork, [], TIMEOUTS[self._heavy])
        self._follow(session)
        self._stale = False
        await self.runtime.relay.join(self.id)

    # What other processes and views tell.

    async def current_head(self) -> int:
        await self.ready(settings.OPEN_WAIT)
        return self.head

    async def view(self, look: Look, panels: list[str] | None) -> dict[str, Any]:
        """Panels at the look's position, as plain data."""
        result = await self.ask("view", at=look.at, look=look.to_query(), panels=panels)
        return {**result["panels"], "position": result["position"], "head": self.shown}

    async def cluster(self, at: int, first: int) -> tuple[bytes, int | None]:
        """Some objects at a position as YAML, and the number of the next one."""
        header, (text,) = await self.call("cluster", {"at": min(at, self.head), "first": first})
        return text, header["result"]["next"]

    async def catch_up(self) -> None:
        """Another process wrote to the log: follow it."""
        if self.is_open:
            async with self._lock:
                self.spoil()
                await self.ready()
        self.publisher.wake()

    def pins_changed(self, told: bool = False) -> None:
        """Breakpoints or bookmarks changed: pages draw their marks anew; `told`: another process said so."""
        self.publisher.tell({"type": "pins"})
        if not told:
            self.runtime.relay.tell(self.id, "pins")

    async def delete(self) -> None:
        """It was deleted here: tell the other processes."""
        self.runtime.relay.tell(self.id, "gone")
        await self.vanish()

    async def vanish(self) -> None:
        """The session was deleted: stop, tell the viewers, forget."""
        self._gone = True
        if self.driver is not None:
            await self.driver.stop()
        self.publisher.gone()
        self._stale = True
        await self.close()
        self.runtime.sessions.pop(self.id, None)


def told(
    arguments: dict[str, Any], session: Session, rows: list[log.Row]
) -> tuple[dict[str, Any], list[bytes]]:
    """A request that hands the log to an engine."""
    told = {**arguments, "head": session.head, "rows": [[row.kind, row.at, row.to] for row in rows]}
    return told, [row.payload for row in rows]


def _made_of(text: bytes) -> int:
    """About how many bytes of pods the workloads of a text stand for."""
    return sum(int(count) for count in _REPLICAS.findall(text)) * POD_BYTES
