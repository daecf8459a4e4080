"""Uploads: bytes that nobody asked for are refused while they come, and what is on its way takes no more of the disk than it may."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.server import PlaygroundServer
from tests.faults.test_connections import opened
from tests.playground.sessions.web.test_server import new_session

MEGABYTE = 1 << 20
PIECE = b"x" * (256 << 10)
ROOM, CLIENT = 20 * MEGABYTE, 4 * MEGABYTE


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlaygroundServer]:
    """A server that holds 20 MB of uploads, of each client 4."""
    limits = {"MAX_SPOOLED_BYTES": str(ROOM), "MAX_SPOOLED_BYTES_PER_CLIENT": str(CLIENT)}
    folder = tmp_path_factory.mktemp("server")
    (folder / "spool").mkdir()
    limits["REQUEST_SECONDS"] = "120"  # an upload that stands still is waited for, however busy this machine is
    server = PlaygroundServer(folder, TMPDIR=str(folder / "spool"), **limits)
    server.start()
    yield server
    server.stop()


def spooled(server: PlaygroundServer) -> int:
    """The bytes that the server holds in files without a name."""
    assert server.process
    held = 0
    for entry in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            if os.readlink(entry).startswith(f"{server.folder}/spool/"):
                held += entry.stat().st_blocks * 512
    return held


def head(path: str, size: int | None, method: str = "POST") -> bytes:
    length = b"Transfer-Encoding: chunked" if size is None else b"Content-Length: %d" % size
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n".encode() + length + b"\r\n\r\n"


def send(plain: socket.socket, size: int, chunked: bool = False) -> None:
    """Send so many bytes, unless the server ends the connection before."""
    piece = b"%x\r\n%s\r\n" % (len(PIECE), PIECE) if chunked else PIECE
    with contextlib.suppress(ConnectionError, TimeoutError):
        for _ in range(size // len(PIECE)):
            plain.sendall(piece)


def answered(plain: socket.socket) -> bytes:
    with contextlib.suppress(ConnectionError, TimeoutError):
        return plain.recv(4096)
    return b""


@pytest.mark.parametrize("chunked", [False, True], ids=["with its length", "in chunks"])
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_four_strangers_leave_nothing_on_the_disk(server: PlaygroundServer, chunked: bool, method: str) -> None:
    size = 200 * MEGABYTE
    held = []
    for path in ("/", "/healthz", "/nope", "/s/x/step", "/s/x/import", "/room/x/end", "/join/ABCDEFGH/"):
        held.append(opened(server, head(path, None if chunked else size, method)))
        held[-1].settimeout(2)
        send(held[-1], 2 * MEGABYTE, chunked)
    assert spooled(server) < MEGABYTE
    for plain in held:
        assert answered(plain).split(b" ")[1] in (b"413", b"404")
        plain.close()


def test_a_page_that_takes_an_import_takes_so_much_of_one_client(server: PlaygroundServer) -> None:
    held = [opened(server, head(path, 200 * MEGABYTE)) for path in ("/new", "/import-trace", "/new")]
    for plain in held:
        plain.settimeout(1)
        send(plain, 3 * MEGABYTE)
    end = time.monotonic() + 10
    said = [answered(plain) for plain in held]
    assert b"HTTP/1.1 503 Service Unavailable" in b"".join(said)
    assert 0 < spooled(server) <= CLIENT + MEGABYTE
    for plain in held:
        plain.close()
    while spooled(server) > MEGABYTE:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_session_has_a_share_of_its_own_and_its_view_link_none(server: PlaygroundServer) -> None:
    stranger = opened(server, head("/new", 200 * MEGABYTE))
    send(stranger, 7 * MEGABYTE // 2)
    keys = [new_session(server) for _ in range(2)]
    held = [opened(server, head(f"/s/{key}/import", 200 * MEGABYTE)) for key in keys]
    for plain in held:
        plain.settimeout(1)
        send(plain, 2 * MEGABYTE)
        assert answered(plain) == b""  # it is waited for more
    assert spooled(server) > 7 * MEGABYTE
    for plain in [stranger, *held]:
        plain.close()


def test_an_import_with_the_key_is_read_and_one_without_is_not(server: PlaygroundServer) -> None:
    key = new_session(server)
    for asked, status in ((key, b"403"), ("x" * 32, b"404")):  # 403: no CSRF token, so it came as far as Django
        plain = opened(server, head(f"/s/{asked}/import", MEGABYTE))
        send(plain, MEGABYTE)
        assert answered(plain).split(b" ")[1] == status
        plain.close()


def test_an_address_that_is_too_long_is_answered_414(server: PlaygroundServer) -> None:
    for size, status in ((16_000, b"404"), (20_000, b"414"), (200_000, b"414")):
        plain = opened(server, b"GET /" + b"a" * size + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert answered(plain).split(b" ")[1] == status
        plain.close()


def test_headers_that_are_too_long_are_answered_431(server: PlaygroundServer) -> None:
    for headers in (b"X: " + b"a" * 20_000 + b"\r\n", (b"X: " + b"a" * 120 + b"\r\n") * 300):
        plain = opened(server, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + headers + b"\r\n")
        assert answered(plain).split(b" ")[1] == b"431"
        plain.close()
