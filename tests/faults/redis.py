"""A redis-server of the tests' own."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.programs import Program


class Redis(Program):
    """Nothing is kept on disk: after a restart it knows nobody."""

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def command(self) -> list[str]:
        program = shutil.which("redis-server")
        assert program, "no redis-server: install Debian's package redis-server"
        options = {"port": self.port, "bind": "127.0.0.1", "dir": self.folder, "save": "", "appendonly": "no"}
        return [program, *(str(word) for name, value in options.items() for word in (f"--{name}", value))]

    def answers(self) -> bool:
        with socket.create_connection(("127.0.0.1", self.port), 1) as ask:
            ask.sendall(b"PING\r\n")
            return ask.recv(16).startswith(b"+PONG")


@contextmanager
def a_redis(folder: Path) -> Iterator[Redis]:
    """One that runs, with a folder of its own, and is stopped afterwards."""
    folder.mkdir(exist_ok=True)
    server = Redis(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()
