"""Daphne, but a body that is too large is refused while it arrives, and the limit of WebSocket messages is for those that come in.

Daphne hands a request to the application only when its whole body has come, so the application's own limit is too late: the count is
made here, chunk by chunk. What still comes after the refusal is thrown away for a while, so that the browser gets to read the answer.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import daphne.server
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.server import Server
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from twisted.internet import reactor

from playground.gate import DRAWER, body_limit, refusal

PATIENCE = 5.0


class LimitedRequest(WebRequest):  # type: ignore[misc]
    """A request that counts what arrives."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.arrived = 0
        self.refused = False
        super().__init__(*args, **kwargs)

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - Twisted's name
        """Headers are in: refuse at once what says that it will be too large."""
        if length is not None and length > self._limit():
            super().gotLength(0)
            self._refuse()
        else:
            super().gotLength(length)

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """A part of the body."""
        if self.refused:
            return
        self.arrived += len(data)
        if self.arrived > self._limit():
            self._refuse()
        else:
            super().handleContentChunk(data)

    def process(self) -> Any:
        """The request is complete; a refused one has had its answer."""
        if self.refused:
            self.channel.loseConnection()
            return None
        return super().process()

    def _path(self) -> str:
        target = getattr(self.channel, "_path", b"") or b""
        return unquote(target.split(b"?", 1)[0].decode("latin-1"))

    def _limit(self) -> int:
        return body_limit(self._path())

    def _refuse(self) -> None:
        self.refused = True
        headers, body = refusal(self._path(), self.requestHeaders.hasHeader(DRAWER))
        lines = [b"HTTP/1.1 413 Content Too Large", *(b"%s: %s" % header for header in headers), b"", body]
        self.channel.transport.write(b"\r\n".join(lines))
        reactor.callLater(PATIENCE, self.channel.transport.abortConnection)  # type: ignore[attr-defined]


class LimitedFactory(HTTPFactory):  # type: ignore[misc]
    """Makes protocols whose requests count."""

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - Twisted's name
        """As Daphne's, with our request."""
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = LimitedRequest
        return protocol


class Socket(WebSocketProtocol):  # type: ignore[misc]
    """A WebSocket whose messages to the browser may be of any size: Autobahn has one limit for both directions."""

    def sendMessage(self, *args: Any, **kwargs: Any) -> None:  # noqa: N802 - Autobahn's name
        """As Autobahn's, without the limit."""
        limit, self.maxMessagePayloadSize = self.maxMessagePayloadSize, 0
        try:
            super().sendMessage(*args, **kwargs)
        finally:
            self.maxMessagePayloadSize = limit


class SocketFactory(WebSocketFactory):  # type: ignore[misc]
    """Makes our sockets."""

    protocol = Socket


class LimitedServer(Server):  # type: ignore[misc]
    """Daphne's server with requests that count, and our sockets."""

    def run(self) -> None:
        """Daphne makes its factories by name in here and has no setting for it."""
        daphne.server.HTTPFactory = LimitedFactory
        daphne.server.WebSocketFactory = SocketFactory
        super().run()
