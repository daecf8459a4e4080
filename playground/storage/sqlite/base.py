"""The database backend: Django's, but a database on a full disk is opened read-only."""

import contextlib
import logging
import sqlite3
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.db.backends.sqlite3 import base

# What SQLite says of a disk that is full, over a quota, broken or read-only; the lowest byte of its codes tells.
UNWRITTEN = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
PRIMARY = 0xFF

log = logging.getLogger(__name__)


class DatabaseWrapper(base.DatabaseWrapper):
    """A thread's way to the database."""

    _only_to_read = False

    def get_new_connection(self, conn_params: dict[str, Any]) -> sqlite3.Connection:
        """Connect, read-only if the files beside the database (-wal, -shm) can't be created."""
        self._only_to_read = False
        try:
            return super().get_new_connection(conn_params)  # type: ignore[no-any-return]
        except sqlite3.OperationalError as error:
            file = Path(conn_params["database"])
            if error.sqlite_errorcode & PRIMARY not in UNWRITTEN or not _is_whole(file):
                raise
            log.warning("the database can only be read: %s", error)
        self._only_to_read = True
        # An immutable database needs no locks and no files beside it; it is safe here, as nothing is left in the log.
        read = {**conn_params, "database": f"file:{quote(str(file.absolute()))}?immutable=1", "uri": True}
        return super().get_new_connection(read)  # type: ignore[no-any-return]

    def connect(self) -> None:
        """Connect like Django; a read-only connection is closed after use, as there may be space for a writable one soon."""
        super().connect()
        if self._only_to_read:
            self.close_at = time.monotonic()


def _is_whole(file: Path) -> bool:
    """Return True if the file alone holds all confirmed data: the log beside it is empty."""
    with contextlib.suppress(FileNotFoundError):
        return file.with_name(f"{file.name}-wal").stat().st_size == 0
    return file.is_file()
