"""Connections: how many there may be, and how long one may take over what it sends.

Whoever sends a request drop by drop holds a connection for nothing. So the head of a request has to come within some seconds, and its body
in pieces of some size.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from twisted.internet import reactor as running
from twisted.internet.protocol import Protocol, connectionDone
from twisted.protocols.policies import ProtocolWrapper, WrappingFactory

from playground.gate import raw_refusal
from playground.sessions.protocol.errors import Unavailable
from playground.telemetry import CONNECTIONS, REFUSED

PIECE = 16 << 10  # bytes of a body that have to come within settings.REQUEST_SECONDS
reactor: Any = running  # its class is chosen when it runs
RESERVE = 256  # descriptors for the database, workers, logs and files
IDLE = 75.0  # seconds between two requests of a connection
FULL = "This server has as many connections as it takes. Please try again in a moment; nothing is lost."


def make_room() -> None:
    """Take as many file descriptors as the system gives, and no more connections than these serve."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = settings.MAX_CONNECTIONS + RESERVE
    given = max(soft, wanted if hard == resource.RLIM_INFINITY else min(wanted, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (given, hard))
    settings.MAX_CONNECTIONS = max(1, min(settings.MAX_CONNECTIONS, given - RESERVE))
    settings.MAX_SOCKETS = max(1, min(settings.MAX_SOCKETS, settings.MAX_CONNECTIONS * 3 // 4))


class Visit(ProtocolWrapper):
    """One connection, and until when something has to come; its requests say what does."""

    def __init__(self, factory: Any, channel: Any) -> None:
        channel.requestFactory = partial(factory.request, self)
        super().__init__(factory, channel)
        self._deadline: Any = None
        self._piece = 0

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        super().connectionMade()  # type: ignore[no-untyped-call]  # Twisted's
        CONNECTIONS.inc()
        self.expect(settings.REQUEST_SECONDS)

    def connectionLost(self, reason: Any = connectionDone) -> None:  # noqa: N802 - Twisted's name
        CONNECTIONS.dec()
        self.expect_nothing()
        super().connectionLost(reason)  # type: ignore[no-untyped-call]  # Twisted's

    def expect(self, seconds: float) -> None:
        """A request, or more of one, has to come within so many seconds, or the connection ends."""
        self.expect_nothing()
        self._deadline = reactor.callLater(seconds, self._late)

    def expect_body(self) -> None:
        """The head has come; now its body has to, piece by piece."""
        self._piece = 0
        self.expect(settings.REQUEST_SECONDS)

    def came(self, size: int) -> None:
        """So many bytes of a body have come."""
        self._piece += size
        if self._piece >= PIECE:
            self.expect_body()

    def expect_next(self) -> None:
        """A request was answered; the connection is kept for the next one for a while."""
        self.expect(IDLE)

    def expect_nothing(self) -> None:
        """It is this server's turn."""
        if self._deadline is not None and self._deadline.active():
            self._deadline.cancel()

    def _late(self) -> None:
        REFUSED.labels("too slow").inc()
        self.abortConnection()


class Overflow(Protocol):
    """A connection too many is told so, and ends."""

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        transport: Any = self.transport
        transport.write(raw_refusal(b"503 Service Unavailable", Unavailable(FULL)))
        transport.loseConnection()


class Visits(WrappingFactory):
    """Makes the connections of a factory, as many as there may be. A request is made of its Visit and of what Twisted gives."""

    protocol: Callable[..., Any] = Visit

    def __init__(self, factory: Any, request: Callable[..., Any]) -> None:
        super().__init__(factory)  # type: ignore[no-untyped-call]  # Twisted's
        self.request = request

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - Twisted's name
        """A connection as the wrapped factory makes it, or one that is told that there are too many."""
        if len(self.protocols) >= settings.MAX_CONNECTIONS:
            REFUSED.labels("too many connections").inc()
            return Overflow()
        return super().buildProtocol(addr)
