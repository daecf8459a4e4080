"""The database backend: Django's, but each connection is checked before use, replaced if the server closed it, and limited in time."""

import contextlib
import os
import select
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg
from django.db.backends.postgresql import base

from playground.storage.postgresql.outage import OUTAGE, Limits

# The watch over whoever waits for PostgreSQL.
#
# A server ends a statement that takes too long itself (statement_timeout). One that hangs, or whose machine has gone, can't: then the
# connection is cut here, and whoever waits for it hears of its end.

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
        """Watch a wait for the server. An abandoned wait ends with the error of a lost connection."""
        # A wait within another one on the same connection is covered by the outer one.
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
    """End a connection while another thread waits for it."""
    with (
        contextlib.suppress(OSError, psycopg.Error),
        # A duplicate: closing this object must not close libpq's descriptor. The shutdown applies to the connection
        # itself, whichever descriptor asks for it.
        socket.socket(fileno=os.dup(connection.fileno())) as own,
    ):
        own.shutdown(socket.SHUT_RDWR)


WATCH = Watch()

# Seconds in which a server that can be reached lets somebody in.
CONNECT = 3
KEEPALIVE = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3}


class DatabaseWrapper(base.DatabaseWrapper):
    """A thread's connection to the database. All waits for the server are watched."""

    _distrusted = 0  # how often connections had been distrusted when this one was made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute_wrappers.append(self._execute)

    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection[Any]:
        """Connect, waiting a few seconds if necessary. Raise DatabaseAway."""
        self._distrusted = OUTAGE.distrusted
        parameters = {"connect_timeout": CONNECT, **KEEPALIVE, **conn_params}
        return OUTAGE.connect(lambda: super(DatabaseWrapper, self).get_new_connection(parameters))

    def init_connection_state(self) -> None:
        """Set the server's time limit for a statement. If the server does not keep it, the watch ends the connection."""
        with WATCH.over(self.connection):
            super().init_connection_state()
        if Limits.statement is not None:
            with self.cursor() as cursor:
                cursor.execute("SELECT set_config('statement_timeout', %s, false)", [f"{Limits.statement}s"])

    def _execute(self, execute: Any, *call: Any) -> Any:
        with WATCH.over(self.connection):
            return execute(*call)

    def commit(self) -> None:
        """Commit like Django, while the watch covers the connection."""
        with WATCH.over(self.connection):
            super().commit()

    def rollback(self) -> None:
        """Roll back like Django, while the watch covers the connection."""
        with WATCH.over(self.connection):
            super().rollback()

    def is_usable(self) -> bool:
        """Return True if the server answers on this connection."""
        with WATCH.over(self.connection):
            return super().is_usable()

    def close_if_health_check_failed(self) -> None:
        """Close a bad connection before a query outside of a transaction. The next query connects again."""
        if self.connection is not None and not self.in_atomic_block and not self._is_good():
            self.close()

    def _is_good(self) -> bool:
        """Return whether the connection is usable. Queries the server only if its socket has data, such as the end of the connection."""
        if self.connection.closed or self._distrusted != OUTAGE.distrusted:
            return False
        socket = self.connection.fileno()
        poll = select.poll()
        poll.register(socket, select.POLLIN)
        return not bool(poll.poll(0)) or self.is_usable()
