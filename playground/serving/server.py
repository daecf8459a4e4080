"""Daphne with two changes: a body over its page's limit is refused while it arrives, and WebSocket messages sent may be of any size.

Daphne passes a request to the application only when its whole body has arrived, too late for the limit of each page (gate.py). A body is
counted here, chunk by chunk, where Twisted delivers the chunks (bodies.py). Data after the refusal is discarded for a while, so that the
browser can read the answer.
"""

import asyncio
import signal
import time
from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import Future
from io import BytesIO
from typing import Any, ClassVar

from autobahn.websocket.protocol import PreparedMessage
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.server import Server
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from django.conf import settings
from twisted.internet import reactor
from twisted.web.http import Request

from playground.serving.bodies import FULL, Body
from playground.serving.connections import PROBED, Visit, Visits, write_at_once
from playground.serving.gate import apply_forwarded_headers
from playground.sessions.limits import address_owner
from playground.sessions.protocol.errors import LimitReached, SessionError, StorageFull, Unavailable
from playground.sessions.web.consumers import CLOSE_AGAIN, SessionConsumer
from playground.sessions.web.runtime import runtime

# What this server needs of Twisted and Daphne beyond their interfaces, here alone: pyproject.toml bounds their versions, and
# tests/playground/test_internals.py looks for each of these in the libraries that are installed.


class ServerWithFactories(Server):
    """Daphne's server with our factories. Daphne has no setting for its factories, so its assignments of them are replaced."""

    @abstractmethod
    def http(self, factory: HTTPFactory) -> Any:
        """Return the factory that the server listens with, in place of Daphne's."""

    @abstractmethod
    def sockets(self, factory: WebSocketFactory) -> Any:
        """Return the factory that makes a connection a WebSocket, in place of Daphne's."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "http_factory":
            value = self.http(value)
        elif name == "ws_factory":
            value = self.sockets(value)
        super().__setattr__(name, value)


DRAIN_SECONDS = 10.0


class LimitedRequest(WebRequest):
    """A request that counts the bytes of its body. Only Django parses forms: Twisted would parse them, too, and block the reactor."""

    going: "ClassVar[set[LimitedRequest]]" = set()  # requests being answered
    body: Body | None = None
    content: Any

    def __init__(self, visit: Visit, *args: Any, **kwargs: Any) -> None:
        self.visit = visit
        super().__init__(*args, **{**kwargs, "parsePOSTFormSubmission": False})

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - Twisted's name
        """Process the end of the headers: refuse a declared length over the limit at once, and look up the key for a large body."""
        self.visit.expect_body()
        channel = self.channel
        try:
            self.body = Body(channel.method, channel.target, length, self._client())
        except SessionError as error:
            channel.refuse(error, error.status if isinstance(error, Unavailable) else 413)
            length = 0
        most = self.body.limit.bytes if self.body else 0
        super().gotLength(most if length is None else length)  # Twisted decides by the length between memory and disk
        self._look_up_key()

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Count a chunk of the body, and store it if it is within the limits."""
        if self.body is None or self.channel.refused:
            return
        self.visit.came(len(data))
        try:
            self.body.take(len(data))
            super().handleContentChunk(data)
        except OSError:
            self._refuse(StorageFull(FULL))
        except SessionError as error:
            self._refuse(error)
        else:
            self._look_up_key()

    def process(self) -> Any:
        """Pass the complete request on; one that was refused has its answer already."""
        self.visit.expect_nothing()
        if self.channel.refused:
            self.channel.loseConnection()
            return None
        if not self._counts_for_client():
            return None
        if not self.requestHeaders.hasHeader("upgrade"):
            self.going.add(self)
        return super().process()

    def handle_reply(self, message: Any) -> None:
        """Send the application's message. Daphne looks up Twisted's class for each part of a stream, which takes longer than the rest."""
        if message.get("more_body") and not self.finished and self.channel is not None:
            Request.write(self, message["body"])  # type: ignore[no-untyped-call]  # Twisted's
            return
        self.visit.held = self.visit.held or []
        try:
            super().handle_reply(message)
        finally:
            self.visit.release()

    def finish(self) -> None:
        self._end()
        super().finish()
        self.visit.expect_next()

    def connectionLost(self, reason: Any) -> None:  # noqa: N802 - Twisted's name
        """End the request, because no client waits for the answer any more."""
        self._end()
        super().connectionLost(reason)

    def _end(self) -> None:
        self.going.discard(self)
        if self.body is not None:
            self.body.release()
            self.body = None

    def _look_up_key(self) -> None:
        if self.body is not None and self.body.wants_key:
            self.visit.pauseProducing()
            self.admitting = asyncio.ensure_future(self._admit(self.body))

    async def _admit(self, body: Body) -> None:
        """Continue to read if the key is valid; otherwise refuse the request with the key's error."""
        try:
            await body.admit()
        except SessionError as error:
            if body is self.body:
                self._refuse(error)
        finally:
            if body is not self.body:
                body.release()  # the client disconnected meanwhile
            self.visit.resumeProducing()

    def _refuse(self, error: SessionError) -> None:
        self.channel.refuse(error, 413 if isinstance(error, LimitReached) else 0)
        self._end()
        self.content.close()
        self.content = BytesIO()

    def _client(self) -> str:
        """Return the address of the client, also behind trusted proxies."""
        headers = [(name, value) for name, values in self.requestHeaders.getAllRawHeaders() for value in values]
        scope = {"type": "http", "client": (getattr(self.client, "host", ""), 0), "headers": headers}
        return str(apply_forwarded_headers(scope, settings.TRUSTED_PROXIES)["client"][0])

    def _counts_for_client(self) -> bool:
        """Return whether a client behind a proxy may have one more concurrent request; refuse the request if not.

        Other requests were counted when they arrived.
        """
        if self.channel.target.partition("?")[0] == PROBED or not settings.TRUSTED_PROXIES:
            return True
        self.visit.home = address_owner(self._client())
        try:
            self.visit.belong(self.visit.home)
        except SessionError as error:
            self.channel.refuse(error)
            return False
        return True


