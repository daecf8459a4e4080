"""A worker process as the web process sees it: started when it is needed, asked, ended."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import signal
import sys
from typing import TypeVar

from django.conf import settings
from django.utils.translation import gettext as _

from playground.sessions.protocol.at_work import AtWork
from playground.sessions.protocol.base import Message, Request
from playground.sessions.protocol.errors import EngineFailed
from playground.sessions.protocol.frames import Frames
from playground.sessions.protocol.memory import resident
from playground.sessions.protocol.wire import Reply, encode_message, read_answer, read_reply

A = TypeVar("A")
Process = tuple["Worker", int]
"""A worker, and the number of its process among all that it ever had."""

READ = 1 << 20
MODULE = "playground.sessions.worker"

log = logging.getLogger(__name__)


class WorkerDied(EngineFailed):
    """The process ended before it had answered the request; `at_fault`: while it worked on this very one."""

    status = 503
    retry_after = 2

    def __init__(self, at_fault: bool = False) -> None:
        super().__init__(_("The engine stopped while doing this, and is started again. Please try again."))
        self.at_fault = at_fault


class TooSlow(EngineFailed):
    """The request took too long, and the process was ended."""

    status = 503
    retry_after = 10
    at_fault = True


CRASHES = (WorkerDied, TooSlow)


class Worker:
    """One process and the requests that wait for its answers."""

    def __init__(self) -> None:
        self.sessions: set[int] = set()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Reply]] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._starting = asyncio.Lock()
        self._at_work: AtWork | None = None
        self.generation = 0
        self._served = False
        self._ending = False
        self._too_slow: asyncio.subprocess.Process | None = None
        self._killed: asyncio.subprocess.Process | None = None

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

    def memory(self) -> int:
        """The bytes of memory that the process has; 0 where there is none, or the system does not say it."""
        return resident(self.pid)

    async def start(self) -> None:
        """Start the process unless it runs; one that was just ended is waited for."""
        async with self._starting:
            if self._process is not None and self._process is self._killed:
                await self._process.wait()
            if self.alive:
                return
            self._at_work = at_work = AtWork.made()
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                MODULE,
                str(settings.ENGINE_MEMORY),
                str(at_work.file),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=READ,
                start_new_session=True,
                pass_fds=(at_work.file,),
                cwd=settings.BASE_DIR,
                # The engine's arrays are small: threads of the linear algebra library would only take memory.
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )
            self.generation += 1
            self._reader = asyncio.create_task(self._read(self._process, at_work))

    async def _read(self, process: asyncio.subprocess.Process, at_work: AtWork) -> None:
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
                if not self._ending:
                    text = "a worker ended with code %s; it had the sessions %s"
                    log.error(text, process.returncode, sorted(self.sessions) or "of nobody")
                self._fail(0 if process is self._too_slow else at_work.said())
            if at_work is self._at_work:
                self._at_work = None
            at_work.close()

    def progress(self) -> tuple[int, int]:
        """Return how much is done, of how much, of the process's blocking work; 0 of 0 if there is none."""
        return self._at_work.advanced() if self._at_work is not None else (0, 0)

    def _fail(self, at_fault: int) -> None:
        """No request is answered any more; the process ended while it worked on the one with this number, if on any."""
        waiting, self._waiting = self._waiting, {}
        for number, answer in waiting.items():
            if not answer.done():
                answer.set_exception(WorkerDied(number == at_fault))

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
            self._too_slow = process
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
            self._killed = self._process
            self._process.send_signal(signal.SIGKILL)

    async def renew(self) -> None:
        """A process that nobody needs just now is replaced by a new one: what sessions took goes back to the system with it."""
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
