"""One POST over HTTP/1.1: to a preselected address, without redirects, proxies, or compression, within limits.

Errors have the text of Go's net/http, as kube-scheduler would log it.
"""

import asyncio
import ssl
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import h11

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NAT64 = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))
_COMPATIBLE = ip_network("::/96")


class NotAllowedHost(ValueError):
    """A server that must not be called; the text gives the reason."""


@dataclass(frozen=True, slots=True)
class Host:
    """One entry of the list: a name or a network; port 0 is any port."""

    name: str = ""
    network: Network | None = None
    port: int = 0

    def fits_port(self, port: int) -> bool:
        return self.port in (0, port)


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The hosts that the server's operator allows."""

    hosts: tuple[Host, ...] = ()

    @classmethod
    def read(cls, entries: Iterable[str]) -> "AllowedHosts":
        """Parse `name`, `name:port`, `10.1.2.3:80`, `10.0.0.0/8`, `[::1]:80`. Raise ValueError for any other entry."""
        return cls(tuple(_host(entry) for entry in entries))

    def require_name(self, name: str, port: int) -> None:
        """Raise NotAllowedHost unless the list has this name, or a network with this address."""
        literal = _literal(name)
        for host in self.hosts:
            if not host.fits_port(port):
                continue
            if host.name == name.lower().rstrip("."):
                return
            if literal is not None and host.network is not None and literal in host.network:
                return
        shown = f"[{name}]" if ":" in name else name
        raise NotAllowedHost(f"{shown}:{port} is no extender that this server's operator allows (EXTENDER_HOSTS)")

    def choose(self, name: str, port: int, addresses: Sequence[str]) -> str:
        """Return the first of a name's addresses that may be connected to. Raise NotAllowedHost if there is none."""
        for text in addresses:
            address = ip_address(text.partition("%")[0])
            if is_public(address) or any(
                host.network is not None
                and host.fits_port(port)
                and any(one in host.network for one in _resolve_embedded_addresses(address))
                for host in self.hosts
            ):
                return text
        raise NotAllowedHost(
            f"{name} leads to {', '.join(addresses[:3]) or 'no address'}, which is not public, and not allowed as an address "
            "(EXTENDER_HOSTS)"
        )


def is_public(address: Address) -> bool:
    """Return whether an address, and each address embedded in it, is public."""
    return all(one.is_global and not one.is_multicast for one in _resolve_embedded_addresses(address))


def _resolve_embedded_addresses(address: Address) -> tuple[Address, ...]:
    """Return the address, and the IPv4 address that an IPv6 address embeds; only the latter if it is IPv4-mapped."""
    if isinstance(address, IPv4Address):
        return (address,)
    if address.ipv4_mapped is not None:
        return (address.ipv4_mapped,)
    if address.sixtofour is not None:
        return address, address.sixtofour
    if address.teredo is not None:
        return address, *address.teredo
    if any(address in network for network in _NAT64) or (address in _COMPATIBLE and int(address) > 1):
        return address, IPv4Address(int(address) & 0xFFFFFFFF)
    return (address,)


def _literal(name: str) -> Address | None:
    try:
        return ip_address(name)
    except ValueError:
        return None


def _host(entry: str) -> Host:
    text, port = entry, 0
    if entry.startswith("["):
        inner, _, rest = entry[1:].partition("]")
        text, port = inner, _port(rest.removeprefix(":"), entry) if rest else 0
    elif entry.count(":") == 1:
        text, _, number = entry.partition(":")
        port = _port(number, entry)
    try:
        return Host(network=ip_network(text), port=port)
    except ValueError:
        pass
    if not text or "/" in text or not all(part for part in text.rstrip(".").split(".")):
        raise ValueError(f"{entry!r} is no host, address or network such as extender.example:8080 or 10.0.0.0/8")
    return Host(text.lower().rstrip("."), port=port)


