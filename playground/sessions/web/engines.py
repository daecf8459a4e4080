"""The worker processes of this web process, and their memory."""

import asyncio
import contextlib
import itertools
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeVar

from django.conf import settings
from django.utils.translation import gettext as _
from msgspec import Raw, ValidationError
from msgspec.msgpack import Decoder

from playground.presenters.words import gettext_noop
from playground.presenters.words import message as words
from playground.sessions.protocol import wire
from playground.sessions.protocol.base import Message, Request, answer_of
from playground.sessions.protocol.errors import CommandRefused, EngineFailed, SessionError, Unavailable
from playground.sessions.protocol.opening import ClearUp, Close
from playground.sessions.web.nursery import Process, fork_worker

# The web process's side of a worker process: start it on demand, send requests, and end it.

A = TypeVar("A")
Generation = tuple["Worker", int]
"""A worker, and the number of its process among all its processes."""

MOST_SAID = 200  # characters of the encoder's message

log = logging.getLogger(__name__)


class WorkerDied(EngineFailed):
    """The process ended before it had answered the request; `at_fault`: while it worked on this one."""

    status = 503
    retry_after = 2

    def __init__(self, at_fault: bool = False) -> None:
        super().__init__(_("The engine stopped during this request and is restarting. Try again."))
        self.at_fault = at_fault


class TooSlow(EngineFailed):
    """The request took too long, and the process was ended."""

    status = 503
    retry_after = 10
    at_fault = True


CRASHES = (WorkerDied, TooSlow)


def encode_message(number: int, session: int, message: Message) -> bytes:
    """Return the frame of a message to a worker. Raise CommandRefused for a number or a text that cannot be encoded."""
    try:
        data = wire.ENCODER.encode(message)
    except (OverflowError, UnicodeError) as error:
        raise CommandRefused(
            words(gettext_noop("The engine cannot answer this request: %(why)s."), why=str(error)[:MOST_SAID])
        ) from None
    return wire.frame_message(wire.ENCODER.encode(wire.Envelope(number, session, Raw(data))))


def read_answer(request: Request[A], reply: wire.Reply) -> A:
    """Return the answer to a request. Raise the error that the worker reports, or EngineFailed with the invalid field."""
    if reply.failure is not None:
        raise reply.failure.error()
    try:
        answer: A = _decoder(type(request)).decode(reply.answer)
    except ValidationError as error:
        raise EngineFailed(f"The engine answered what is not understood: {error}.") from error
    return answer


@cache
def _decoder(request: type[Request[Any]]) -> Decoder[Any]:
    return Decoder(answer_of(request))


async def read_some(stream: asyncio.StreamReader) -> bytes:
    """Return the data that has arrived; b"" at the end, also if the other side died with unread data."""
    with contextlib.suppress(ConnectionError):
        return await stream.read(wire.READ)
    return b""


