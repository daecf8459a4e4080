"""An outage: a short one is waited for, in a longer one everybody is refused at once, and one connection ends it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from playground.storage.postgresql import outage
from playground.storage.postgresql.outage import DatabaseAway, Outage, impatient, in_time


class Made:
    """A connection."""

    closed = False

    def close(self) -> None:
        self.closed = True


class Database:
    """Takes connections, or does not; `tries` counts who came."""

    def __init__(self, up: bool = True) -> None:
        self.up = up
        self.tries = 0

    def connect(self) -> Made:
        self.tries += 1
        if not self.up:
            raise psycopg.OperationalError("refused")
        return Made()


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """An outage of 0.4 s is waited for, and an attempt takes 0.2 s at most."""
    settings.DATABASE_WAIT_SECONDS = 0.4
    monkeypatch.setattr(outage, "PAUSE", 0.05)
    monkeypatch.setattr(outage, "ATTEMPT", 0.2)


def seconds(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def refused(away: Outage, database: Database) -> None:
    with pytest.raises(DatabaseAway):
        away.connect(database.connect)


def test_a_short_outage_is_waited_for() -> None:
    away, database = Outage(), Database(up=False)
    threading.Timer(0.15, lambda: setattr(database, "up", True)).start()
    assert seconds(lambda: away.connect(database.connect)) > 0.1
    assert not away.on


def test_who_comes_later_waits_no_longer_than_the_first() -> None:
    away, database = Outage(), Database(up=False)
    assert 0.35 < seconds(lambda: refused(away, database)) < 1
    assert seconds(lambda: refused(away, database)) < 0.3


def test_in_a_longer_outage_only_now_and_then_somebody_tries() -> None:
    away, database = Outage(), Database(up=False)
    refused(away, database)
    before = database.tries
    took = seconds(lambda: [refused(away, database) for _ in range(50)])
    assert database.tries - before <= took / 0.05 + 1


def test_the_first_connection_ends_it_for_all() -> None:
    away, database = Outage(), Database(up=False)
    refused(away, database)
    database.up = True
    time.sleep(0.06)
    away.connect(database.connect)
    assert not away.on
    database.up = False
    assert seconds(lambda: refused(away, database)) > 0.35, "the next one is a new one"


def test_who_is_impatient_is_refused_at_once() -> None:
    away, database = Outage(), Database(up=False)
    with impatient():
        assert seconds(lambda: refused(away, database)) < 0.2
    assert database.tries == 1


def test_looking_up_a_name_for_ever_holds_nobody() -> None:
    away, found = Outage(), threading.Event()
    made = Made()

    def look_up() -> Made:
        found.wait(10)
        return made

    def ask() -> None:
        with pytest.raises(DatabaseAway):
            away.connect(look_up)

    assert seconds(ask) < 2
    threads = threading.active_count()
    for _ in range(5):
        ask()
    assert threading.active_count() <= threads + 1, "who still looks is not joined by others"
    found.set()


def test_a_connection_that_comes_too_late_is_closed() -> None:
    found, done, made = threading.Event(), threading.Event(), Made()

    def connect() -> Made:
        found.wait(10)
        return made

    with pytest.raises(TimeoutError):
        in_time(connect, done.set)
    found.set()
    done.wait(5)
    deadline = time.monotonic() + 5
    while not made.closed and time.monotonic() < deadline:
        time.sleep(0.01)
    assert made.closed
