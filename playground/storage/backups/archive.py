"""A backup file: a zip with a manifest and the database's own copy.

The checksums of the zip detect a damaged file before it is used, and any unzip program extracts the copy.
"""

import os
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec

MANIFEST, COPY = "backup.json", "database"
DAMAGES = (zipfile.BadZipFile, zlib.error, msgspec.MsgspecError, EOFError, KeyError, NotImplementedError, RuntimeError)


class BackupError(Exception):
    """An error of a backup or a restore, without any change. The message has the reason and the remedy."""


class Manifest(msgspec.Struct, frozen=True):
    """The source of a backup: the kind of database, the playground's version, the migrations that had been applied."""

    database: str
    version: str
    migrations: tuple[str, ...]


@contextmanager
def new_file(place: Path) -> Iterator[Path]:
    """Provide an empty file that atomically becomes `place` at the end. After an error, nothing has changed.

    Only its owner may read it, because backups and databases hold the keys of sessions.
    """
    with NamedTemporaryFile(dir=place.parent, prefix=f".{place.name}-", delete=False) as file:
        path = Path(file.name)
    try:
        yield path
        _sync(path)
        path.replace(place)
        _sync(place.parent)
    finally:
        path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def pack(file: Path, manifest: Manifest, copy: Path) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(MANIFEST, msgspec.json.encode(manifest))
        archive.write(copy, COPY)


def read_manifest(file: Path) -> Manifest:
    """Return the manifest of a backup. Raise BackupError for a file that is no backup."""
    with _open_archive(file) as archive:
        return msgspec.json.decode(archive.read(MANIFEST), type=Manifest)


def unpack(file: Path, copy: Path) -> None:
    """Write the database's copy of a backup to a file. Raises BackupError where it is damaged; the file is then of no use."""
    with _open_archive(file) as archive, archive.open(COPY) as packed, copy.open("wb") as target:
        shutil.copyfileobj(packed, target, 1 << 20)


@contextmanager
def _open_archive(file: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except DAMAGES as error:
        raise BackupError(
            f"{file} can't be restored: expected a whole file as `manage.py backup` writes it, but: {error}."
        ) from error
