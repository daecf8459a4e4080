"""Installations whose database can be backed up and restored: SQLite, and PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser.server import PlaygroundServer
from tests.faults.postgresql import PostgreSQL, a_postgresql

Installations = Callable[[], PlaygroundServer]


@pytest.fixture(scope="module")
def postgresql() -> Iterator[PostgreSQL]:
    with a_postgresql() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def installation(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Installations]:
    """Makes installations, each with an empty database of its own; their servers are stopped at the end."""
    made: list[PlaygroundServer] = []

    def make() -> PlaygroundServer:
        (folder := tmp_path / f"installation-{len(made)}").mkdir()
        url = f"sqlite:///{folder / 'playground.sqlite3'}"
        if request.param == "postgresql":
            server = request.getfixturevalue("postgresql")
            databases = server.ask("SELECT count(*) FROM pg_database")[0][0]
            url = server.make_database(f"installation_{databases}")
        workers = {"ENGINE_WORKERS": "1", "ENGINE_HEAVY_WORKERS": "1"}
        made.append(PlaygroundServer(folder, DATABASE_URL=url, **workers))
        return made[-1]

    yield make
    for each in made:
        each.stop()
