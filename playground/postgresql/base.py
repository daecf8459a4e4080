"""The backend: Django's, but a connection is looked at before it is used, made anew where the server has closed it, and bounded in time."""

from __future__ import annotations

import select
import time
from collections.abc import Generator
from typing import Any, TypeVar

import psycopg
from django.db.backends.postgresql import base

from playground.postgresql.outage import OUTAGE, Limits

R = TypeVar("R")

# Seconds in which a server that can be reached lets somebody in.
CONNECT = 3
KEEPALIVE = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3}


class Connection(psycopg.Connection[Any]):
    """A connection that is given up when a statement takes too long: the server may hang, or its machine may have gone."""

    def wait(self, gen: Generator[Any, Any, R], interval: float = 0.1, timeout: float | None = None) -> R:
        """As psycopg's. Raises OperationalError, with the connection closed, when it is given up."""
        began, limit = time.monotonic(), Limits.statement
        try:
            return super().wait(gen, interval, limit if timeout is None else timeout)
        except psycopg.OperationalError:
            if timeout is not None or limit is None or time.monotonic() - began < limit:
                raise
            self.pgconn.finish()
            why = f"a statement was not answered within {limit} s"
            OUTAGE.distrust(why)
            raise psycopg.OperationalError(why) from None


class DatabaseWrapper(base.DatabaseWrapper):
    """A thread's way to the database."""

    _distrusted = 0  # how often connections had been distrusted when this one was made

    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection:
        """A connection, waited for while that is a matter of seconds. Raises DatabaseAway."""
        self.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        parameters = {"connect_timeout": CONNECT, **KEEPALIVE, **conn_params}
        self._distrusted = OUTAGE.distrusted
        connection: Connection = OUTAGE.connect(lambda: Connection.connect(**parameters))
        return connection

    def close_if_health_check_failed(self) -> None:
        """Whenever something is asked outside of a transaction: a connection that is no good is closed, and the next is made."""
        if self.connection is not None and not self.in_atomic_block and not self._is_good():
            self.close()

    def _is_good(self) -> bool:
        """A server that went away has closed the connection, which can be read from it; then or by another word it is asked."""
        if self.connection.closed or self._distrusted != OUTAGE.distrusted:
            return False
        return not _has_input(self.connection.fileno()) or self.is_usable()


def _has_input(socket: int) -> bool:
    """Whether there is something to read; the end is, too."""
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))
