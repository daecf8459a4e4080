"""A program that tests start on a port of its own, stop, kill and start again: what PostgreSQL and Redis have in common."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from pathlib import Path

from tests.browser.server import free_port

START = 20.0
STOP = 20.0


class Program(ABC):
    """Listens on `port` of this machine while it runs; after `stop` or `kill`, `start` serves the same again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.log = folder / "program.log"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """As a setting names it."""

    @abstractmethod
    def command(self) -> list[str]:
        """What runs it in the foreground."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether it takes what is asked; OSError where nothing listens."""

    def user(self) -> str | None:
        """Who it runs as, where that is not whoever runs the tests."""
        return None

    def start(self) -> None:
        """Start it and wait until it answers."""
        deadline = time.monotonic() + START
        self._launch()
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                if self.answers():
                    return
            if not self.runs:  # what a kill has left of the one before is not gone yet
                time.sleep(0.2)
                self._launch()
            time.sleep(0.03)
        raise AssertionError(f"{self.command()[0]} did not answer: {self.output()}")

    def _launch(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, user=self.user()
            )

    @property
    def runs(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Have it end, or with SIGKILL end it; nothing listens afterwards."""
        if self.process is None:
            return
        self.resume()
        self.process.send_signal(how)
        try:
            self.process.wait(timeout=STOP)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(timeout=STOP)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self.stop(signal.SIGKILL)

    def restart(self) -> None:
        self.stop()
        self.start()

    def freeze(self) -> None:
        """Leave it running without an answer, as a machine that hangs does."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """End the freeze."""
        if self.runs:
            assert self.process is not None
            self.process.send_signal(signal.SIGCONT)

    def output(self) -> str:
        """The last lines that it printed."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-30:])