class Worker:
    """One process and the requests that wait for its answers. `idle`: the process runs at idle priority."""

    def __init__(self, idle: bool = False) -> None:
        self._idle = idle
        self.sessions: set[int] = set()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[wire.Reply]] = {}
        self._process: Process | None = None
        self._starting = asyncio.Lock()
        self._at_work: wire.AtWork | None = None
        self.generation = 0
        self._served = False
        self._ending = False
        self._too_slow: Process | None = None
        self._killed: Process | None = None

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def process(self) -> Generation:
        """The current process, as an identity among all processes of this worker."""
        return self, self.generation

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def memory(self) -> int:
        """Return the resident memory of the process in bytes; 0 if there is no process, or the system does not report it."""
        return wire.resident(self.pid)

    async def start(self) -> None:
        """Start the process unless it runs; wait for the end of a process that was killed."""
        async with self._starting:
            # The return code is known only once the process is reaped: until then a killed one counts as `alive`.
            if self._process is not None and self._process is self._killed:
                await self._process.wait()
            if self.alive:
                return
            at_work = wire.AtWork.made()
            try:
                self._process = await fork_worker(settings.ENGINE_MEMORY, self._idle, at_work.file)
            except OSError as error:
                at_work.close()
                log.error("no worker can be started: %s", error)
                raise WorkerDied from error
            self._at_work = at_work
            self.generation += 1
            self._reader = asyncio.create_task(self._read(self._process, at_work))

    async def _read(self, process: Process, at_work: wire.AtWork) -> None:
        frames = wire.Frames()
        try:
            while data := await read_some(process.stdout):
                for frame in frames.feed(data):
                    reply = wire.REPLIES.decode(frame)
                    waiting = self._waiting.pop(reply.number, None)
                    if waiting is not None and not waiting.done():
                        waiting.set_result(reply)
        finally:
            process.stdin.close()
            await process.wait()
            # After `renew` the waiting requests may belong to the next process; these must not fail.
            if process is self._process:
                if not self._ending:
                    text = "a worker ended with code %s; it had the sessions %s"
                    log.error(text, process.returncode, sorted(self.sessions) or "of nobody")
                # Request numbers begin at 1, so 0 blames no request: the slow one has already raised TooSlow.
                self._fail(0 if process is self._too_slow else at_work.said())
            if at_work is self._at_work:
                self._at_work = None
            at_work.close()

    def progress(self) -> tuple[int, int]:
        """Return how much is done, of how much, of the process's blocking work; 0 of 0 if there is none."""
        return self._at_work.advanced() if self._at_work is not None else (0, 0)

    def _fail(self, at_fault: int) -> None:
        """Raise WorkerDied in all waiting requests; `at_fault` is the number of the one that the process executed, if any."""
        waiting, self._waiting = self._waiting, {}
        for number, answer in waiting.items():
            if not answer.done():
                answer.set_exception(WorkerDied(number == at_fault))

    async def call(self, session: int, request: Request[A], timeout: float = 20) -> A:
        """Send a request and wait for the answer. Raise the error that the worker reports; kill a worker that does not answer in time."""
        await self.start()
        process = self._process
        assert process is not None
        number, self._served = next(self._numbers), True
        waiting: asyncio.Future[wire.Reply] = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        try:
            process.stdin.write(encode_message(number, session, request))
            await process.stdin.drain()
            async with asyncio.timeout(timeout):
                reply = await waiting
        except TimeoutError:
            self._too_slow = process
            self.kill()
            raise TooSlow(_("The request took too long and was stopped.")) from None
        except (ConnectionError, BrokenPipeError):
            if process is self._process:
                self.kill()  # it counts as alive until it is reaped: after `kill` the next request waits for that
            raise WorkerDied from None
        finally:
            self._waiting.pop(number, None)
        return read_answer(request, reply)

    def notify(self, session: int, notice: Message) -> None:
        """Send a message that needs no answer."""
        if self.alive and self._process is not None:
            # No request has the number 0, so no caller waits for an answer.
            self._process.stdin.write(encode_message(0, session, notice))

    def kill(self) -> None:
        """End the process at once; its sessions are replayed on demand."""
        if self.alive and self._process is not None:
            self._killed = self._process
            self._process.kill()

    async def renew(self) -> None:
        """Replace a process that has no sessions and no requests, so that its memory returns to the system."""
        if not self.alive or not self._served or self.sessions or self._waiting:
            return
        self.kill()
        self._process, self._served = None, False
        await self.start()

    async def stop(self) -> None:
        self._ending = True
        if self.alive and self._process is not None:
            self.kill()
            await self._process.wait()


@contextlib.asynccontextmanager
async def own_worker(idle: bool = False) -> AsyncIterator[Worker]:
    """Yield a worker for one job; the process ends with the job."""
    worker = Worker(idle)
    try:
        yield worker
    finally:
        await worker.stop()


# A session whose requests keep crashing processes must wait, because other sessions share these processes.

# The number of crashes within the window, in seconds, after which a session must wait.
MAX_CRASHES = 5
CRASH_WINDOW = 60.0


class KeepsCrashing(EngineFailed):
    """The session's requests have crashed too many processes: it must wait."""

    status = 503

    def __init__(self, reading: bool, seconds: float) -> None:
        self.retry_after = max(1, round(seconds))
        what = {"times": MAX_CRASHES, "seconds": self.retry_after}
        if reading:
            text = _(
                "The engine stopped %(times)d times within a minute while opening or viewing this session. Its log "
                "is intact. Try again in %(seconds)d s."
            )
        else:
            text = _(
                "The engine stopped %(times)d times within a minute on this session. You can view the session, and "
                "its log is intact. Changes are possible again in %(seconds)d s."
            )
        super().__init__(text % what)


@dataclass
class Crash:
    """A crash of a process; `reading`: the request would not have changed the session."""

    when: float
    reading: bool


class Crashes:
    """The recent crashes of processes that the session's requests caused: one for each process."""

    def __init__(self) -> None:
        self._crashes: dict[Generation, Crash] = {}

    def count(self, process: Generation, reading: bool) -> None:
        """Count the crash of a process that a request caused."""
        crash = self._crashes.setdefault(process, Crash(time.monotonic(), reading))
        crash.reading = crash.reading and reading

    def require_calm(self, reading: bool) -> None:
        """Raise KeepsCrashing after too many crashes. For a read only the crashes of reads count, for a change all of them."""
        since = time.monotonic() - CRASH_WINDOW
        self._crashes = {process: crash for process, crash in self._crashes.items() if crash.when > since}
        counted = [crash.when for crash in self._crashes.values() if crash.reading or not reading]
        if len(counted) >= MAX_CRASHES:
            # When this crash leaves the window, fewer than MAX_CRASHES remain in it.
            raise KeepsCrashing(reading, counted[-MAX_CRASHES] - since)


