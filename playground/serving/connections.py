"""Connections: their limits, in total and by client, and the time limits for what clients send.

A client that sends a request drop by drop occupies a connection. So a request's head must arrive within some seconds, and its body in
pieces of a minimum size. A connection that waits for its next request gives way to one with a request (limits/shares.py). A few
connections beyond the limit are reserved for `/healthz`, so that a monitor does not find the server dead when all others are occupied.
"""

import asyncio
import resource
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from django.conf import settings
from twisted.internet import reactor as running
from twisted.internet.protocol import connectionDone
from twisted.protocols.policies import ProtocolWrapper, WrappingFactory
from twisted.web.http import HTTPChannel

from playground.common.addresses import is_in, read_address
from playground.common.logs import CONNECTIONS as COUNTED
from playground.common.logs import REFUSED
from playground.serving.gate import raw_refusal
from playground.sessions.limits import CONNECTIONS, address_owner
from playground.sessions.protocol.errors import SessionError, Unavailable

PIECE = 16 << 10  # bytes of a body that have to come within settings.REQUEST_SECONDS
reactor: Any = running  # its class is chosen when it runs
RESERVE = 256  # descriptors for the database, workers, logs and files
IDLE = 75.0  # seconds between two requests of a connection
FULL = "This server has as many connections as it takes. Please try again in a moment; nothing is lost."
PROBES = 16  # connections beyond the limit, for PROBED alone
PROBED = "/healthz"
PROBE_SECONDS = 2.0  # within which one of these says what it asks for
PROXIED = "proxy"  # the owner of connections whose client is not known yet
THROW_AWAY_SECONDS = 5.0
PAUSE = 0.002  # seconds between two looks whether all is sent
NEVER = 1e9  # seconds
STALLED = 60.0  # seconds without a byte that a client takes of what is sent in parts
MOST_UNSENT = 16 << 20  # bytes of a stream that a client has not taken: an API server closes such a watch too
LONG_ADDRESS = "This address is longer than the {most:,} bytes that this server reads."
LONG_HEADERS = "The headers of this request are longer than the {most:,} bytes that this server reads."


def make_room() -> None:
    """Raise the limit of file descriptors as far as possible, and lower the limit of connections to match."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = settings.MAX_CONNECTIONS + RESERVE
    # Without privileges, a process can raise its soft limit only up to the hard one.
    given = max(soft, wanted if hard == resource.RLIM_INFINITY else min(wanted, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (given, hard))
    settings.MAX_CONNECTIONS = max(1, min(settings.MAX_CONNECTIONS, given - RESERVE))
    # A WebSocket holds its connection as long as its page is open: a quarter stays free for plain requests.
    settings.MAX_SOCKETS = max(1, min(settings.MAX_SOCKETS, settings.MAX_CONNECTIONS * 3 // 4))


def connection_of(transport: Any) -> Any:
    """Return the TCP connection below its wrappers."""
    while isinstance(transport, ProtocolWrapper):
        transport = transport.transport
    return transport


def takes_at_once(tcp: Any) -> bool:
    """Return whether a connection has no unsent data, so that data written to it now stays in order.

    Twisted keeps unsent data in `dataBuffer`, and before that in a list whose length is only in `_tempDataLen`.
    """
    return bool(tcp.connected and not tcp.dataBuffer and not tcp._tempDataLen)


def unsent(tcp: Any) -> int:
    """Return the number of written bytes that the system has not accepted."""
    return int(len(tcp.dataBuffer) - tcp.offset + tcp._tempDataLen)


def write_at_once(transport: Any, data: bytes) -> None:
    """Write as much as the connection takes at once, without waiting for the selector."""
    tcp, written = connection_of(transport), 0
    if takes_at_once(tcp):
        try:
            written = tcp.socket.send(data)
        except OSError:
            written = 0  # Twisted comes upon it again
    if written != len(data):
        tcp.write(data[written:])


class Channel(HTTPChannel):
    """Twisted's HTTP channel, but it knows the target of a request before the body arrives, and refuses requests with a message."""

    totalHeadersSize = 48 << 10  # noqa: N815 - Twisted's name; beyond it Twisted ends the connection
    most_headers = 32 << 10
    method = target = ""
    refused = False
    _head = 0  # bytes of the request's head that have come; 0 between requests

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Parse more data. After a refusal, discard data for a while, so that the browser can read the answer."""
        if not self.refused:
            super().dataReceived(data)  # type: ignore[no-untyped-call]  # Twisted's

    def lineReceived(self, line: bytes) -> None:  # noqa: N802 - Twisted's name
        """Parse a line of a request's head. Twisted creates the request at the first line."""
        known = len(self.requests)
        super().lineReceived(line)  # type: ignore[no-untyped-call]  # Twisted's
        self._head += len(line)
        if len(self.requests) > known:
            method, target, *_ = [*line.decode("latin-1").split(" "), "", ""]
            self.method, self.target, self._head = method, target, len(line)
            visit: Any = self.transport
            visit.begin(target.partition("?")[0])
        elif self._head > self.most_headers:
            self.refuse(SessionError(LONG_HEADERS.format(most=self.most_headers)), 431)

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: N802 - Twisted's name
        """Refuse a line that is too long: the address, or a header."""
        if self._head:
            self.refuse(SessionError(LONG_HEADERS.format(most=self.MAX_LENGTH)), 431)
        else:
            self.refuse(SessionError(LONG_ADDRESS.format(most=self.MAX_LENGTH)), 414)

    def allContentReceived(self) -> None:  # noqa: N802 - Twisted's name
        """Finish a request. The next line starts another."""
        self._head = 0
        super().allContentReceived()  # type: ignore[no-untyped-call]  # Twisted's

    def refuse(self, error: SessionError, status: int = 0) -> None:
        """Answer with an error and stop reading."""
        if self.refused:
            return
        self.refused = True
        visit: Any = self.transport
        visit.expect_nothing()
        visit.write(raw_refusal(error, status))
        reactor.callLater(THROW_AWAY_SECONDS, visit.abortConnection)


