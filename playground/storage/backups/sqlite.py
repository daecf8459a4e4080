"""SQLite: a snapshot of the file, and its replacement by a copy."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.db import connection

from playground.storage.backups.archive import BackupError, new_file

BESIDE = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a database
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def dump(copy: Path) -> None:
    """Copy the database in one step. Concurrent writes wait in its log and are not in the copy."""
    connection.ensure_connection()
    with closing(sqlite3.connect(copy)) as target:
        connection.connection.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")  # so that it is one file
    _check(copy)


def load(unpack: Callable[[Path], None]) -> None:
    """Replace the database atomically by the copy that `unpack` writes.

    Deletes the files beside the old database first, because SQLite would use its log for the new one.
    """
    database = Path(connection.settings_dict["NAME"])
    connection.close()
    with _lock_database(database), new_file(database) as copy:
        unpack(copy)
        _check(copy)
        rights = database.stat()
        copy.chmod(rights.st_mode & 0o777)
        if (rights.st_uid, rights.st_gid) != (copy.stat().st_uid, copy.stat().st_gid):
            os.chown(copy, rights.st_uid, rights.st_gid)
        for end in BESIDE:
            database.with_name(database.name + end).unlink(missing_ok=True)


def _check(copy: Path) -> None:
    """Raise BackupError if SQLite's integrity check fails."""
    try:
        with closing(sqlite3.connect(copy)) as checked:
            found = checked.execute("PRAGMA integrity_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        found = str(error)
    if found != "ok":
        raise BackupError(
            f"The copy of the database is damaged: expected ok from SQLite's integrity_check, received: {found}."
        )


@contextmanager
def _lock_database(database: Path) -> Iterator[None]:
    """Lock the database exclusively and merge its log. An unreadable database needs no lock."""
    with closing(sqlite3.connect(database, timeout=0, isolation_level=None)) as held:
        try:
            held.execute("PRAGMA journal_mode=DELETE")  # refused while somebody else has it open
            held.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                raise BackupError(f"{database} is in use: stop the servers that use it, then restore again.") from error
            if error.sqlite_errorcode not in DAMAGED:
                raise
        yield
