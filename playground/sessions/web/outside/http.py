"""One POST over HTTP/1.1: to an address that has been chosen already, without redirects, proxies or compression, within limits.

What goes wrong is said in the words of Go's net/http, as kube-scheduler would log it.
"""

import asyncio
import ssl
from dataclasses import dataclass

import h11

HEAD_BYTES = 64 << 10
_WORDS = 1000  # of what an error answer says, for people
_CHUNK = 64 << 10


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
    """Status and body of the answer, which may have so many bytes. CallFailed. Time limits are the caller's."""
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
        writer.transport.abort()  # nothing more is wanted of it; a goodbye might take its time


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
    """One request and its answer, as h11 reads them. Its limits hold for the head, and for the head of each chunk."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)
        self._begun = b""  # the first bytes of the answer, which Go shows where they are no answer

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
        """The status of the answer; 1xx answers are passed over."""
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
        """The next part of the body; empty at its end."""
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
