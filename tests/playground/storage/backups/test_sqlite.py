"""A SQLite database is replaced in one step, or stays as it was."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import DjangoDbBlocker

from playground.storage.backups.archive import BackupError, Manifest, pack
from playground.storage.backups.sqlite import load


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database that says old, with a log beside it, as a server that was killed leaves it."""
    if connection.vendor != "sqlite":
        pytest.skip("the tests run on another database")
    (folder := tmp_path / "data").mkdir()
    path = tmp_path / "running.sqlite3"
    with closing(written(path, "old")) as running:
        running.execute("PRAGMA journal_mode=WAL")
        running.execute("UPDATE words SET word = 'older'")
        running.commit()
        for end in ("", "-wal", "-shm"):
            shutil.copy(f"{path}{end}", folder / f"kept.sqlite3{end}")
    monkeypatch.setitem(connection.settings_dict, "NAME", str(folder / "kept.sqlite3"))
    return folder / "kept.sqlite3"


def written(path: Path, word: str) -> sqlite3.Connection:
    made = sqlite3.connect(path)
    made.execute("CREATE TABLE words (word)")
    made.execute("INSERT INTO words VALUES (?)", [word])
    made.commit()
    return made


def new(copy: Path) -> None:
    written(copy, "new").close()


def word_in(path: Path) -> str:
    with closing(sqlite3.connect(path)) as opened:
        return opened.execute("SELECT word FROM words").fetchone()[0]


def test_the_old_one_goes_with_what_lay_beside_it(database: Path) -> None:
    load(new)
    assert [path.name for path in database.parent.iterdir()] == [database.name]
    assert word_in(database) == "new"


def test_what_cannot_be_read_any_more_is_replaced(database: Path) -> None:
    database.write_bytes(b"no database at all " * 500)
    load(new)
    assert [path.name for path in database.parent.iterdir()] == [database.name]
    assert word_in(database) == "new"


def test_whoever_could_read_the_old_one_can_read_the_new_one(database: Path) -> None:
    database.chmod(0o640)
    load(new)
    assert database.stat().st_mode & 0o777 == 0o640


def fails_half_way(copy: Path) -> None:
    copy.write_bytes(b"SQLite format 3\0")
    raise BackupError("half")


def damaged(copy: Path) -> None:
    new(copy)
    copy.write_bytes(copy.read_bytes()[:4096])


@pytest.mark.parametrize("unpack", [fails_half_way, damaged])
def test_a_copy_that_is_no_good_changes_nothing(database: Path, unpack) -> None:
    with pytest.raises(BackupError):
        load(unpack)
    assert [path.name for path in database.parent.iterdir()] == [database.name]
    assert word_in(database) == "older"


def test_a_database_in_use_is_left_alone(database: Path) -> None:
    with closing(sqlite3.connect(database)) as other:
        other.execute("SELECT word FROM words").fetchall()
        with pytest.raises(BackupError, match="is in use: stop the servers"):
            load(new)
    assert word_in(database) == "older"


@pytest.fixture
def commands(database: Path, django_db_blocker: DjangoDbBlocker) -> Iterator[Path]:
    """The same, for commands of this process."""
    connection.close()
    with django_db_blocker.unblock():
        yield database
        connection.close()


def test_a_database_that_cannot_be_read_is_not_backed_up(commands: Path, tmp_path: Path) -> None:
    commands.write_bytes(b"no database at all " * 500)
    (file := tmp_path / "backup").write_text("of yesterday")
    with pytest.raises(CommandError, match=r"No backup was made: file is not a database"):
        call_command("backup", file)
    assert file.read_text() == "of yesterday"
    assert not list(tmp_path.glob(".*"))


def test_a_database_that_cannot_be_read_may_hold_sessions(commands: Path, tmp_path: Path) -> None:
    new(tmp_path / "copy")
    pack(tmp_path / "backup", Manifest("sqlite", "0.0.1", ()), tmp_path / "copy")
    commands.write_bytes(b"no database at all " * 500)
    with pytest.raises(CommandError, match="so there may be sessions in it"):
        call_command("restore", tmp_path / "backup")
    assert commands.read_bytes().startswith(b"no database")


def test_sessions_are_not_overwritten_unless_that_is_said(commands: Path, tmp_path: Path) -> None:
    new(tmp_path / "copy")
    pack(tmp_path / "backup", Manifest("sqlite", "0.0.1", ()), tmp_path / "copy")
    with closing(sqlite3.connect(commands)) as opened:
        opened.execute("CREATE TABLE playground_session (id)")
        opened.execute("INSERT INTO playground_session VALUES (1)")
        opened.commit()
    with pytest.raises(CommandError, match="holds 1 session, which would be lost"):
        call_command("restore", tmp_path / "backup")
    assert word_in(commands) == "older"
    call_command("restore", tmp_path / "backup", "--force")
    assert word_in(commands) == "new"


def test_a_backup_of_an_older_version_asks_for_its_migrations(
    commands: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new(tmp_path / "copy")
    pack(tmp_path / "backup", Manifest("sqlite", "0.0.1", ("playground.0001_initial",)), tmp_path / "copy")
    call_command("restore", tmp_path / "backup")
    assert "run `manage.py migrate`" in capsys.readouterr().out
    assert word_in(commands) == "new"


def test_there_is_nothing_to_back_up_without_tables(commands: Path, tmp_path: Path) -> None:
    commands.unlink()
    with pytest.raises(CommandError, match="There is nothing to back up"):
        call_command("backup", tmp_path / "backup")
