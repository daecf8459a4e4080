"""Several server processes on one port: a process that dies is restarted, and all end when their supervisor ends.

The supervisor listens and passes its socket to each process; the system gives a connection to the first process that accepts it.
"""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from types import FrameType

PAUSE = 0.2  # seconds between two checks of the processes
AGAIN = 1.0  # seconds before a process that exited is restarted
PATIENCE = 20.0  # seconds that the processes have to end


class Supervisor:
    """A supervisor of `count` processes of `manage.py serve` for one address."""

    def __init__(self, host: str, port: int, count: int, say: Callable[[str], None]) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host.strip("[]"), port), family=family, backlog=1024)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._count, self._say = count, say
        self._ending = False

    def work(self) -> None:
        """Keep the processes running until a signal ends them."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        try:
            while not self._ending:
                for process in [each for each in self._processes if each.poll() is not None]:
                    self._processes.remove(process)
                    self._say(f"server process {process.pid} ended with {process.returncode}; another one is started")
                    time.sleep(0 if process.returncode < 0 else AGAIN)  # killed, or unable to serve
                while len(self._processes) < self._count:
                    self._processes.append(self._start())
                time.sleep(PAUSE)
        finally:
            self._stop()

    def _end(self, _signal: int, _frame: FrameType | None) -> None:
        self._ending = True

    def _start(self) -> subprocess.Popen[bytes]:
        descriptor = self._socket.fileno()
        host, port = self._socket.getsockname()[:2]
        command = [sys.executable, sys.argv[0], "serve", "--host", host, "--port", str(port)]
        # The process watches its standard input, which closes when the supervisor ends, even if it is killed.
        return subprocess.Popen(  # noqa: S603 - this program itself
            [*command, "--descriptor", str(descriptor)],
            stdin=subprocess.PIPE,
            pass_fds=[descriptor],
            start_new_session=True,
        )

    def _stop(self) -> None:
        self._socket.close()
        for process in self._processes:
            process.terminate()
        end = time.monotonic() + PATIENCE
        for process in self._processes:
            try:
                process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