# The worker processes of this web process, one per lane and number.
#
# Small sessions share the workers of the first lane. A session with a large log or import is assigned to the second, so that no step of
# a small one waits for a transition that takes seconds.

ALIKE = 128 << 20  # workers whose memory differs by fewer bytes count as equal


class Pool:
    """The assignment of sessions to workers."""

    def __init__(self, workers: int, heavy: int) -> None:
        self._lanes = {False: [Worker() for _ in range(workers)], True: [Worker() for _ in range(heavy)]}

    def assign(self, session_id: int, heavy: bool) -> Worker:
        """Assign a session to the lane's worker with the most free memory, and return the worker."""
        worker = self.roomiest(heavy)
        worker.sessions.add(session_id)
        return worker

    def roomiest(self, heavy: bool) -> Worker:
        """Return the lane's worker with the most free memory; of those with about as much, the one with the fewest sessions."""
        return min(self._lanes[heavy], key=lambda worker: (worker.memory() // ALIKE, len(worker.sessions)))

    def lane(self, heavy: bool) -> list[Worker]:
        return self._lanes[heavy]

    def release(self, session_id: int, worker: Worker) -> None:
        worker.sessions.discard(session_id)
        worker.notify(session_id, Close())

    async def renew(self) -> None:
        """Replace the processes that have no session left."""
        for worker in self.workers():
            await worker.renew()

    async def warm(self) -> None:
        """Start the first worker before the first request."""
        await self._lanes[False][0].start()

    def workers(self) -> list[Worker]:
        return [worker for lane in self._lanes.values() for worker in lane]

    async def stop(self) -> None:
        await asyncio.gather(*(worker.stop() for worker in self.workers()))


# Room: the memory limits of workers.
#
# Sessions are assigned to the worker with the most free memory. If it runs short, unused sessions are released, and reopened from the
# database on demand. A session that still does not fit is refused before it is opened.

# Shares of a worker's memory limit. Above the first, unused sessions are released; above the second, new ones are refused.
SHORT = 0.6
FULL = 0.75
UNUSED = 5.0  # seconds without a request after which a session may be released
INTERVAL = 5.0


class NoRoom(Unavailable):
    """The sessions in use leave no memory for another one."""

    kind = "no-room"
    retry_after = 30


class Inhabitant(Protocol):
    """A session, as far as its memory is concerned."""

    @property
    def worker(self) -> Worker | None: ...
    def idle_for(self) -> float: ...
    async def release_when_idle(self, after: float) -> bool: ...


class Room:
    """The memory limits of the workers. Lives on the sessions' loop."""

    def __init__(self, pool: Pool, sessions: Callable[[], Iterable[Inhabitant]]) -> None:
        self._pool, self._sessions = pool, sessions
        self._making: dict[Worker, asyncio.Lock] = {}

    async def make(self, heavy: bool) -> None:
        """Make room for one more session in a lane. Raise NoRoom."""
        worker = self._pool.roomiest(heavy)
        await self.clear(worker)
        if _get_memory_share(worker) > FULL:
            raise NoRoom(
                _(
                    "The server has no memory for another session: %(count)d sessions are in use. Nothing is lost. Try again in 30 seconds."
                )
                % {"count": sum(len(each.sessions) for each in self._pool.workers())}
            )

    async def watch(self) -> None:
        """Keep all workers below their memory limits while sessions grow."""
        while True:
            await asyncio.sleep(INTERVAL)
            for worker in self._pool.workers():
                await self.clear(worker)

    async def clear(self, worker: Worker) -> None:
        """Release unused sessions of a worker that is short of memory, the longest unused first."""
        async with self._making.setdefault(worker, asyncio.Lock()):
            if _get_memory_share(worker) <= SHORT:
                return
            await _clear_up(worker)
            there = [each for each in self._sessions() if each.worker is worker]
            for unused in sorted(there, key=lambda each: -each.idle_for()):
                if _get_memory_share(worker) <= SHORT or unused.idle_for() < UNUSED:
                    return
                with contextlib.suppress(SessionError):
                    await unused.release_when_idle(UNUSED)
                await _clear_up(worker)


def _get_memory_share(worker: Worker) -> float:
    return worker.memory() / settings.ENGINE_MEMORY


async def _clear_up(worker: Worker) -> None:
    """Ask a worker to return free memory to the system."""
    with contextlib.suppress(SessionError):
        await worker.call(0, ClearUp())
