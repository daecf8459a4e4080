"""A PostgreSQL of the tests' own: a cluster in a folder, on a free port of this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import psycopg

from tests.faults.programs import Program

USER = "playground"
# A killed process loses nothing that it has handed to the system, so that nothing has to wait for a disk.
OPTIONS = {"fsync": "off", "listen_addresses": "127.0.0.1", "max_connections": "200", "shared_buffers": "32MB"}


class PostgreSQL(Program):
    """PostgreSQL doesn't run as root: there it runs as the user of its package."""

    def __init__(self) -> None:
        super().__init__(Path(mkdtemp(prefix="playground-postgresql-")))
        self.data = self.folder / "data"
        if user := self.user():
            shutil.chown(self.folder, user)
        self.run("initdb", "-D", str(self.data), "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync")

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        """The URL of one of its databases."""
        return f"postgres://{USER}@127.0.0.1:{self.port}/{database}"

    def user(self) -> str | None:
        return "postgres" if os.geteuid() == 0 else None

    def command(self) -> list[str]:
        options = {**OPTIONS, "port": str(self.port), "unix_socket_directories": str(self.folder)}
        words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        return [program("postgres"), "-D", str(self.data), *words]

    def answers(self) -> bool:
        try:
            self.ask("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def run(self, name: str, *arguments: str) -> None:
        """Run one of its programs to its end."""
        done = subprocess.run(
            [program(name), *arguments], cwd=self.folder, user=self.user(), capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def ask(self, query: str, *parameters: Any, database: str = "postgres") -> list[tuple[Any, ...]]:
        """The rows of a query; none for a statement."""
        url = self.url_of(database)
        with psycopg.connect(url, autocommit=True, connect_timeout=2) as connection:
            cursor = connection.execute(query, parameters)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else []

    def make_database(self, name: str) -> str:
        """Make an empty database; its URL."""
        self.ask(f"CREATE DATABASE {name}")
        return self.url_of(name)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """As a restart by the system does: whoever is connected is cut off."""
        super().stop(how)

    def freeze(self) -> None:
        """Its processes are asked nothing by the one that is frozen: freeze them all."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        if self.runs:
            self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):  # of a connection that has just ended
                os.kill(process, number)

    def processes(self) -> list[int]:
        """The server's process and those that it started for its connections and for itself."""
        assert self.process is not None
        first = self.process.pid
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [first, *map(int, children)]

    def remove(self) -> None:
        """End it and delete its data."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def program(name: str) -> str:
    """Where a program of PostgreSQL is: Debian keeps those of a server out of PATH."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which(name, path=os.pathsep.join(map(str, folders))) or shutil.which(name)
    assert found, f"no {name}: install Debian's package postgresql"
    return found


@contextmanager
def a_postgresql() -> Iterator[PostgreSQL]:
    """One that runs, and is gone afterwards."""
    server = PostgreSQL()
    try:
        server.start()
        yield server
    finally:
        server.remove()
