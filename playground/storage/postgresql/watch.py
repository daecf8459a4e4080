"""The watch over whoever waits for PostgreSQL.

A server ends a statement that takes too long itself (statement_timeout). One that hangs, or whose machine has gone, can't: then the
connection is cut here, and whoever waits for it hears of its end.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg

from playground.storage.postgresql.outage import OUTAGE, Limits

# Seconds between two looks, and for which the server may be late in ending a statement.
LOOK = 0.25
GRACE = 0.5


class Watch:
    """One thread for all connections of this process."""

    def __init__(self) -> None:
        self._since: dict[psycopg.Connection[Any], float] = {}
        self._cut: set[psycopg.Connection[Any]] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def over(self, connection: psycopg.Connection[Any] | None) -> Iterator[None]:
        """Watch a wait for the server. One that is given up ends with the error of a lost connection, which is closed."""
        if connection is None or Limits.statement is None or connection in self._since:
            yield
            return
        self._begin(connection)
        try:
            yield
        finally:
            self._end(connection)

    def _begin(self, connection: psycopg.Connection[Any]) -> None:
        with self._lock:
            self._since[connection] = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="database watch", daemon=True)
                self._thread.start()

    def _end(self, connection: psycopg.Connection[Any]) -> None:
        with self._lock:
            del self._since[connection]
            if connection in self._cut:
                self._cut.discard(connection)
                connection.close()

    def _work(self) -> None:
        while True:
            time.sleep(LOOK)
            with self._lock:
                latest = time.monotonic() - (Limits.statement or 0) - GRACE
                for connection in [each for each, since in self._since.items() if since < latest]:
                    if connection not in self._cut:
                        self._cut.add(connection)
                        OUTAGE.distrust(f"a statement was not answered within {Limits.statement} s")
                        cut(connection)


def cut(connection: psycopg.Connection[Any]) -> None:
    """End a connection under whoever waits for it."""
    with (
        contextlib.suppress(OSError, psycopg.Error),
        socket.socket(fileno=os.dup(connection.fileno())) as own,
    ):
        own.shutdown(socket.SHUT_RDWR)


WATCH = Watch()