class Visit(ProtocolWrapper):
    """One connection with its current deadline, which its requests set."""

    is_probe = False  # beyond the limit, for PROBED alone
    is_idle = False  # between two requests
    home = PROXIED  # the owner that it counts for while no key was shown

    def __init__(self, factory: Any, channel: Any) -> None:
        channel.requestFactory = partial(factory.request, self)
        super().__init__(factory, channel)
        self._deadline: Any = None
        self._piece = 0
        self.held: list[bytes] | None = None  # the head of an answer, its body, and its end go out together

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        super().connectionMade()  # type: ignore[no-untyped-call]  # Twisted's
        COUNTED.inc()
        self.expect(min(PROBE_SECONDS, settings.REQUEST_SECONDS) if self.is_probe else settings.REQUEST_SECONDS)

    def connectionLost(self, reason: Any = connectionDone) -> None:  # noqa: N802 - Twisted's name
        COUNTED.dec()
        CONNECTIONS.remove(self)
        self.expect_nothing()
        self._deadline.cancel()
        super().connectionLost(reason)  # type: ignore[no-untyped-call]  # Twisted's

    def begin(self, path: str) -> None:
        """Start a request. Beyond the limit of connections, only the monitor's path is answered."""
        self.is_idle = False
        if self.is_probe and path != PROBED:
            self.refuse()

    def refuse(self) -> None:
        """Refuse a connection beyond the limit, and close it."""
        REFUSED.labels("too many connections").inc()
        self.wrappedProtocol.refused = True
        self.write(raw_refusal(Unavailable(FULL)))
        self.loseConnection()

    def belong(self, owner: str) -> None:
        """Count for an owner. Raise Unavailable if the owner has its maximum of connections and none is idle."""
        if self.is_probe or CONNECTIONS.owner_of(self) in (owner, None):
            return
        if not self.factory.has_room(owner):
            raise Unavailable(FULL)
        CONNECTIONS.give(self, owner)

    def expect(self, seconds: float) -> None:
        """Set the deadline of a request or of its next part. The connection ends when it passes."""
        if self._deadline is not None and self._deadline.active():
            self._deadline.reset(seconds)  # far cheaper than another call, and it happens twice for each request
        else:
            self._deadline = reactor.callLater(seconds, self._late)

    def expect_body(self) -> None:
        """Set the deadline of the first piece of a body."""
        self._piece = 0
        self.expect(settings.REQUEST_SECONDS)

    def came(self, size: int) -> None:
        """So many bytes of a body have come."""
        self._piece += size
        if self._piece >= PIECE:
            self.expect_body()

    def expect_next(self) -> None:
        """Keep the connection for the next request for a while."""
        owner = CONNECTIONS.owner_of(self)  # none of one beyond the limit, nor of one that gave way
        if owner is None or (owner != self.home and not self.factory.has_room(self.home)):
            self.loseConnection()
        else:
            CONNECTIONS.give(self, self.home)  # the youngest of them
            self.is_idle = True
            self.expect(IDLE)

    def expect_nothing(self) -> None:
        """It is this server's turn."""
        self.factory.probes.pop(self, None)
        self.expect(NEVER)

    def write(self, data: bytes) -> None:
        """Send at once, or with the rest of an answer."""
        if self.held is None:
            write_at_once(self, data)
        else:
            self.held.append(data)

    def writeSequence(self, data: Iterable[bytes]) -> None:  # noqa: N802 - Twisted's name
        """Send several pieces with one call."""
        self.write(b"".join(data))

    def release(self) -> None:
        """Send the held data."""
        held, self.held = self.held, None
        if held:
            write_at_once(self, b"".join(held))

    def loseConnection(self) -> None:  # noqa: N802 - Twisted's name
        """Close the connection after the written data."""
        self.release()
        super().loseConnection()  # type: ignore[no-untyped-call]  # Twisted's

    async def drained(self) -> bool:
        """Wait until all written data is sent. Return False if the connection ends first."""
        tcp, left, since = connection_of(self), 0, time.monotonic()
        while tcp.connected and not takes_at_once(tcp):
            if left != unsent(tcp):
                left, since = unsent(tcp), time.monotonic()
            elif time.monotonic() - since > STALLED:
                self.abortConnection()
            await asyncio.sleep(PAUSE)
        return bool(tcp.connected)

    def push(self, chunk: bytes) -> None:
        """Write a chunk of a stream, or end the connection where its client does not read."""
        tcp = connection_of(self)
        if not takes_at_once(tcp) and unsent(tcp) > MOST_UNSENT:
            REFUSED.labels("slow watch").inc()
            self.abortConnection()
        else:
            write_at_once(tcp, chunk)

    def _late(self) -> None:
        REFUSED.labels("too slow").inc()
        self.abortConnection()


