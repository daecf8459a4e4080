"""The process that forks the workers of this web process: a worker's imports take a second, a fork takes milliseconds."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import Future

from django.conf import settings

from playground.sessions.protocol.wire import ORDER, READ, REPORT, STARTED

MODULE = "playground.sessions.worker"


class Process:
    """A forked worker, with the streams to and from it."""

    def __init__(self, pid: int, ended: Future[int], stdout: asyncio.StreamReader, stdin: asyncio.StreamWriter) -> None:
        self.pid = pid
        self.stdout, self.stdin = stdout, stdin
        self._ended = ended

    @property
    def returncode(self) -> int | None:
        """The exit code, or the negative number of the signal that ended the process; None while the process runs."""
        return self._ended.result() if self._ended.done() else None

    async def wait(self) -> None:
        """Wait for the end of the process."""
        await asyncio.shield(asyncio.wrap_future(self._ended))

    def kill(self) -> None:
        """End the process at once."""
        if not self._ended.done():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class Nursery:
    """One process that forks workers, for any thread or loop. If it has died, the next fork starts a new one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._orders: socket.socket | None = None
        self._started: Future[tuple[int, Future[int]]] = Future()

    def fork(self, memory: int, idle: bool, connection: socket.socket, at_work: int) -> tuple[int, Future[int]]:
        """Fork a worker; return its pid, and a future with its exit code. Raise OSError if that fails."""
        with self._lock:
            if self._orders is not None:
                # The process may have died unnoticed.
                with contextlib.suppress(OSError):
                    return self._order(self._orders, memory, idle, connection, at_work)
            return self._order(self._start(), memory, idle, connection, at_work)

    def _order(
        self, orders: socket.socket, memory: int, idle: bool, connection: socket.socket, at_work: int
    ) -> tuple[int, Future[int]]:
        self._started = Future()
        socket.send_fds(orders, [ORDER.pack(memory, idle)], [connection.fileno(), at_work])
        return self._started.result()

    def _start(self) -> socket.socket:
        self._orders, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: S603 # this program itself
                [sys.executable, "-m", MODULE],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=None if sys.stderr else subprocess.DEVNULL,  # a server may have no stderr
                # In its own session: Ctrl+C in the terminal reaches the server alone.
                start_new_session=True,
                cwd=settings.BASE_DIR,
                # The engine's arrays are small: threads of the linear algebra library would only use memory.
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )
        threading.Thread(target=self._hear, args=(self._orders, process), name="nursery", daemon=True).start()
        return self._orders

    def _hear(self, orders: socket.socket, process: subprocess.Popen[bytes]) -> None:
        """Record which workers start and end. If the forking process dies, kill its workers, because their ends would not be reported."""
        running: dict[int, Future[int]] = {}
        # An order that the dead process never read resets the connection.
        with contextlib.suppress(ConnectionError), orders, orders.makefile("rb") as reports:
            while report := reports.read(REPORT.size):
                pid, code = REPORT.unpack(report)
                if code == STARTED:
                    running[pid] = Future()
                    self._started.set_result((pid, running[pid]))
                else:
                    running.pop(pid).set_result(code)
        process.wait()
        if self._orders is orders:
            started, self._orders = self._started, None
            if not started.done():
                started.set_exception(ChildProcessError("the process that forks workers has ended"))
        for pid, ended in running.items():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            ended.set_result(-signal.SIGKILL)


NURSERY = Nursery()


async def fork_worker(memory: int, idle: bool, at_work: int) -> Process:
    """Fork a worker with a memory limit in bytes. `idle`: the worker runs at idle priority. Raise OSError."""
    mine, theirs = socket.socketpair()
    with theirs:
        try:
            pid, ended = await asyncio.to_thread(NURSERY.fork, memory, idle, theirs, at_work)
        except OSError:
            mine.close()
            raise
    return Process(pid, ended, *await asyncio.open_connection(sock=mine, limit=READ))
