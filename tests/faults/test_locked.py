"""Another program holds SQLite's write lock: reading goes on, and a change is refused in words after one wait."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.browser.server import PlaygroundServer
from tests.faults.servers import serving
from tests.faults.test_disk import until
from tests.faults.visitor import Visitor
from tests.playground.sessions.wire import Wire

WAIT = 10  # seconds that this server waits for its database
WORDS = "Another program is writing to the database"
PAGES = ("", "objects", "yaml", "session", "records", "commands", "branches", "export.jsonl")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PlaygroundServer]:
    with serving(tmp_path, DATABASE_WAIT_SECONDS=str(WAIT)) as (server,):
        yield server


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Somebody has begun to write, and does not end."""
    connection = sqlite3.connect(folder / "playground.sqlite3", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


def test_reading_waits_for_nobody_and_a_write_waits_once(server: PlaygroundServer, tmp_path: Path) -> None:
    visitor, stranger = Visitor(server.url), Visitor(server.url)  # who was here, and who was not
    keys = [visitor.new_session() for _ in range(8)]
    server.stop()
    server.start()  # what is looked at has to be opened from the log
    wire = Wire(server.url, keys[0])
    wire.send({"type": "look", "look": {}, "seen": None})
    head = wire.shown()["head"]
    with locked(tmp_path), ThreadPoolExecutor(16) as threads:
        began = time.monotonic()
        health = visitor.get("/healthz")
        assert (health.status, json.loads(health.text)["ok"]) == (503, False)
        assert WORDS in json.loads(health.text)["error"]
        assert time.monotonic() - began < WAIT, "a probe does not wait"

        step = threads.submit(visitor.post, f"/s/{keys[0]}/step", {"grain": "call"})
        steps = [threads.submit(visitor.post, f"/s/{key}/step", {"grain": "call"}) for key in [*keys, *keys]]
        pages = [stranger.get(f"/s/{keys[1]}/{page}") for page in PAGES] + [stranger.get("/")]
        assert [page.status for page in pages] == [200] * len(pages)
        answers = [each.result() for each in [step, *steps]]
        assert time.monotonic() - began < len(answers) * WAIT / 2, "they wait side by side"
        assert {answer.status for answer in answers} == {503}
        assert all(WORDS in answer.text and answer.headers["Retry-After"] for answer in answers)

        began = time.monotonic()
        wire.send({"type": "step", "grain": "call"})
        error = wire.until(lambda message: message["type"] == "error")
        assert (error["kind"], WORDS in error["message"]) == ("unavailable", True)
        assert visitor.post("/new", {"start": "empty"}).status == 503
        assert time.monotonic() - began < 2 * WAIT, "once it is known, nobody waits"

    until(lambda: visitor.get("/healthz"), lambda answer: answer.status == 200)
    wire.send({"type": "step", "grain": "call"})
    assert wire.until(lambda message: message["type"] == "delta" and message["head"] > head)["head"] == head + 1


def test_who_writes_waits_for_a_short_lock(server: PlaygroundServer, tmp_path: Path) -> None:
    visitor = Visitor(server.url)
    key = visitor.new_session()
    with ThreadPoolExecutor(1) as threads:
        with locked(tmp_path):
            step = threads.submit(visitor.send, f"/s/{key}/step", {"grain": "call"})
            time.sleep(1)
            assert not step.done()
        assert step.result().status == 302
