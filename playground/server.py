"""Daphne, but a body that is too large for any page is refused while it arrives, and what is sent over a WebSocket may be of any size.

Daphne hands a request to the application only when its whole body has come, so the limit of each page (gate.py) would come too late for
what is larger than them all: that is counted here, chunk by chunk, where Twisted hands the chunks over. What still comes after the refusal
is thrown away for a while, so that the browser gets to read the answer.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, ClassVar

from autobahn.websocket.protocol import PreparedMessage
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.server import Server
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from twisted.internet import reactor
from twisted.protocols.policies import ProtocolWrapper

from playground.connections import Visit, Visits
from playground.consumers import CLOSE_AGAIN, SessionConsumer
from playground.gate import largest_body, raw_refusal
from playground.sessions.web.runtime import runtime

THROW_AWAY_SECONDS = 5.0
DRAIN_SECONDS = 10.0


class LimitedRequest(WebRequest):
    """A request that counts what arrives, and leaves the reading of forms to Django: Twisted would do it too, in everybody's way."""

    going: ClassVar[set[LimitedRequest]] = set()  # those that are being answered

    def __init__(self, visit: Visit, *args: Any, **kwargs: Any) -> None:
        self.visit = visit
        self.arrived = 0
        self.refused = False
        super().__init__(*args, **{**kwargs, "parsePOSTFormSubmission": False})

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - Twisted's name
        """Headers are in: refuse at once what says that it will be too large."""
        too_large = length is not None and length > largest_body().bytes
        super().gotLength(0 if too_large else length)
        self.visit.expect_body()
        if too_large:
            self._refuse(length or 0)

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """A part of the body."""
        if self.refused:
            return
        self.arrived += len(data)
        self.visit.came(len(data))
        if self.arrived > largest_body().bytes:
            self._refuse()
        else:
            super().handleContentChunk(data)

    def process(self) -> Any:
        """The request is complete; a refused one has had its answer."""
        self.visit.expect_nothing()
        if self.refused:
            self.channel.loseConnection()
            return None
        if not self.requestHeaders.hasHeader("upgrade"):
            self.going.add(self)
        return super().process()

    def finish(self) -> None:
        """It is answered."""
        self.going.discard(self)
        super().finish()
        self.visit.expect_next()

    def connectionLost(self, reason: Any) -> None:  # noqa: N802 - Twisted's name
        """Nobody waits for the answer any more."""
        self.going.discard(self)
        super().connectionLost(reason)

    def _refuse(self, received: int = 0) -> None:
        self.refused = True
        refusal = raw_refusal(b"413 Content Too Large", largest_body().refusal(received))
        self.channel.transport.write(refusal)
        reactor.callLater(THROW_AWAY_SECONDS, self.channel.transport.abortConnection)  # type: ignore[arg-type]  # Twisted's interfaces name no self


class Socket(WebSocketProtocol):
    """A WebSocket. Autobahn has one limit of a message's size for both directions, but none for prepared messages."""

    def serverSend(self, content: str | bytes, binary: bool = False) -> None:  # noqa: N802 - Daphne's name
        """As Daphne's, but what many get one after the other is framed once."""
        if binary or self.state != self.STATE_OPEN:
            super().serverSend(content, binary)
        else:
            self.sendPreparedMessage(self.factory.prepared(content))

    def sendData(self, data: bytes, sync: bool = False, chopsize: int | None = None) -> None:  # noqa: N802 - Autobahn's name
        """As Autobahn's, but what the connection takes at once does not wait until the selector has said that it would."""
        tcp = self.transport
        while isinstance(tcp, ProtocolWrapper):
            tcp = tcp.transport
        idle = tcp.connected and not tcp.dataBuffer and not tcp._tempDataLen
        written = tcp.writeSomeData(data) if idle else 0
        if written != len(data):  # an error too: Twisted comes upon it again
            tcp.write(data[written:] if isinstance(written, int) else data)

    def sendMessage(self, payload: bytes, isBinary: bool = False) -> None:  # noqa: N802, N803 - Autobahn's names
        """As Autobahn's, for payloads of any size."""
        self.sendPreparedMessage(self.factory.prepareMessage(payload, isBinary))


class SocketFactory(WebSocketFactory):
    """Makes our sockets."""

    protocol = Socket
    _text: str | None = None
    _framed: PreparedMessage

    def prepared(self, text: str) -> PreparedMessage:
        """A text as it goes over the wire; the last one is kept."""
        if text is not self._text:
            self._text, self._framed = text, self.prepareMessage(text.encode())
        return self._framed


class LimitedServer(Server):
    """Daphne's server with our factories. It makes its own when it starts, and has no setting for others."""

    resting: Future[None] | None = None
    closing: Sequence[asyncio.Future[None]] = ()

    @property
    def http_factory(self) -> Visits:
        """What the server listens with."""
        return self._http_factory

    @http_factory.setter
    def http_factory(self, factory: HTTPFactory) -> None:
        self._http_factory = Visits(factory, LimitedRequest)

    @property
    def ws_factory(self) -> SocketFactory:
        """What makes a connection a WebSocket."""
        return self._ws_factory

    @ws_factory.setter
    def ws_factory(self, factory: WebSocketFactory) -> None:
        self._ws_factory = SocketFactory(factory.server_class, server=factory.server)

    def drain_on_signal(self) -> None:
        """When the process is asked to end (SIGTERM), what it has taken is finished first."""

        def listen() -> None:
            signal.signal(signal.SIGTERM, lambda *_: reactor.callFromThread(self.drain))

        reactor.callLater(0, listen)  # type: ignore[arg-type]  # after the reactor has put its own handlers in place

    def drain(self) -> None:
        """Take nothing more, have pages connect elsewhere, end when all that was asked is answered and sessions rest."""
        if self.resting is not None:
            return
        for listener in self.listeners:
            listener.addCallback(lambda port: port.stopListening())
        self.closing = [asyncio.ensure_future(each.close(CLOSE_AGAIN)) for each in SessionConsumer.open]
        self.resting = asyncio.run_coroutine_threadsafe(runtime().rest(), runtime().services.loop.loop)
        self._end_when_done(time.monotonic() + DRAIN_SECONDS)

    def _end_when_done(self, end: float) -> None:
        assert self.resting is not None
        done = self.resting.done() and not LimitedRequest.going
        if done or time.monotonic() > end:
            self.stop()
        else:
            reactor.callLater(0.05, self._end_when_done, end)  # type: ignore[arg-type]
