"""Connections: as many as there may be, none that drips, and words for those that are too many."""

from __future__ import annotations

import contextlib
import re
import socket
import time
import urllib.request
from collections.abc import Iterator
from urllib.error import HTTPError

import pytest

from tests.browser.server import PlaygroundServer
from tests.playground.sessions.web.test_server import new_session
from tests.playground.sessions.wire import Wire

MOST = 24
SECONDS = 1


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlaygroundServer]:
    """A server that takes 24 connections and 4 sockets, and waits a second for a request."""
    limits = {"MAX_CONNECTIONS": str(MOST), "MAX_SOCKETS": "4", "REQUEST_SECONDS": str(SECONDS)}
    server = PlaygroundServer(tmp_path_factory.mktemp("server"), **limits)
    server.manage("migrate", "--verbosity", "0")
    server.start()
    yield server
    server.stop()


def opened(server: PlaygroundServer, said: bytes = b"") -> socket.socket:
    plain = socket.create_connection(("127.0.0.1", server.port), timeout=10)
    plain.sendall(said)
    return plain


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
def test_who_sends_drop_by_drop_is_not_waited_for(server: PlaygroundServer, said: bytes) -> None:
    with opened(server, said) as plain:
        assert is_closed_within(plain, 8 * SECONDS, b"a" if said else b"")


def test_a_slow_body_that_goes_on_coming_is_waited_for(server: PlaygroundServer) -> None:
    with opened(server, HEAD + b"Content-Length: 100000\r\n\r\n") as plain:
        for _ in range(5):
            plain.sendall(b"x" * 20_000)
            time.sleep(0.6 * SECONDS)
        assert plain.recv(1000).startswith(b"HTTP/1.1 4")  # there is no form in it


def test_a_connection_too_many_is_told_so_and_others_are_served_when_one_has_gone(
    server: PlaygroundServer,
) -> None:
    refused = metric(server, 'playground_refused_total{reason="too many connections"}')
    # Each has asked for something, so it may stay for its next request.
    asked = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    held = []
    for _ in range(MOST):
        held.append(opened(server, asked))
        held[-1].recv(4096)
    with pytest.raises(HTTPError) as answer:
        urllib.request.urlopen(server.url + "/", timeout=10)
    assert answer.value.code == 503
    assert "as many connections as it takes" in answer.value.read().decode()
    for plain in held:
        plain.close()
    end = time.monotonic() + 5
    while time.monotonic() < end:
        with contextlib.suppress(HTTPError):
            assert metric(server, 'playground_refused_total{reason="too many connections"}') > refused
            break
    assert metric(server, "playground_connections") < 5


def test_a_socket_too_many_is_told_so_in_words(server: PlaygroundServer) -> None:
    key = new_session(server)
    wires = [Wire(server.url, key) for _ in range(4)]
    for wire in wires:
        wire.send({"type": "look", "look": {}, "seen": None})
        wire.shown()
    assert metric(server, "playground_sockets") == 4
    extra = Wire(server.url, key)
    message = extra.receive()
    assert (message["type"], message["kind"]) == ("error", "limit")
    assert "4) are open already" in message["message"]


def test_the_servers_metrics_count_sessions_and_workers(server: PlaygroundServer) -> None:
    new_session(server)
    assert metric(server, 'playground_sessions{state="open"}') >= 1
    assert metric(server, 'playground_worker_memory_bytes{lane="small",worker="0"}') > 1 << 20
    assert metric(server, "process_open_fds") > 5
