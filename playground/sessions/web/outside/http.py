"""One POST over HTTP/1.1: to an address that has been chosen already, without redirects, proxies or compression, within limits.

What goes wrong is said in the words of Go's net/http, as kube-scheduler would log it.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass

HEAD_BYTES = 64 << 10
_STATUS = re.compile(rb"HTTP/1\.[01] ([0-9]{3})(?: [^\r\n]*)?\r?\n\Z")
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
    try:
        writer.write(_request(target, len(body)) + body)
        await writer.drain()
        status, headers = await _head(reader)
        if status != 200:
            return status, await _some(reader)
        progress.in_body = True
        return status, await _body(reader, headers, most)
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
        raise CallFailed(
            f"dial tcp {target.shown}: connect: {(error.strerror or 'failed').lower()}"
        ) from error


def _request(target: Target, length: int) -> bytes:
    lines = (
        f"POST {target.path} HTTP/1.1",
        f"Host: {target.host}",
        "User-Agent: Go-http-client/1.1",
        f"Content-Length: {length}",
        "Content-Type: application/json",
        "Accept-Encoding: identity",
        "Connection: close",
    )
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode("ascii")


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[bytes, bytes]]:
    """Status and headers, with names in lower case; those of 1xx answers are passed over."""
    while True:
        line = await _line(reader)
        if not line:
            raise CallFailed("EOF")
        match = _STATUS.match(line)
        if match is None:
            shown = line.decode("latin-1").rstrip("\r\n")[:80]
            raise CallFailed(
                f'net/http: HTTP/1.x transport connection broken: malformed HTTP response "{shown}"'
            )
        headers = await _headers(reader)
        status = int(match[1])
        if not 100 <= status < 200:
            return status, headers


async def _headers(reader: asyncio.StreamReader) -> dict[bytes, bytes]:
    headers: dict[bytes, bytes] = {}
    size = 0
    while (line := await _line(reader)) not in (b"\r\n", b"\n", b""):
        size += len(line)
        if size > HEAD_BYTES:
            raise CallFailed("net/http: server response headers exceeded the limit")
        name, _, value = line.partition(b":")
        headers[name.strip().lower()] = value.strip()
    return headers


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        return error.partial
    except asyncio.LimitOverrunError as error:
        raise CallFailed("net/http: server response headers exceeded the limit") from error


async def _some(reader: asyncio.StreamReader) -> bytes:
    """The beginning of what an error answer says, for people."""
    return (await reader.read(1000))[:1000]


async def _body(reader: asyncio.StreamReader, headers: dict[bytes, bytes], most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in _parts(reader, headers):
        size += len(part)
        if size > most:
            raise CallFailed(
                f"the answer has more than {most:,} bytes, the most that is read here", True, 200
            )
        parts.append(part)
    return b"".join(parts)


async def _parts(reader: asyncio.StreamReader, headers: dict[bytes, bytes]) -> AsyncIterator[bytes]:
    if headers.get(b"transfer-encoding", b"").lower() == b"chunked":
        while length := _chunk_length(await _line(reader)):
            async for part in _exactly(reader, length):
                yield part
            await _line(reader)
    elif b"content-length" in headers:
        text = headers[b"content-length"]
        if not text.isdigit():
            raise CallFailed(f'bad Content-Length "{text.decode("latin-1")[:40]}"')
        async for part in _exactly(reader, int(text)):
            yield part
    else:
        while part := await reader.read(_CHUNK):
            yield part


def _chunk_length(line: bytes) -> int:
    text = line.partition(b";")[0].strip()
    if not text:
        raise CallFailed("unexpected EOF", True, 200)
    try:
        return int(text, 16)
    except ValueError as error:
        raise CallFailed("invalid byte in chunk length", True, 200) from error


async def _exactly(reader: asyncio.StreamReader, length: int) -> AsyncIterator[bytes]:
    left = length
    while left > 0:
        part = await reader.read(min(left, _CHUNK))
        if not part:
            raise CallFailed("unexpected EOF", True, 200)
        left -= len(part)
        yield part
