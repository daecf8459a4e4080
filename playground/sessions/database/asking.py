"""How the database is asked, from whatever thread: with a connection that works, and in words where it can't be.

SQLite has one writer at a time. Who finds that another program writes, and takes long, tries again for a while without keeping a thread
from those who read; once it is known, nobody waits.
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

# InternalError is what psycopg says of a transaction that may only read.
FAILURES = (OperationalError, InterfaceError, InternalError)
# SQLSTATEs (by their beginning) of a connection that failed, of a server that shuts down, and of a transaction that had to give way.
BROKEN = ("08", "57P", "40")
# SQLSTATEs of a full disk, of a disk that fails, and of a database that may only be read.
FULL = ("53100", "58030", "25006")
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
# Seconds for which SQLite itself waits for its write lock in a server's thread: as long as others of this program may write.
BRIEF = 0.25
# How often something is asked on connections that break meanwhile.
TRIES = 3

LOCKED = Outage("SQLite's write lock is held for long", "SQLite's write lock is free again")

log = logging.getLogger(__name__)


class DatabaseLocked(Unavailable):
    """Another program holds SQLite's write lock; everything can be read."""


class DatabaseThreads:
    """Threads in which a loop's database functions run."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="database")

    async def ask(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a database function in a thread; from the loop only. Raises Unavailable."""
        context = copy_context()  # lines of the log say whose they are in that thread too
        return await _patiently(
            lambda: self._loop.run_in_executor(
                self._threads, lambda: context.run(lambda: ask(function, *args, **kwargs))
            )
        )

    def stop(self) -> None:
        self._threads.shutdown()


def ask(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a database function in this thread. Raises Unavailable."""
    if LOCKED.refuses:
        raise DatabaseLocked(_describe_lock())
    close_old_connections()
    try:
        with _waiting_for_nobody() if LOCKED.on else contextlib.nullcontext():
            return function(*args, **kwargs)
    except FAILURES as error:
        raise unavailable(error) from error


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same in a thread of the caller's loop."""
    return await _patiently(lambda: sync_to_async(ask, thread_sensitive=False)(function, *args, **kwargs))


async def _patiently(work: Callable[[], Awaitable[T]]) -> T:
    """Try again while another program has not held SQLite's write lock for long: nothing was written yet."""
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
    """It is known that another program holds SQLite's write lock: no thread waits for it, and the first that writes ends the outage."""
    connection.ensure_connection()
    sqlite = connection.connection
    (usual,), written = sqlite.execute("PRAGMA busy_timeout").fetchone(), sqlite.total_changes
    sqlite.execute("PRAGMA busy_timeout = 0")
    try:
        yield
    finally:
        with contextlib.suppress(sqlite3.ProgrammingError):  # it was closed meanwhile
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
    """A database function that may be run again: its connection broke, and whether it did its work is not known."""

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
    """Return whether this thread's connection caused the error, not the query or a database that is away."""
    if isinstance(error, DatabaseAway) or connection.vendor != "postgresql" or connection.in_atomic_block:
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(BROKEN)
