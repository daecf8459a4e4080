"""Two servers on one database, which tell each other by a real Redis what happens in a session."""

from __future__ import annotations

import contextlib
import sqlite3
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.server import PlaygroundServer
from tests.faults.redis import Redis, a_redis
from tests.faults.servers import serving
from tests.playground.sessions.web.test_server import new_session
from tests.playground.sessions.wire import Wire

Servers = tuple[PlaygroundServer, PlaygroundServer]


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    with a_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory, redis: Redis) -> Iterator[Servers]:
    """Two servers that the tests of this module share."""
    with serving(tmp_path_factory.mktemp("servers"), 2, REDIS_URL=redis.url) as (one, two):
        yield one, two


@pytest.fixture
def own_servers(tmp_path: Path, redis: Redis) -> Iterator[Servers]:
    """Two servers of the test's own: it may kill them."""
    with serving(tmp_path, 2, REDIS_URL=redis.url) as (one, two):
        yield one, two


def opened(server: PlaygroundServer, key: str) -> tuple[Wire, dict[str, Any]]:
    """A viewer of a session, and the delta that it got first."""
    wire = Wire(server.url, key)
    wire.send({"type": "look", "look": {}, "seen": None})
    return wire, wire.until(lambda message: message["type"] == "delta")


def row(server: PlaygroundServer, key: str, columns: str) -> tuple[Any, ...]:
    """Columns of a session in the database."""
    database = Path(server.environment["DATA_DIR"]) / "playground.sqlite3"
    with contextlib.closing(sqlite3.connect(database)) as connection:
        found: tuple[Any, ...] = connection.execute(
            f"select {columns} from playground_session where edit_key = ?", (key,)
        ).fetchone()
    return found


def reaches(position: int) -> Any:
    return lambda message: message["type"] == "delta" and message["seq"] >= position


def plays(message: dict[str, Any]) -> bool:
    return message["type"] == "delta" and bool(message["running"])


def rests(message: dict[str, Any]) -> bool:
    return message["type"] == "delta" and message["running"] is None


def test_a_step_on_one_server_reaches_a_viewer_of_the_other(servers: Servers) -> None:
    key = new_session(servers[0])
    first, seen = opened(servers[0], key)
    second, _ = opened(servers[1], key)
    first.send({"type": "step", "grain": "point"})
    stepped = first.until(reaches(seen["seq"] + 1))
    shown = second.until(reaches(stepped["seq"]))
    assert (shown["seq"], shown["html"]) == (stepped["seq"], stepped["html"])


def test_servers_that_step_in_turn_continue_each_other(servers: Servers) -> None:
    key = new_session(servers[0])
    wires = [opened(server, key)[0] for server in servers]
    (head,) = row(servers[0], key, "head")
    for number in range(1, 9):
        wires[number % 2].send({"type": "step", "grain": "call"})
        wires[number % 2].until(reaches(head + number))
    assert row(servers[0], key, "head") == (head + 8,)


def test_a_page_of_one_server_shows_at_once_what_a_form_of_the_other_did(servers: Servers) -> None:
    key = new_session(servers[0])
    second, seen = opened(servers[1], key)
    first, _ = opened(servers[0], key)
    for number in range(1, 6):
        first.send({"type": "step", "grain": "call"})
        first.until(reaches(seen["seq"] + number))
        page = urllib.request.urlopen(f"{servers[1].url}/s/{key}/").read().decode()
        assert f'data-seen="{seen["seq"] + number}"' in page
    second.until(reaches(seen["seq"] + 5))


def test_a_play_asked_for_on_both_servers_is_driven_by_one(servers: Servers) -> None:
    key = new_session(servers[0])
    first, seen = opened(servers[0], key)
    second, _ = opened(servers[1], key)
    first.send({"type": "play", "grain": "call", "rate": 5})
    second.until(plays)
    (driver,) = row(servers[0], key, "driver")
    second.send({"type": "play", "grain": "call", "rate": 10})
    first.until(lambda message: plays(message) and message["running"]["rate"] == 10)
    (later,) = row(servers[0], key, "driver")
    began, head = time.monotonic(), row(servers[0], key, "head")[0]
    second.until(reaches(head + 20))
    assert driver and later and driver != later
    assert time.monotonic() - began > 1.5
    assert head > seen["seq"]


def test_one_server_pauses_what_the_other_plays(servers: Servers) -> None:
    key = new_session(servers[0])
    first, _ = opened(servers[0], key)
    second, _ = opened(servers[1], key)
    first.send({"type": "play", "grain": "call", "rate": 10})
    second.until(plays)
    second.send({"type": "pause"})
    stopped = first.until(rests)
    second.until(lambda message: rests(message) and message["seq"] == stopped["seq"])
    assert row(servers[0], key, "head, driver") == (stopped["seq"], "")


def test_when_the_server_that_plays_is_killed_the_other_goes_on_at_the_same_step(own_servers: Servers) -> None:
    key = new_session(own_servers[0])
    first, seen = opened(own_servers[0], key)
    second, _ = opened(own_servers[1], key)
    first.send({"type": "play", "grain": "call", "rate": 10})
    shown = second.until(lambda message: plays(message) and message["seq"] > seen["seq"] + 5)
    own_servers[0].kill()
    (head,) = row(own_servers[1], key, "head")
    assert head >= shown["seq"]
    second.send({"type": "step", "grain": "call"})
    stepped = second.until(lambda message: rests(message) and message["seq"] > head)
    assert stepped["seq"] == head + 1
    second.send({"type": "play", "grain": "call", "rate": 20})
    assert second.until(lambda message: plays(message) and message["seq"] > head + 3)["from"] is not None


def test_a_server_that_falls_silent_is_not_said_to_play_for_ever(own_servers: Servers) -> None:
    key = new_session(own_servers[0])
    first, _ = opened(own_servers[0], key)
    second, _ = opened(own_servers[1], key)
    first.send({"type": "play", "grain": "call", "rate": 5})
    second.until(plays)
    own_servers[0].kill()
    # It may have written a step that it could announce to nobody: the viewer has that, too, once it is read from the log.
    second.until(lambda told: rests(told) and told["head"] == row(own_servers[1], key, "head")[0], timeout=60)


def test_a_session_deleted_on_one_server_is_gone_on_the_other(servers: Servers) -> None:
    key = new_session(servers[0])
    second, _ = opened(servers[1], key)
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    page = opener.open(f"{servers[0].url}/s/{key}/").read().decode()
    token = page.split('name="csrfmiddlewaretoken" value="', 1)[1].split('"', 1)[0]
    form = urllib.parse.urlencode({"csrfmiddlewaretoken": token}).encode()
    opener.open(urllib.request.Request(f"{servers[0].url}/s/{key}/delete", form, {"Origin": servers[0].url}))
    assert second.until(lambda message: message["type"] == "gone")
