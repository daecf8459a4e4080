"""The file of a backup: what is not whole, not of this database or not of a known version is refused before anything is done."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest
from django.db import connection

from playground.storage.backups.archive import BackupError, Manifest, new_file, pack, read_manifest, unpack
from playground.storage.backups.copies import restore

COPY = Random(7).randbytes(20_000)
MINE = Manifest(connection.vendor, "0.0.1", ("playground.0001_initial",))


def archive(folder: Path, manifest: Manifest = MINE) -> Path:
    (folder / "copy").write_bytes(COPY)
    pack(folder / "backup", manifest, folder / "copy")
    return folder / "backup"


def test_what_was_packed_is_unpacked(tmp_path: Path) -> None:
    file = archive(tmp_path)
    unpack(file, tmp_path / "unpacked")
    assert (read_manifest(file), (tmp_path / "unpacked").read_bytes()) == (MINE, COPY)


@pytest.mark.parametrize("kept", [0, 1, 100, 10_000, -1])
def test_a_file_that_was_cut_off_is_refused(tmp_path: Path, kept: int) -> None:
    file = archive(tmp_path)
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(BackupError, match="expected a whole file"):
        restore(file, force=True)


def test_no_changed_byte_of_the_copy_goes_unnoticed(tmp_path: Path) -> None:
    file = archive(tmp_path)
    whole, random = file.read_bytes(), Random(11)
    for _ in range(200):
        place = random.randrange(len(whole))
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << random.randrange(8)]) + whole[place + 1 :])
        try:
            unpack(file, tmp_path / "unpacked")
        except BackupError:
            continue
        assert (tmp_path / "unpacked").read_bytes() == COPY, place


def test_a_backup_of_another_kind_of_database_is_refused(tmp_path: Path) -> None:
    file = archive(tmp_path, Manifest("oracle", "0.0.1", MINE.migrations))
    with pytest.raises(BackupError, match=f"expected a backup of {connection.vendor}, received one of oracle"):
        restore(file, force=True)


def test_a_backup_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    file = archive(tmp_path, Manifest(connection.vendor, "9.0.0", ("playground.9999_later",)))
    with pytest.raises(BackupError, match="does not know the migrations playground"):
        restore(file, force=True)


def test_a_file_that_was_not_finished_leaves_the_one_before(tmp_path: Path) -> None:
    (place := tmp_path / "backup").write_text("before")

    def write() -> None:
        with new_file(place) as file:
            file.write_text("half")
            raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        write()
    assert (place.read_text(), os.listdir(tmp_path)) == ("before", ["backup"])