def _port(text: str, entry: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 0 < int(text) < 65536:
        raise ValueError(f"{entry!r} has no port from 1 to 65535")
    return int(text)


HEAD_BYTES = 64 << 10
_WORDS = 1000  # bytes of an error response that users see


class CallFailed(Exception):
    """Go's error message; `in_body`: the body was being read."""

    def __init__(self, words: str, in_body: bool = False, status: int = 0) -> None:
        super().__init__(words)
        self.words, self.in_body, self.status = words, in_body, status


@dataclass(slots=True)
class Progress:
    """The progress of a call."""

    in_body: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a call: `host` for the Host header; `address` and `port` for the connection; `server_name` for TLS."""

    address: str
    port: int
    host: str
    path: str
    context: ssl.SSLContext | None = None
    server_name: str = ""

    @property
    def shown(self) -> str:
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


async def post(target: Target, body: bytes, most: int, progress: Progress) -> tuple[int, bytes]:
    """Return the status and body of the response, at most `most` bytes. Raise CallFailed. The caller sets time limits."""
    reader, writer = await _connect(target)
    call = _Call(reader)
    try:
        writer.write(call.write_request(target, body))
        await writer.drain()
        status = await call.read_status()
        if status != 200:
            return status, (await call.read_part())[:_WORDS]
        progress.in_body = True
        answer = bytearray()
        while part := await call.read_part():
            answer += part
            if len(answer) > most:
                many = f"the answer has more than {most:,} bytes, the most that is read here"
                raise CallFailed(many, True, 200)
        return status, bytes(answer)
    except (ConnectionError, ssl.SSLError) as error:
        raise CallFailed(f"read tcp {target.shown}: read: connection reset by peer") from error
    finally:
        writer.transport.abort()  # close at once, without a TLS shutdown, which may take long


async def _connect(target: Target) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    try:
        return await asyncio.open_connection(
            target.address,
            target.port,
            limit=HEAD_BYTES,
            ssl=target.context,
            server_hostname=target.server_name if target.context is not None else None,
        )
    except ConnectionRefusedError as error:
        raise CallFailed(f"dial tcp {target.shown}: connect: connection refused") from error
    except ssl.SSLCertVerificationError as error:
        raise CallFailed(f"tls: failed to verify certificate: x509: {error.verify_message}") from error
    except ssl.SSLError as error:
        if error.reason == "WRONG_VERSION_NUMBER":
            raise CallFailed("http: server gave HTTP response to HTTPS client") from error
        raise CallFailed(f"remote error: tls: {(error.reason or 'handshake failure').lower()}") from error
    except OSError as error:
        raise CallFailed(f"dial tcp {target.shown}: connect: {(error.strerror or 'failed').lower()}") from error


class _Call:
    """One request and its response, parsed by h11. Its limit holds for the head, and for the head of each chunk."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)
        self._begun = b""  # the first bytes of the response, which Go's error shows if it is malformed

    def write_request(self, target: Target, body: bytes) -> bytes:
        headers = [
            ("Host", target.host),
            ("User-Agent", "Go-http-client/1.1"),
            ("Content-Length", str(len(body))),
            ("Content-Type", "application/json"),
            ("Accept-Encoding", "identity"),
            ("Connection", "close"),
        ]
        request = h11.Request(method="POST", target=target.path, headers=headers)
        events = (request, h11.Data(data=body), h11.EndOfMessage())
        return b"".join(self._connection.send(event) or b"" for event in events)

    async def read_status(self) -> int:
        """Return the status of the response; 1xx responses are skipped."""
        while True:
            try:
                event = await self._read_event()
            except h11.RemoteProtocolError as error:
                raise CallFailed(self._explain_head(error)) from error
            if isinstance(event, h11.Response):
                return event.status_code
            if not isinstance(event, h11.InformationalResponse):
                raise CallFailed("EOF")

    async def read_part(self) -> bytes:
        """Return the next part of the body; b"" at its end."""
        try:
            event = await self._read_event()
        except h11.RemoteProtocolError as error:
            words = "unexpected EOF" if self._reader.at_eof() else "invalid byte in chunk length"
            raise CallFailed(words, True, 200) from error
        return bytes(event.data) if isinstance(event, h11.Data) else b""

    async def _read_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        while (event := self._connection.next_event()) is h11.NEED_DATA:
            data = await self._reader.read(HEAD_BYTES)
            self._begun = self._begun or data
            self._connection.receive_data(data)
        return event

    def _explain_head(self, error: h11.RemoteProtocolError) -> str:
        if not self._begun:
            return "EOF"
        if error.error_status_hint == 431:
            return "net/http: server response headers exceeded the limit"
        if "Content-Length" in str(error):
            return "net/http: HTTP/1.x transport connection broken: bad Content-Length"
        if self._reader.at_eof() and self._begun.startswith(b"HTTP/1."):
            return "unexpected EOF"
        line = self._begun.split(b"\n")[0].decode("latin-1").rstrip("\r")[:80]
        return f'net/http: HTTP/1.x transport connection broken: malformed HTTP response "{line}"'