class Socket(WebSocketProtocol):
    """A WebSocket. Autobahn has one limit of the message size for both directions, but none for prepared messages."""

    def serverSend(self, content: str | bytes, binary: bool = False) -> None:  # noqa: N802 - Daphne's name
        """Send a text message; frame it once for all recipients. Otherwise like Daphne's method."""
        if binary or self.state != self.STATE_OPEN:
            super().serverSend(content, binary)
        else:
            self.sendPreparedMessage(self.factory.prepared(content))

    def sendData(self, data: bytes, sync: bool = False, chopsize: int | None = None) -> None:  # noqa: N802 - Autobahn's name
        """Write as much as the connection accepts at once, without waiting for the selector. Otherwise like Autobahn's method."""
        write_at_once(self.transport, data)

    def sendMessage(self, payload: bytes, isBinary: bool = False) -> None:  # noqa: N802, N803 - Autobahn's names
        """Send a payload of any size. Otherwise like Autobahn's method."""
        self.sendPreparedMessage(self.factory.prepareMessage(payload, isBinary))


class SocketFactory(WebSocketFactory):
    protocol = Socket
    _text: str | None = None
    _framed: PreparedMessage

    def prepared(self, text: str) -> PreparedMessage:
        """Return the framed message of a text; the last one is cached."""
        if text is not self._text:
            self._text, self._framed = text, self.prepareMessage(text.encode())
        return self._framed


class LimitedServer(ServerWithFactories):
    """Daphne's server with our factories. The scope of a request has the connection that it arrived on (sessions/limits.py)."""

    resting: Future[None] | None = None
    closing: Sequence[asyncio.Future[None]] = ()

    def http(self, factory: HTTPFactory) -> Visits:
        """Return the factory of connections with limits."""
        return Visits(factory, LimitedRequest)

    def sockets(self, factory: WebSocketFactory) -> SocketFactory:
        return SocketFactory(factory.server_class, server=factory.server)

    def create_application(self, protocol: Any, scope: Any) -> Any:
        """Begin to answer a request or a socket."""
        visit = protocol.visit if isinstance(protocol, LimitedRequest) else protocol.transport
        return super().create_application(protocol, {**scope, "visit": visit})

    def drain_on_signal(self) -> None:
        """Drain the server when the process receives SIGTERM, so that accepted requests are finished first."""

        def listen() -> None:
            signal.signal(signal.SIGTERM, lambda *_: reactor.callFromThread(self.drain))

        reactor.callLater(0, listen)  # type: ignore[arg-type]  # after the reactor has put its own handlers in place

    def drain(self) -> None:
        """Stop listening, make pages reconnect elsewhere, and stop the server when all requests are answered and sessions are saved."""
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