class Visits(WrappingFactory):
    """A factory of limited connections. A request is created with its Visit and Twisted's arguments."""

    protocol: Callable[..., Any] = Visit

    def __init__(self, factory: Any, request: Callable[..., Any]) -> None:
        super().__init__(factory)  # type: ignore[no-untyped-call]  # Twisted's
        factory.protocol = Channel
        factory.timeOut = None  # a Visit has its own
        factory.log = lambda request: None  # Twisted writes a line for each request, to nowhere
        self.request = request
        self.probes: dict[Visit, None] = {}  # those that have not said yet what they ask for

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - Twisted's name
        """Build a connection. One beyond the limit is refused once it requests a path other than PROBED."""
        visit: Any = super().buildProtocol(addr)
        peer = read_address(getattr(addr, "host", ""))
        if peer is not None and not is_in(peer, settings.TRUSTED_PROXIES):
            visit.home = address_owner(str(peer))
        visit.is_probe = not (self.has_room(visit.home) and (not CONNECTIONS.is_full or _end_idle(None)))
        if not visit.is_probe:
            CONNECTIONS.give(visit, visit.home)
            return visit
        self.probes[visit] = None
        if len(self.probes) > PROBES:
            oldest = next(iter(self.probes))
            del self.probes[oldest]
            oldest.refuse()
        return visit

    def has_room(self, owner: str) -> bool:
        """Return whether an owner may have one more connection; end the oldest idle one to make room if necessary."""
        return owner == PROXIED or CONNECTIONS.has_room(owner) or _end_idle(owner)


def _end_idle(owner: str | None) -> bool:
    """End the oldest connection, of an owner or of all, that waits for its next request; False where none does."""
    for visit in CONNECTIONS.things(owner):
        if visit.is_idle:
            CONNECTIONS.remove(visit)
            visit.loseConnection()
            return True
    return False
