"""PostgreSQL's tables are replaced in one transaction, or stay as they were."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dj_database_url
import psycopg
import pytest
from django.db import ConnectionHandler
from pytest_django import DjangoDbBlocker

from playground.storage.backups import postgresql as room
from playground.storage.backups.archive import BackupError
from playground.storage.backups.postgresql import dump, load
from tests.faults.postgresql import PostgreSQL

SETTINGS = {"ENGINE": "playground.storage.postgresql"}


class Database:
    """A database of its own, with sessions' numbers in a table of the playground and words in one of somebody else's."""

    def __init__(self, server: PostgreSQL) -> None:
        self._server = server
        count = server.ask("SELECT count(*) FROM pg_database")[0][0]
        self.url = server.make_database(f"kept_{count}")
        self._name = f"kept_{count}"
        self.ask("CREATE TABLE playground_session (id int)")
        self.ask("CREATE TABLE words (word text)")

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        return self._server.ask(query, database=self._name)

    def sessions(self) -> list[tuple[Any, ...]]:
        return self.ask("SELECT count(*), max(id) FROM playground_session")


@pytest.fixture
def database(
    postgresql: PostgreSQL, monkeypatch: pytest.MonkeyPatch, django_db_blocker: DjangoDbBlocker
) -> Iterator[Database]:
    made = Database(postgresql)
    connection = ConnectionHandler({"default": {**dj_database_url.parse(made.url), **SETTINGS}})["default"]
    monkeypatch.setattr(room, "connection", connection)
    with django_db_blocker.unblock():
        yield made
        connection.close()


@pytest.fixture
def copy(database: Database, tmp_path: Path) -> Path:
    """What there was of 5,000 sessions, of which there are more meanwhile."""
    database.ask("INSERT INTO playground_session SELECT generate_series(1, 5000)")
    dump(tmp_path / "copy")
    database.ask("INSERT INTO playground_session VALUES (5001)")
    database.ask("INSERT INTO words VALUES ('somebody else wrote')")
    return tmp_path / "copy"


def test_the_playgrounds_tables_are_replaced_and_no_others(database: Database, copy: Path) -> None:
    load(lambda file: shutil.copy(copy, file))
    assert database.sessions() == [(5000, 5000)]
    assert database.ask("SELECT * FROM words") == [("somebody else wrote",)]


@pytest.mark.parametrize("kept", [10, 0.5, 0.9])
def test_a_copy_that_was_cut_off_changes_nothing(database: Database, copy: Path, kept: float) -> None:
    whole = copy.read_bytes()
    size = int(kept if kept > 1 else len(whole) * kept)
    with pytest.raises(BackupError, match="pg_restore failed: pg_restore: error"):
        load(lambda file: file.write_bytes(whole[:size]))
    assert database.sessions() == [(5001, 5001)]


def test_a_database_that_others_use_is_left_alone(database: Database, copy: Path) -> None:
    with psycopg.connect(database.url), pytest.raises(BackupError, match="in use by 1 other connection: stop"):
        load(lambda file: shutil.copy(copy, file))
    assert database.sessions() == [(5001, 5001)]


def test_a_program_that_is_missing_is_named(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BackupError, match=r"pg_dump is missing on PATH: install .*postgresql-client"):
        dump(tmp_path / "copy")


def test_the_password_stands_in_no_list_of_processes(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, seen = subprocess.run, []

    def noting(command: list[str], env: dict[str, str], **more: Any) -> Any:
        seen.append((command, env))
        return run(command, env=env, **more)

    monkeypatch.setattr(subprocess, "run", noting)
    monkeypatch.setitem(room.connection.settings_dict, "PASSWORD", "open sesame")
    dump(tmp_path / "copy")
    ((command, environment),) = seen
    assert environment["PGPASSWORD"] == "open sesame"
    assert not [word for word in command if "sesame" in word]
