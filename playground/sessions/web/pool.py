"""Worker processes as the web process sees them: started when needed, one per lane and number, replaced when they die.

Small sessions share the workers of the first lane. A session with a large log or import lives in the second, so that no step of
a small one ever waits for a transition that takes seconds.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
import time
from dataclasses import dataclass
from typing import TypeVar

from django.conf import settings
from django.utils.translation import gettext as _

from playground.sessions.protocol.base import Message, Request
from playground.sessions.protocol.errors import EngineFailed
from playground.sessions.protocol.opening import Close
from playground.sessions.protocol.wire import Frames, Reply, encode_message, read_answer, read_reply

A = TypeVar("A")
Process = tuple["Worker", int]

READ = 1 << 20
MODULE = "playground.sessions.worker"


# What crashed this often in a session within the window, in seconds, has to wait: others live in the same process.
MAX_CRASHES = 5
CRASH_WINDOW = 60.0


class WorkerDied(EngineFailed):
    """The process ended while it worked on the request."""

    status = 503
    retry_after = 2

    def __init__(self) -> None:
        super().__init__(_("The engine stopped while doing this, and is started again. Please try again."))


class TooSlow(EngineFailed):
    """The request took too long, and the process was ended."""

    status = 503
    retry_after = 10


class KeepsCrashing(EngineFailed):
    """A session in whose requests processes have died too often has to wait."""

    status = 503

    def __init__(self, reading: bool, seconds: float) -> None:
        self.retry_after = max(1, round(seconds))
        what = {"times": MAX_CRASHES, "seconds": self.retry_after}
        if reading:
            text = _(
                "The engine stopped %(times)d times within a minute while this session was opened or looked at. "
                "Its log is whole; please try again in %(seconds)d s."
            )
        else:
            text = _(
                "The engine stopped %(times)d times within a minute on this session. It can be looked at, and its log is "
                "whole; changes are taken again in %(seconds)d s."
            )
        super().__init__(text % what)


CRASHES = (WorkerDied, TooSlow)


@dataclass
class Crash:
    """A process died; `reading`: nothing that was asked of the session would have changed it."""

    when: float
    reading: bool


class Crashes:
    """The processes that died lately while a session asked them for something: one crash each, however many requests it met."""

    def __init__(self) -> None:
        self._crashes: dict[Process, Crash] = {}

    def count(self, process: Process, reading: bool) -> None:
        """A request met a process' death."""
        crash = self._crashes.setdefault(process, Crash(time.monotonic(), reading))
        crash.reading = crash.reading and reading

    def require_calm(self, reading: bool) -> None:
        """Raises KeepsCrashing. Who only looks has to wait for what crashed while somebody looked, who changes for all."""
        since = time.monotonic() - CRASH_WINDOW
        self._crashes = {process: crash for process, crash in self._crashes.items() if crash.when > since}
        counted = [crash.when for crash in self._crashes.values() if crash.reading or not reading]
        if len(counted) >= MAX_CRASHES:
            raise KeepsCrashing(reading, counted[-MAX_CRASHES] - since)


class Worker:
    """One process and the requests that wait for its answers."""

    def __init__(self) -> None:
        self.sessions: set[int] = set()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Reply]] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._starting = asyncio.Lock()
        self.generation = 0
        self._served = False

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def process(self) -> Process:
        """The process that is asked now, one among all that there ever were."""
        return self, self.generation

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def start(self) -> None:
        """Start the process unless it runs."""
        async with self._starting:
            if self.alive:
                return
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                MODULE,
                str(settings.ENGINE_MEMORY),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=READ,
                start_new_session=True,
                cwd=settings.BASE_DIR,
                # The engine's arrays are small: threads of the linear algebra library would only take memory.
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )
            self.generation += 1
            self._reader = asyncio.create_task(self._read(self._process))

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        frames = Frames()
        assert process.stdout is not None
        try:
            while data := await process.stdout.read(READ):
                for frame in frames.feed(data):
                    reply = read_reply(frame)
                    waiting = self._waiting.pop(reply.number, None)
                    if waiting is not None and not waiting.done():
                        waiting.set_result(reply)
        finally:
            await process.wait()
            if process is self._process:
                self._fail()

    def _fail(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for answer in waiting.values():
            if not answer.done():
                answer.set_exception(WorkerDied())

    async def call(self, session: int, request: Request[A], timeout: float = 20) -> A:
        """Ask, wait for the answer. Raises what the worker reports; a worker that does not answer in time is ended."""
        await self.start()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        number, self._served = next(self._numbers), True
        waiting: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        try:
            process.stdin.write(encode_message(number, session, request))
            await process.stdin.drain()
            async with asyncio.timeout(timeout):
                reply = await waiting
        except TimeoutError:
            self.kill()
            raise TooSlow(_("This took too long and was stopped.")) from None
        except (ConnectionError, BrokenPipeError):
            raise WorkerDied from None
        finally:
            self._waiting.pop(number, None)
        return read_answer(request, reply)

    def notify(self, session: int, notice: Message) -> None:
        """Say something that needs no answer."""
        if self.alive and self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(encode_message(0, session, notice))

    def kill(self) -> None:
        """End the process at once; its sessions are replayed elsewhere when asked for."""
        if self.alive and self._process is not None:
            self._process.send_signal(signal.SIGKILL)

    async def renew(self) -> None:
        """A process that nobody needs just now is replaced by a new one: what sessions took goes back to the system with it."""
        if not self.alive or not self._served or self.sessions or self._waiting:
            return
        self.kill()
        self._process, self._served = None, False
        await self.start()

    async def stop(self) -> None:
        if self.alive and self._process is not None:
            self.kill()
            await self._process.wait()


class Pool:
    """Which worker serves which session."""

    def __init__(self, workers: int, heavy: int) -> None:
        self._lanes = {False: [Worker() for _ in range(workers)], True: [Worker() for _ in range(heavy)]}

    def assign(self, session_id: int, heavy: bool) -> Worker:
        """The worker of the lane with the fewest sessions."""
        worker = min(self._lanes[heavy], key=lambda worker: len(worker.sessions))
        worker.sessions.add(session_id)
        return worker

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
        """Start the first worker before anybody asks for it."""
        await self._lanes[False][0].start()

    def workers(self) -> list[Worker]:
        return [worker for lane in self._lanes.values() for worker in lane]

    async def stop(self) -> None:
        await asyncio.gather(*(worker.stop() for worker in self.workers()))
