"""A server that hangs, as the installed psycopg meets it: whoever waits for it is let go, and nobody else."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from playground.storage.postgresql.base import Watch
from playground.storage.postgresql.outage import OUTAGE, Limits
from tests.faults.postgresql import PostgreSQL, a_postgresql


@pytest.fixture(scope="module")
def server() -> Iterator[PostgreSQL]:
    with a_postgresql() as server:
        yield server


@pytest.fixture(autouse=True)
def _limited(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(Limits, "statement", 1)
    yield
    OUTAGE.end()


@pytest.mark.parametrize("what", ["a statement", "a commit", "a rollback"])
def test_who_waits_for_a_server_that_hangs_is_let_go(server: PostgreSQL, what: str) -> None:
    watch, distrusted = Watch(), OUTAGE.distrusted
    connection = psycopg.connect(server.url)
    connection.execute("CREATE TEMPORARY TABLE t (n int)")
    waits = {
        "a statement": lambda: connection.execute("SELECT 1"),
        "a commit": connection.commit,
        "a rollback": connection.rollback,
    }
    server.freeze()
    try:
        with pytest.raises(psycopg.OperationalError), watch.over(connection):
            waits[what]()
    finally:
        server.resume()
    assert connection.closed
    assert OUTAGE.distrusted == distrusted + 1


def test_who_is_answered_is_left_alone(server: PostgreSQL) -> None:
    watch = Watch()
    with psycopg.connect(server.url, autocommit=True) as connection:
        for _ in range(6):  # together longer than one of them may take
            with watch.over(connection):
                connection.execute("SELECT pg_sleep(0.4)")
        assert not connection.closed
