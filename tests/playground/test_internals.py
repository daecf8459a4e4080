"""What is used of Twisted, Daphne, and Autobahn beyond their interfaces, in the libraries that are installed: frames go over a connection
of Twisted's own at once where it takes them, else in order and whole.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from autobahn.websocket.protocol import WebSocketProtocol
from daphne.http_protocol import HTTPFactory
from daphne.server import Server
from daphne.ws_protocol import WebSocketFactory
from twisted.internet.protocol import Protocol
from twisted.internet.tcp import Connection
from twisted.internet.testing import MemoryReactor
from twisted.protocols.policies import ProtocolWrapper, WrappingFactory
from twisted.web.http import HTTPChannel

from playground.serving.connections import Channel, Visit, Visits, connection_of, takes_at_once, unsent
from playground.serving.server import LimitedRequest, LimitedServer, Socket, SocketFactory

FRAMES = b"\x81\x0dfirst message" + b"\x81\x06second"


class Line:
    """A TCP connection of Twisted's, whose other end reads when it is told to."""

    def __init__(self, buffer: int) -> None:
        ours, self.theirs = socket.socketpair()
        for end in (ours, self.theirs):
            end.setblocking(False)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
        self.tcp = Connection(ours, Protocol(), MemoryReactor())
        self.tcp.connected = 1
        self.socket = Socket()
        self.socket.factory = SocketFactory(None)
        self.socket.transport, self.socket.state = self.tcp, WebSocketProtocol.STATE_OPEN
        self.socket._perMessageCompress = None

    def read(self) -> bytes:
        """What has arrived."""
        data = b""
        with contextlib.suppress(BlockingIOError):
            while piece := self.theirs.recv(65536):
                data += piece
        return data

    def write_on(self) -> bytes:
        """What arrives when Twisted writes whenever the connection takes something."""
        data = self.read()
        while not takes_at_once(self.tcp):
            self.tcp.doWrite()
            data += self.read()
        return data


@pytest.fixture
def line() -> Iterator[Line]:
    made = Line(1)  # the smallest buffer that the system has
    yield made
    made.theirs.close()
    made.tcp.socket.close()


def test_frames_go_at_once_where_the_connection_takes_them(line: Line) -> None:
    for text in ("first message", "second"):
        line.socket.serverSend(text)
        assert takes_at_once(line.tcp)
    assert line.read() == FRAMES


@pytest.mark.parametrize("size", [100, 70_000])
def test_what_the_connection_does_not_take_waits_and_later_frames_wait_behind_it(line: Line, size: int) -> None:
    texts = [str(number % 10) * size for number in range(200)]
    for text in texts:
        line.socket.serverSend(text)
    assert not takes_at_once(line.tcp)
    factory = SocketFactory(None)
    assert line.write_on() == b"".join(factory.prepareMessage(text.encode()).payloadHybi for text in texts)
    line.socket.serverSend("second")
    assert line.read() == b"\x81\x06second"


def test_what_waits_before_it_is_in_the_buffer_counts(line: Line) -> None:
    line.tcp.write(b"waits")
    assert not line.tcp.dataBuffer and not takes_at_once(line.tcp) and unsent(line.tcp) == 5


def test_a_lost_connection_is_left_to_twisted(line: Line) -> None:
    line.theirs.close()
    line.socket.serverSend("one")
    assert not takes_at_once(line.tcp)  # Twisted comes upon the error when it writes


def test_the_connection_is_found_below_what_wraps_it(line: Line) -> None:
    wrapper = ProtocolWrapper(WrappingFactory(None), Protocol())
    wrapper.transport = line.tcp
    assert connection_of(wrapper) is connection_of(line.tcp) is line.tcp


def test_an_answer_goes_out_in_one_piece_and_before_the_connection_ends(line: Line) -> None:
    visit = Visit(Visits(HTTPFactory(None), LimitedRequest), Protocol())
    visit.transport, visit.held = line.tcp, []
    visit.writeSequence([b"head", b"er "])
    visit.write(b"body ")
    assert line.read() == b""
    visit.release()
    visit.write(b"later ")
    assert line.read() == b"header body later "
    visit.held = [b"end"]
    visit.loseConnection()
    assert line.read() == b"end" and line.tcp.disconnecting


def test_daphne_serves_with_our_factories() -> None:
    server = LimitedServer(application=None, endpoints=["tcp:0"])
    assert isinstance(server, Server)
    server.http_factory, server.ws_factory = HTTPFactory(server), WebSocketFactory(server, server="test")
    assert isinstance(server.http_factory, Visits) and isinstance(server.ws_factory, SocketFactory)
    visit: Any = server.http_factory.buildProtocol(None)
    assert isinstance(visit.wrappedProtocol, Channel) and isinstance(visit.wrappedProtocol, HTTPChannel)
    server.http_factory.probes.clear()


def test_a_text_that_many_get_is_framed_once() -> None:
    factory = SocketFactory(None)
    text = "x" * 70_000
    assert factory.prepared(text) is factory.prepared(text)
    assert factory.prepared("y").payloadHybi == b"\x81\x01y"
    assert factory.prepared(text).payloadHybi.endswith(b"x" * 70_000)
