"""Redis goes away under two servers that share their sessions, and comes back."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.server import PlaygroundServer
from tests.faults.redis import Redis, a_redis
from tests.faults.servers import serving
from tests.faults.visitor import Visitor
from tests.playground.sessions.wire import Wire

Servers = tuple[PlaygroundServer, PlaygroundServer]
# Seconds after which viewers of the other server are level again, once Redis is back.
LEVEL = 3.0


@pytest.fixture(scope="module")
def only_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    with a_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, only_redis: Redis) -> Iterator[Servers]:
    """Two servers on one database."""
    with serving(tmp_path_factory.mktemp("servers"), 2, REDIS_URL=only_redis.url) as (one, two):
        yield one, two


@pytest.fixture
def redis(only_redis: Redis) -> Iterator[Redis]:
    """The same; it runs again afterwards."""
    yield only_redis
    only_redis.resume()
    if not only_redis.runs:
        only_redis.start()


def looking(server: PlaygroundServer, key: str) -> tuple[Wire, dict[str, Any]]:
    """A viewer of a session, and the first delta that it got."""
    wire = Wire(server.url, key)
    wire.send({"type": "look", "look": {}, "seen": None})
    return wire, wire.until(lambda message: message["type"] == "delta")


def reaches(position: int) -> Callable[[dict[str, Any]], bool]:
    return lambda message: message["type"] == "delta" and message["seq"] >= position


def rests(message: dict[str, Any]) -> bool:
    return message["type"] == "delta" and message["running"] is None


def head_of(server: PlaygroundServer, key: str) -> int:
    database = Path(server.environment["DATA_DIR"]) / "playground.sqlite3"
    with contextlib.closing(sqlite3.connect(database)) as connection:
        query = "select head from playground_session where edit_key = ?"
        return int(connection.execute(query, (key,)).fetchone()[0])


def played_on_one(servers: Servers) -> tuple[str, Wire, Wire]:
    """A session that plays on the first server, with a viewer on each."""
    key = Visitor(servers[0].url).new_session()
    first, seen = looking(servers[0], key)
    second, _ = looking(servers[1], key)
    first.send({"type": "play", "grain": "call", "rate": 5})
    second.until(lambda message: message["type"] == "delta" and message["seq"] > seen["seq"] + 3)
    return key, first, second


@pytest.mark.parametrize("how", ["restart", "kill"])
def test_viewers_of_the_other_server_are_level_again_after_a_restart(both: Servers, redis: Redis, how: str) -> None:
    key, first, second = played_on_one(both)
    getattr(redis, how)()
    if how == "kill":
        time.sleep(1)
        redis.start()
    head = head_of(both[0], key)
    second.until(reaches(head), timeout=LEVEL)
    second.until(reaches(head + 10))  # and stay so
    second.send({"type": "pause"})
    rest = first.until(rests)
    second.until(lambda message: rests(message) and message["seq"] == rest["seq"])
    time.sleep(1)
    assert head_of(both[0], key) == rest["seq"]


def test_what_was_done_while_it_was_away_is_seen_on_the_other_server(both: Servers, redis: Redis) -> None:
    key = Visitor(both[0].url).new_session()
    first, seen = looking(both[0], key)
    second, _ = looking(both[1], key)
    redis.stop()
    first.send({"type": "step", "grain": "call"})
    first.until(reaches(seen["seq"] + 1))
    redis.start()
    second.until(reaches(seen["seq"] + 1), timeout=LEVEL)
    first.send({"type": "step", "grain": "call"})
    second.until(reaches(seen["seq"] + 2), timeout=LEVEL)


def test_a_play_is_paused_and_a_session_deleted_from_the_other_server_while_it_is_away(
    both: Servers, redis: Redis
) -> None:
    key, first, second = played_on_one(both)
    redis.stop()
    time.sleep(1)
    second.send({"type": "pause"})
    rest = first.until(rests, timeout=8)
    time.sleep(1)
    assert head_of(both[0], key) == rest["seq"]
    assert Visitor(both[1].url).post(f"/s/{key}/delete", {}).status == 200
    assert first.until(lambda message: message["type"] == "gone", timeout=LEVEL)


def test_a_server_serves_its_own_while_it_is_away(both: Servers, redis: Redis) -> None:
    redis.stop()
    began = time.monotonic()
    visitor = Visitor(both[0].url)
    key = visitor.new_session()
    assert visitor.get(f"/s/{key}/").status == 200
    wire, seen = looking(both[0], key)
    wire.send({"type": "step", "grain": "call"})
    wire.until(reaches(seen["seq"] + 1))
    wire.send({"type": "play", "grain": "call", "rate": 20})
    wire.until(reaches(seen["seq"] + 5))
    wire.send({"type": "pause"})
    wire.until(rests)
    assert time.monotonic() - began < 5
    health = visitor.get("/healthz")
    assert (health.status, json.loads(health.text)) == (200, {"ok": True, "redis": False})
    redis.start()
    time.sleep(LEVEL)
    assert json.loads(visitor.get("/healthz").text) == {"ok": True, "redis": True}
    second, _ = looking(both[1], key)
    wire.send({"type": "step", "grain": "call"})
    stepped = wire.until(lambda message: message["type"] == "delta" and message["seq"] > seen["seq"] + 5)
    second.until(reaches(stepped["seq"]), timeout=LEVEL)


def test_one_that_hangs_holds_nobody(both: Servers, redis: Redis) -> None:
    key, first, second = played_on_one(both)
    redis.freeze()
    began = time.monotonic()
    visitor = Visitor(both[1].url)
    other = visitor.new_session()
    assert visitor.get(f"/s/{other}/").status == visitor.get(f"/s/{key}/").status == 200
    assert time.monotonic() - began < 5
    time.sleep(3)
    second.until(reaches(head_of(both[0], key)), timeout=LEVEL)  # the log is read meanwhile
    redis.resume()
    first.send({"type": "pause"})
    rest = first.until(rests)
    second.until(lambda message: rests(message) and message["seq"] == rest["seq"], timeout=LEVEL)
