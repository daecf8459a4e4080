"""How a WebSocket's frames go to the connection: at once where it takes them, else in order and whole."""

from __future__ import annotations

import pytest
from autobahn.websocket.protocol import WebSocketProtocol
from twisted.internet.error import ConnectionLost

from playground.server import Socket, SocketFactory


class Connection:
    """A TCP connection that takes so many bytes at once; Twisted's own is that of the browser tests."""

    connected = True
    dataBuffer = b""  # noqa: N815 - Twisted's name

    def __init__(self, takes: int | ConnectionLost) -> None:
        self.takes = takes
        self.sent = b""
        self.waiting = b""

    @property
    def _tempDataLen(self) -> int:
        return len(self.waiting)

    def writeSomeData(self, data: bytes) -> int | ConnectionLost:
        if isinstance(self.takes, ConnectionLost):
            return self.takes
        taken = data[: self.takes]
        self.sent += taken
        return len(taken)

    def write(self, data: bytes) -> None:
        self.waiting += data


def socket_of(connection: Connection) -> Socket:
    socket = Socket()
    socket.factory = SocketFactory(None)
    socket.transport, socket.state = connection, WebSocketProtocol.STATE_OPEN
    socket._perMessageCompress = None
    return socket


@pytest.mark.parametrize("takes", [0, 5, 1000])
def test_what_the_connection_does_not_take_waits_and_later_frames_wait_behind_it(takes: int) -> None:
    connection = Connection(takes)
    socket = socket_of(connection)
    for text in ("first message", "second"):
        socket.serverSend(text)
    frames = b"\x81\x0dfirst message" + b"\x81\x06second"
    assert connection.sent + connection.waiting == frames
    assert connection.sent == frames[: min(takes, len(frames))]


def test_a_lost_connection_is_left_to_twisted() -> None:
    connection = Connection(ConnectionLost())
    socket_of(connection).serverSend("one")
    assert (connection.sent, connection.waiting) == (b"", b"\x81\x03one")


def test_a_text_that_many_get_is_framed_once() -> None:
    factory = SocketFactory(None)
    text = "x" * 70_000
    assert factory.prepared(text) is factory.prepared(text)
    assert factory.prepared("y").payloadHybi == b"\x81\x01y"
    assert factory.prepared(text).payloadHybi.endswith(b"x" * 70_000)
