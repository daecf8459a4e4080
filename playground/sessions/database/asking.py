"""How the database is asked, from whatever thread: with a connection that works, and in words where it can't be."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import wraps
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import InterfaceError, OperationalError, close_old_connections, connection
from django.utils.translation import gettext as _

from playground.postgresql.outage import DatabaseAway
from playground.sessions.protocol.errors import StorageFull, Unavailable

P = ParamSpec("P")
T = TypeVar("T")

FAILURES = (OperationalError, InterfaceError)
# SQLSTATEs (by their beginning) of a connection that failed, of a server that shuts down, and of a transaction that had to give way.
BROKEN = ("08", "57P", "40")
# SQLSTATEs of a full disk and of a database that may only be read.
FULL = ("53100", "25006")
# What SQLite says of a disk that is full, over a quota, broken or read-only; the lowest byte of its codes tells.
UNWRITTEN = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
PRIMARY = 0xFF
# How often something is asked on connections that break meanwhile.
TRIES = 3

log = logging.getLogger(__name__)


class DatabaseThreads:
    """Threads in which a loop's database functions run."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="database")

    async def ask(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a database function in a thread; from the loop only. Raises Unavailable."""
        context = copy_context()  # lines of the log say whose they are in that thread too
        return await self._loop.run_in_executor(
            self._threads, lambda: context.run(lambda: ask(function, *args, **kwargs))
        )

    def stop(self) -> None:
        self._threads.shutdown()


def ask(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a database function in this thread. Raises Unavailable."""
    close_old_connections()
    try:
        return function(*args, **kwargs)
    except FAILURES as error:
        raise unavailable(error) from error


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same in a thread of the caller's loop."""
    return await sync_to_async(ask, thread_sensitive=False)(function, *args, **kwargs)


def unavailable(error: Exception) -> Unavailable:
    """What is said of a database that can't be asked; the cause is for the log."""
    if not isinstance(error, DatabaseAway):  # an outage is logged once
        log.warning("the database failed: %s", error)
    if _is_full(error):
        return StorageFull(
            _(
                "This server can't save anything just now: its disk is full or can't be written. What was confirmed is kept and "
                "can be looked at; changes are taken again when its operator has made room."
            )
        )
    return Unavailable(
        _(
            "The database is not answering. The server waits for it and comes back by itself; "
            "please try again in a moment. What it has confirmed is kept."
        )
    )


def _is_full(error: Exception) -> bool:
    """Whether the database can be read but not written."""
    cause = error.__cause__
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", 0) & PRIMARY in UNWRITTEN
    return getattr(cause, "sqlstate", None) in FULL


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
    """Whether it came of this thread's connection, and neither of what was asked nor of a database that is away."""
    if isinstance(error, DatabaseAway) or connection.vendor != "postgresql" or connection.in_atomic_block:
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(BROKEN)
