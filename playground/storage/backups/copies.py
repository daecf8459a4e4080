"""Backup and restore of this installation's database."""

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from django.db import DatabaseError, Error, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from playground import VERSION
from playground.models import Session
from playground.storage.backups import postgresql, sqlite
from playground.storage.backups.archive import BackupError, Manifest, new_file, pack, read_manifest, unpack

# What either may raise: the reasons of ours, of files, and of databases.
FAILURES = (BackupError, OSError, Error, sqlite3.Error)


class Kind(Protocol):
    """The interface of each kind of database."""

    def dump(self, copy: Path) -> None:
        """Write a consistent snapshot of the database to a file while others may write."""

    def load(self, unpack: Callable[[Path], None]) -> None:
        """Have a copy written to a file, and put it in the place of the database: whole, or not at all."""


KINDS: dict[str, Kind] = {"sqlite": sqlite, "postgresql": postgresql}


def back_up(file: Path) -> None:
    """Write a backup; a file of that name is replaced once the new one is whole. Raises FAILURES."""
    migrations = MigrationRecorder(connection).applied_migrations()
    manifest = Manifest(connection.vendor, VERSION, tuple(sorted(map(".".join, migrations))))
    if not manifest.migrations:
        raise BackupError("There is nothing to back up: the database has no tables.")
    with new_file(file) as archive, TemporaryDirectory(dir=file.parent, prefix=".backup-") as folder:
        copy = Path(folder) / "database"
        KINDS[connection.vendor].dump(copy)
        pack(archive, manifest, copy)


def restore(file: Path, force: bool = False) -> bool:
    """Replace the database by a backup. Return whether migrations must be applied before use.

    Raise FAILURES, with nothing changed; BackupError for a file that is damaged, of another kind, or of a newer version, for a database
    in use, and for one with sessions if `force` is not given.
    """
    manifest = read_manifest(file)
    migrations = MigrationLoader(None).disk_migrations or {}
    known = {".".join(name) for key, one in migrations.items() for name in (key, *one.replaces)}
    # A backup is restored to the kind of database it is of, by a version that knows all its migrations.
    if manifest.database != connection.vendor:
        raise BackupError(
            f"{file} can't be restored here: expected a backup of {connection.vendor}, received one of {manifest.database}. "
            "DATABASE_URL says which database is meant."
        )
    if unknown := sorted(set(manifest.migrations) - known):
        raise BackupError(
            f"{file} was written by version {manifest.version}, this is {VERSION}, which does not know the migrations "
            f"{', '.join(unknown)}: restore it with that version or a later one."
        )
    if not force:
        _refuse_to_overwrite()
    KINDS[connection.vendor].load(partial(unpack, file))
    return bool(known - set(manifest.migrations))


def _refuse_to_overwrite() -> None:
    """Raise BackupError if sessions would or might be lost."""
    try:
        tables = connection.introspection.table_names()
        count = Session.objects.count() if Session._meta.db_table in tables else 0
    except DatabaseError as error:
        raise BackupError(
            f"The database can't be read ({error}), so there may be sessions in it: `restore --force` replaces it all the same."
        ) from error
    if count:
        raise BackupError(
            f"The database holds {count} session{'s' * (count > 1)}, which would be lost: back it up, then `restore --force` replaces it."
        )
