"""The backend: Django's, but a connection is looked at before it is used, made anew where the server has closed it, and bounded in time."""

from __future__ import annotations

import select
from typing import Any

import psycopg
from django.db.backends.postgresql import base

from playground.storage.postgresql.outage import OUTAGE, Limits
from playground.storage.postgresql.watch import WATCH

# Seconds in which a server that can be reached lets somebody in.
CONNECT = 3
KEEPALIVE = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3}


class DatabaseWrapper(base.DatabaseWrapper):
    """A thread's way to the database. Whatever waits for the server is watched."""

    _distrusted = 0  # how often connections had been distrusted when this one was made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute_wrappers.append(self._execute)

    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection[Any]:
        """A connection, waited for while that is a matter of seconds. Raises DatabaseAway."""
        self._distrusted = OUTAGE.distrusted
        parameters = {"connect_timeout": CONNECT, **KEEPALIVE, **conn_params}
        return OUTAGE.connect(lambda: super(DatabaseWrapper, self).get_new_connection(parameters))

    def init_connection_state(self) -> None:
        """Have the server end a statement that takes too long; where it does not, the watch ends the connection."""
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
        """Whenever something is asked outside of a transaction: a connection that is no good is closed, and the next is made."""
        if self.connection is not None and not self.in_atomic_block and not self._is_good():
            self.close()

    def _is_good(self) -> bool:
        """A server that went away has closed the connection, which can be read from it; then or by another word it is asked."""
        if self.connection.closed or self._distrusted != OUTAGE.distrusted:
            return False
        return not _has_input(self.connection.fileno()) or self.is_usable()


def _has_input(socket: int) -> bool:
    """Return True if there is something to read; the end of the stream counts too."""
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))
