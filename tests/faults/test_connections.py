"""Connections: as many as there may be, none that drips, and words for those that are too many."""

from __future__ import annotations

import contextlib
import re
import socket
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.server import PlaygroundServer
from tests.playground.sessions.web.test_server import new_session
from tests.playground.sessions.wire import Closed, Wire

MOST, SHARE = 40, 8  # of connections: all, and a client's without a key
SOCKETS = 20
SECONDS = 2
ASKED = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def serving(folder: Path, seconds: int) -> Iterator[PlaygroundServer]:
    """A server that takes 40 connections and 20 sockets, and waits so many seconds for a request."""
    limits = {"MAX_CONNECTIONS": MOST, "MAX_SOCKETS": SOCKETS, "REQUEST_SECONDS": seconds}
    server = PlaygroundServer(folder, **{name: str(value) for name, value in limits.items()})
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlaygroundServer]:
    """A server that waits two seconds."""
    yield from serving(tmp_path_factory.mktemp("hasty"), SECONDS)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlaygroundServer]:
    """A server that waits longer than any test."""
    yield from serving(tmp_path_factory.mktemp("server"), 600)


def opened(server: PlaygroundServer, said: bytes = b"", client: int = 1) -> socket.socket:
    """A connection of the client 127.0.0.`client`."""
    source = (f"127.0.0.{client}", 0)
    plain = socket.create_connection(("127.0.0.1", server.port), timeout=10, source_address=source)
    plain.sendall(said)
    return plain


def status_of(server: PlaygroundServer, path: str, client: int = 1) -> int:
    """The status of a page that a client asks for."""
    asked = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    with opened(server, asked.encode(), client) as plain:
        return int(plain.recv(4096).split(b" ")[1])


def metric(server: PlaygroundServer, name: str) -> float:
    with urllib.request.urlopen(server.url + "/metrics", timeout=10) as answer:
        found = re.search(rf"^{re.escape(name)} (\S+)$", answer.read().decode(), re.M)
    return float(found[1]) if found else 0.0


def is_closed_within(plain: socket.socket, seconds: float, drip: bytes = b"") -> bool:
    """Whether the server ends a connection over which a byte comes now and then."""
    end = time.monotonic() + seconds
    plain.settimeout(0.2)
    while time.monotonic() < end:
        with contextlib.suppress(TimeoutError):
            try:
                plain.sendall(drip)
                if not plain.recv(65536):
                    return True
            except (ConnectionError, BrokenPipeError):
                return True
    return False


HEAD = b"POST /new HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n"


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
        HEAD + b"Content-Length: 100000\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n",
    ],
    ids=["nothing", "a request line", "headers", "a body", "chunks"],
)
def test_who_sends_drop_by_drop_is_not_waited_for(hasty: PlaygroundServer, said: bytes) -> None:
    with opened(hasty, said) as plain:
        assert is_closed_within(plain, 8 * SECONDS, b"a" if said else b"")


def test_a_slow_body_that_goes_on_coming_is_waited_for(hasty: PlaygroundServer) -> None:
    with opened(hasty, HEAD + b"Content-Length: 100000\r\n\r\n") as plain:
        for _ in range(5):
            plain.sendall(b"x" * 20_000)
            time.sleep(0.6 * SECONDS)
        assert plain.recv(1000).startswith(b"HTTP/1.1 4")  # there is no form in it


def test_a_client_without_a_key_takes_its_share_and_no_more(server: PlaygroundServer) -> None:
    refused = metric(server, 'playground_refused_total{reason="too many connections"}')
    held = [opened(server, b"GET /", 2) for _ in range(SHARE)]
    with opened(server, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 2) as plain:
        said = plain.recv(65536)
    assert said.startswith(b"HTTP/1.1 503 ") and b"as many connections as it takes" in said
    assert status_of(server, "/healthz", 2) == 200
    assert status_of(server, "/") == 200
    assert metric(server, 'playground_refused_total{reason="too many connections"}') == refused + 1
    for plain in held:
        plain.close()


def test_monitors_are_answered_when_many_clients_hold_all_there_is(server: PlaygroundServer) -> None:
    held = [opened(server, b"GET /", client) for client in range(2, 2 + MOST // SHARE) for _ in range(SHARE)]
    silent = [opened(server, b"", 20) for _ in range(30)]  # more than are kept for monitors
    assert status_of(server, "/", 99) == 503
    assert status_of(server, "/healthz", 99) == 200
    for plain in [*held, *silent]:
        plain.close()


def test_a_connection_that_only_waits_gives_way_to_one_that_asks(server: PlaygroundServer) -> None:
    held = []
    for number in range(MOST + 10):
        held.append(opened(server, ASKED, 2 + number // 5))
        assert held[-1].recv(4096).startswith(b"HTTP/1.1 200 ")
    assert status_of(server, "/") == 200
    for plain in held:
        plain.close()


def watching(server: PlaygroundServer, key: str) -> Wire:
    wire = Wire(server.url, key)
    wire.send({"type": "look", "look": {}, "seen": None})
    return wire


def test_a_session_takes_half_of_the_sockets_and_others_get_theirs(server: PlaygroundServer) -> None:
    crowded, other = new_session(server), new_session(server)
    wires = []
    for _ in range(SOCKETS // 2):  # all of one address, whose share without a key would be two
        wires.append(watching(server, crowded))
        wires[-1].shown()
    assert metric(server, "playground_sockets") == SOCKETS // 2
    message = watching(server, crowded).until(lambda one: one["type"] in ("error", "delta"))
    assert (message["type"], message["kind"]) == ("error", "limit")
    assert "10 pages are already open" in message["message"]
    watching(server, other).shown()
    for wire in wires:
        wire.close()


def test_a_socket_that_has_not_looked_counts_for_its_address(server: PlaygroundServer) -> None:
    key = new_session(server)
    silent = [Wire(server.url, key) for _ in range(SOCKETS // 10)]
    message = Wire(server.url, key).receive()
    assert (message["type"], message["kind"]) == ("error", "limit")
    for wire in silent:
        wire.send({"type": "look", "look": {}, "seen": None})
        wire.shown()
    watching(server, key).shown()


def test_a_socket_that_never_looks_is_closed(hasty: PlaygroundServer) -> None:
    with pytest.raises(Closed) as closed:
        Wire(hasty.url, new_session(hasty)).receive(60)
    assert closed.value.code == 4429


def test_the_servers_metrics_count_sessions_and_workers(server: PlaygroundServer) -> None:
    new_session(server)
    assert metric(server, 'playground_sessions{state="open"}') >= 1
    assert metric(server, 'playground_worker_memory_bytes{lane="small",worker="0"}') > 1 << 20
    assert metric(server, "process_open_fds") > 5
