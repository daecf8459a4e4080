"""`serve --processes N`: several server processes on one port, which die, are started again, and end gently."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.server import PlaygroundServer
from tests.faults.redis import Redis, a_redis
from tests.playground.sessions.web.test_server import new_session
from tests.playground.sessions.wire import Closed, Wire
from tests.playground.sessions.worlds import node, pod

COUNT = 3
# How often what may depend on who is quicker is tried.
PATIENCE = 120.0  # seconds that a machine with other work may take to start a process and its worker
TIMES = 50 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 1


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    with a_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@contextlib.contextmanager
def serving(folder: Path, redis: Redis, count: int) -> Iterator[PlaygroundServer]:
    """A supervisor with so many server processes."""
    server = PlaygroundServer(folder, REDIS_URL=redis.url, ENGINE_WORKERS="1", ENGINE_HEAVY_WORKERS="1")
    server.arguments = ["--processes", str(count)]
    try:
        server.start()
        yield server
    finally:
        server.groups += processes(server)
        server.stop()


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory, redis: Redis) -> Iterator[PlaygroundServer]:
    """Three processes, for tests that leave three."""
    with serving(tmp_path_factory.mktemp("server"), redis, COUNT) as server:
        yield server


@pytest.fixture
def server(tmp_path: Path, redis: Redis) -> Iterator[PlaygroundServer]:
    """Two processes, for a test that ends them."""
    with serving(tmp_path, redis, 2) as server:
        yield server


def processes(server: PlaygroundServer) -> list[int]:
    """The server processes that the supervisor has now."""
    assert server.process is not None
    found = subprocess.run(
        ["pgrep", "-P", str(server.process.pid), "-f", "--", "--descriptor"],
        capture_output=True,
        text=True,
        check=False,
    )
    return [int(line) for line in found.stdout.split()]


def look(server: PlaygroundServer, key: str, seen: int | None = None) -> Wire:
    wire = Wire(server.url, key, patience=PATIENCE)
    wire.send({"type": "look", "look": {}, "seen": seen})
    return wire


def shows(wire: Wire, step: int, seconds: float = 10.0) -> bool:
    """Whether a page that follows the newest step comes to one in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        message: dict[str, Any] = wire.receive()
        if message.get("type") == "delta" and message["seq"] >= step:
            return True
    return False


def code_of_the_end(wire: Wire) -> int:
    try:
        while True:
            wire.receive()
    except Closed as closed:
        return closed.code


def test_every_process_serves_every_viewer(three: PlaygroundServer) -> None:
    key = new_session(three, node("n"), pod("p"))
    wires = [look(three, key) for _ in range(4 * COUNT)]
    for wire in wires:
        wire.shown()
    for number, wire in enumerate(wires[:COUNT]):
        wire.send({"type": "step", "grain": "call"})
        assert all(shows(each, 2 + number) for each in wires)


@pytest.mark.parametrize("time_", range(TIMES))
def test_one_that_dies_is_started_again_and_viewers_are_level_again(three: PlaygroundServer, time_: int) -> None:
    key = new_session(three, node("n"), pod("p"))
    wire = look(three, key)
    head = wire.shown(PATIENCE)["head"]
    for victim in processes(three):
        wire.send({"type": "step", "grain": "call"})
        head += 1
        assert shows(wire, head, PATIENCE)
        os.kill(victim, signal.SIGKILL)
        wire = look(three, key)  # as a page does when its connection is lost
        assert wire.shown(PATIENCE)["seq"] == head, "less is shown than was acknowledged"
    end = time.monotonic() + 10
    while len(processes(three)) < COUNT and time.monotonic() < end:
        time.sleep(0.05)
    assert len(processes(three)) == COUNT


def test_what_one_plays_goes_on_in_another_when_it_dies(three: PlaygroundServer) -> None:
    key = new_session(three, *(node(f"n{i}") for i in range(4)), *(pod(f"p{i}") for i in range(40)))
    wire = look(three, key)
    wire.shown()
    wire.send({"type": "play", "grain": "call", "rate": 5})
    assert wire.until(lambda message: message["type"] == "delta" and message["seq"] > 4)
    for victim in processes(three):
        os.kill(victim, signal.SIGKILL)
        wire = look(three, key)
        seen = wire.shown()["seq"]
        assert wire.until(lambda message, seen=seen: message["type"] == "delta" and message["seq"] > seen + 1)


def test_a_server_that_is_asked_to_end_finishes_what_it_has_taken_and_sends_pages_elsewhere(
    server: PlaygroundServer,
) -> None:
    key = new_session(server, node("n"), pod("p"))
    wire = look(server, key)
    wire.shown()
    wire.send({"type": "play", "grain": "call", "rate": 2})
    codes: list[int] = []

    def ask() -> None:
        with urllib.request.urlopen(f"{server.url}/s/{key}/export.jsonl", timeout=20) as answer:
            codes.append(answer.status if answer.read().endswith(b"}\n") else 0)

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(0.2)
    assert server.process is not None
    server.process.terminate()
    assert code_of_the_end(wire) == 4503
    assert server.process.wait(15) == 0
    asking.join(15)
    assert codes == [200]
    server.start()
    assert look(server, key).shown()["running"] is None


def test_the_processes_end_with_their_supervisor(server: PlaygroundServer) -> None:
    left = processes(server)
    assert len(left) == 2
    server.kill()
    end = time.monotonic() + 15
    while time.monotonic() < end and any(Path(f"/proc/{process}").exists() for process in left):
        time.sleep(0.1)
    assert not any(Path(f"/proc/{process}").exists() for process in left)


def test_several_processes_without_redis_are_refused_in_words(tmp_path: Path) -> None:
    server = PlaygroundServer(tmp_path, REDIS_URL="")
    server.arguments = ["--processes", "2"]
    with pytest.raises(AssertionError, match="set REDIS_URL"):
        server.start()
