"""Daphne, but a body that is too large for any page is refused while it arrives, and what is sent over a WebSocket may be of any size.

Daphne hands a request to the application only when its whole body has come, so the limit of each page (gate.py) would come too late for
what is larger than them all: that is counted here, chunk by chunk, where Twisted hands the chunks over. What still comes after the refusal
is thrown away for a while, so that the browser gets to read the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.server import Server
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from twisted.internet import reactor

from playground.connections import Visit, Visits
from playground.gate import largest_body, refusal, too_large

DRAIN_SECONDS = 5.0


class LimitedRequest(WebRequest):
    """A request that counts what arrives, and leaves the reading of forms to Django: Twisted would do it too, in everybody's way."""

    def __init__(self, visit: Visit, *args: Any, **kwargs: Any) -> None:
        self.visit = visit
        self.arrived = 0
        self.refused = False
        super().__init__(*args, **{**kwargs, "parsePOSTFormSubmission": False})

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - Twisted's name
        """Headers are in: refuse at once what says that it will be too large."""
        too_large = length is not None and length > largest_body()
        super().gotLength(0 if too_large else length)
        self.visit.expect_body()
        if too_large:
            self._refuse()

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """A part of the body."""
        if self.refused:
            return
        self.arrived += len(data)
        self.visit.came(len(data))
        if self.arrived > largest_body():
            self._refuse()
        else:
            super().handleContentChunk(data)

    def process(self) -> Any:
        """The request is complete; a refused one has had its answer."""
        self.visit.expect_nothing()
        if self.refused:
            self.channel.loseConnection()
            return None
        return super().process()

    def finish(self) -> None:
        """It is answered."""
        super().finish()
        self.visit.expect_next()

    def _refuse(self) -> None:
        self.refused = True
        headers, body = refusal(too_large(largest_body()))
        lines = [b"HTTP/1.1 413 Content Too Large", *(b"%s: %s" % header for header in headers), b"", body]
        self.channel.transport.write(b"\r\n".join(lines))
        reactor.callLater(DRAIN_SECONDS, self.channel.transport.abortConnection)  # type: ignore[arg-type]  # Twisted's interfaces name no self


class LimitedVisit(Visit):
    """A connection whose requests count."""

    def __init__(self, factory: Visits, channel: Any) -> None:
        channel.requestFactory = partial(LimitedRequest, self)
        super().__init__(factory, channel)


class LimitedVisits(Visits):
    """Makes connections whose requests count."""

    protocol: Callable[..., Any] = LimitedVisit


class Socket(WebSocketProtocol):
    """A WebSocket. Autobahn has one limit of a message's size for both directions, but none for messages that are sent by frames."""

    def sendMessage(self, payload: bytes, isBinary: bool = False) -> None:  # noqa: N802, N803 - Autobahn's names
        """As Autobahn's, for payloads of any size."""
        self.beginMessage(isBinary)
        self.sendMessageFrame(payload)
        self.endMessage()


class SocketFactory(WebSocketFactory):
    """Makes our sockets."""

    protocol = Socket


class LimitedServer(Server):
    """Daphne's server with our factories. It makes its own when it starts, and has no setting for others."""

    @property
    def http_factory(self) -> Visits:
        """What the server listens with."""
        return self._http_factory

    @http_factory.setter
    def http_factory(self, factory: HTTPFactory) -> None:
        self._http_factory = LimitedVisits(factory)  # type: ignore[no-untyped-call]  # Twisted's

    @property
    def ws_factory(self) -> SocketFactory:
        """What makes a connection a WebSocket."""
        return self._ws_factory

    @ws_factory.setter
    def ws_factory(self, factory: WebSocketFactory) -> None:
        self._ws_factory = SocketFactory(factory.server_class, server=factory.server)
