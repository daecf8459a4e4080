"""SQLite: a copy of the file as it is at one moment, and its replacement by a copy."""

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
    """Copy the database in one go: what others write meanwhile waits in its log, and none of it is in the copy."""
    connection.ensure_connection()
    with closing(sqlite3.connect(copy)) as target:
        connection.connection.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")  # so that it is one file
    _check(copy)


def load(unpack: Callable[[Path], None]) -> None:
    """Put the copy that `unpack` writes in the place of the database, in one step.

    What lies beside the old one goes first: SQLite would take its log for the new one's.
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
    """Raises BackupError for a database that SQLite itself finds fault with."""
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
    """Nobody else uses the database, and what its log holds is in it. One that can't be read at all is nobody's."""
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
