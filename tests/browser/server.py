"""A real playground server for browser tests: its own process, port, folder and database; it can be killed and started again."""

import contextlib
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import ClassVar
from urllib.error import URLError

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class PlaygroundServer:
    """`manage.py serve` on 127.0.0.1, with its data in `folder`. After `kill`, `start` serves the same data on the same port."""

    # An empty database, as the first server made it: the migrations would take half a second of each further start.
    tables: ClassVar[bytes] = b""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "server.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.environment = {**os.environ, "DATA_DIR": str(folder), "PYTHONUNBUFFERED": "1", **environment}
        self.groups: list[int] = []
        self.arguments: list[str] = []

    def manage(self, *arguments: str) -> str:
        """Run one management command on the server's data; what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"manage.py {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout

    def start(self, timeout: float = 60) -> None:
        """Start the server and wait until it answers."""
        database = Path(self.environment["DATA_DIR"]) / "playground.sqlite3"
        empty = "DATABASE_URL" not in self.environment and not database.exists()
        if empty and self.tables:
            database.write_bytes(self.tables)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "serve", "--port", str(self.port), *self.arguments],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.groups.append(self.process.pid)
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            assert self.process.poll() is None, f"the server ended: {self.output()}"
            with contextlib.suppress(URLError, OSError), urllib.request.urlopen(self.url, timeout=5):
                if empty and not self.tables:
                    with contextlib.closing(sqlite3.connect(database)) as made:
                        PlaygroundServer.tables = made.serialize()
                return
            time.sleep(0.05)
        raise AssertionError(f"the server did not answer within {timeout} s: {self.output()}")

    def kill(self) -> None:
        """End the server's process at once, as a crash or `kill -9` would; its workers must notice by themselves."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(timeout=10)

    def stop(self) -> None:
        """End the server as a supervisor does (SIGTERM: SIGINT is ignored by what runs in the background), and whatever it left behind."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=10)
        for group in self.groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
        if self.process is not None:
            self.process.wait(timeout=10)

    def output(self) -> str:
        """The last lines that the server printed."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-40:])
