"""Calls of database functions from any thread: with a working connection, and with an error for the user if the database fails.

SQLite has one writer at a time. If another program holds the write lock for long, a caller retries for a while without blocking a thread
that readers need; once this outage is known, no caller waits.
"""

import asyncio
import contextlib
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import wraps
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import InterfaceError, InternalError, OperationalError, close_old_connections, connection
from django.utils.translation import gettext as _

from playground.sessions.protocol.errors import StorageFull, Unavailable
from playground.storage.postgresql.outage import PAUSE, DatabaseAway, Outage
from playground.storage.sqlite.base import PRIMARY, UNWRITTEN

P = ParamSpec("P")
T = TypeVar("T")

# psycopg raises InternalError for a write in a read-only transaction.
FAILURES = (OperationalError, InterfaceError, InternalError)
# SQLSTATE prefixes of a failed connection, of a server shutdown, and of a transaction that was rolled back.
BROKEN = ("08", "57P", "40")
# SQLSTATEs of a full disk, of a disk failure, and of a read-only database.
FULL = ("53100", "58030", "25006")
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
# Seconds that SQLite itself waits for its write lock in a server's thread: enough for other writers of this program.
BRIEF = 0.25
# Tries of a function whose connection breaks.
TRIES = 3

LOCKED = Outage("SQLite's write lock is held for long", "SQLite's write lock is free again")

log = logging.getLogger(__name__)


class DatabaseLocked(Unavailable):
    """Another program holds SQLite's write lock; reads still work."""


class DatabaseThreads:
    """Threads in which a loop's database functions run."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="database")

    async def ask(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a database function in a thread; call this from the loop only. Raise Unavailable if the database fails."""
        context = copy_context()  # so that log lines of that thread have the request's ids, too
        return await _patiently(
            lambda: self._loop.run_in_executor(
                self._threads, lambda: context.run(lambda: ask(function, *args, **kwargs))
            )
        )

    def stop(self) -> None:
        self._threads.shutdown()


def ask(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a database function in this thread. Raise Unavailable if the database fails."""
    if LOCKED.refuses:
        raise DatabaseLocked(_describe_lock())
    close_old_connections()
    try:
        with _waiting_for_nobody() if LOCKED.on else contextlib.nullcontext():
            return function(*args, **kwargs)
    except FAILURES as error:
        raise unavailable(error) from error


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a database function in a thread of the caller's loop. Raise Unavailable if the database fails."""
    return await _patiently(lambda: sync_to_async(ask, thread_sensitive=False)(function, *args, **kwargs))


async def _patiently(work: Callable[[], Awaitable[T]]) -> T:
    """Retry while another program holds SQLite's write lock, until DATABASE_WAIT_SECONDS have passed: nothing was written yet."""
    end = time.monotonic() + settings.DATABASE_WAIT_SECONDS
    while True:
        try:
            return await work()
        except DatabaseLocked:
            if time.monotonic() > end or (LOCKED.on and LOCKED.left() <= 0):
                raise
            await asyncio.sleep(PAUSE)


@contextlib.contextmanager
def _waiting_for_nobody() -> Iterator[None]:
    """Set SQLite's busy timeout to 0 during an outage of the write lock: no thread waits, and the first write ends the outage."""
    connection.ensure_connection()
    sqlite = connection.connection
    (usual,), written = sqlite.execute("PRAGMA busy_timeout").fetchone(), sqlite.total_changes
    sqlite.execute("PRAGMA busy_timeout = 0")
    try:
        yield
    finally:
        with contextlib.suppress(sqlite3.ProgrammingError):  # the connection was closed meanwhile
            if sqlite.total_changes != written:
                LOCKED.end()
            sqlite.execute(f"PRAGMA busy_timeout = {usual}")


def unavailable(error: Exception) -> Unavailable:
    """Return the error to report for a failed database; the cause is only logged."""
    if _code(error) in BUSY:
        LOCKED.begin(error.__cause__)
        return DatabaseLocked(_describe_lock())
    if not isinstance(error, DatabaseAway):  # an outage is logged once
        log.warning("the database failed: %s", error)
    if _code(error) in UNWRITTEN or getattr(error.__cause__, "sqlstate", None) in FULL:
        return StorageFull(
            _(
                "The server cannot save now: its disk is full or not writable. Confirmed changes are kept and can be "
                "viewed. Changes are possible again after the operator frees space."
            )
        )
    return Unavailable(
        _(
            "The database does not respond. The server recovers once the database does. Try again in a moment. "
            "Confirmed changes are kept."
        )
    )


def _describe_lock() -> str:
    return _(
        "Another program is writing to the database of this server, so nothing can be saved now. Try again "
        "in a moment. Confirmed changes are kept and can be viewed."
    )


def _code(error: Exception) -> int:
    """Return SQLite's primary error code; 0 for another database's error."""
    return getattr(error.__cause__, "sqlite_errorcode", 0) & PRIMARY


def repeatable(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a database function that may run again if its connection broke and it is unknown whether it succeeded."""

    @wraps(function)
    def repeated(*args: P.args, **kwargs: P.kwargs) -> T:
        for _again in range(TRIES - 1):
            try:
                return function(*args, **kwargs)
            except FAILURES as error:
                if not _is_broken(error):
                    raise
        return function(*args, **kwargs)

    return repeated


def _is_broken(error: Exception) -> bool:
    """Return whether this thread's connection caused the error, not the query or an outage of the database."""
    if isinstance(error, DatabaseAway) or connection.vendor != "postgresql" or connection.in_atomic_block:
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(BROKEN)
