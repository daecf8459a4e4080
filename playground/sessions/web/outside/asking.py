"""Calls of real extenders for a world that waits for them; each answer becomes a command for the log.

Other sessions are not delayed: calls use no thread, at most CALLS run at a time, and each has a time limit.
"""

import asyncio
import base64
import binascii
import contextlib
import socket
import ssl
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

import msgspec
from django.conf import settings

from playground.presenters.words import message
from playground.sessions.protocol.errors import LimitReached, SessionError
from playground.sessions.protocol.moving import BeginWatch, EndWatch, NextSeen, OutsideCall, StartedWatch
from playground.sessions.web.engine_connection import EngineConnection
from playground.sessions.web.outside.http import AllowedHosts, CallFailed, NotAllowedHost, Progress, Target, post
from scheduler_core.world.commands import AnswerExtender, OutsideAnswer

# TLS as kube-scheduler does it with an extender's `enableHTTPS` and `tlsConfig`.
#
# kube: pkg/scheduler/extender.go (makeTransport), client-go/transport/transport.go (TLSConfigFor) @ v1.34.1

_FILES = ("certFile", "keyFile", "caFile")


class BadTLS(ValueError):
    """A tlsConfig that is invalid; the text gives the reason."""


def context_of(config: Mapping[str, Any], enabled: bool) -> tuple[ssl.SSLContext, str]:
    """Return the context, and the name that the certificate must have ("": the host's). Raise BadTLS.

    As in kube, `enableHTTPS` without a CA trusts any certificate.
    """
    for name in _FILES:
        if config.get(name):
            raise BadTLS(f"tlsConfig.{name} is a file, and this server reads none for a session: use {name[:-4]}Data")
    authority = _pem(config, "caData")
    insecure = bool(config.get("insecure")) or (enabled and not authority)
    if authority and config.get("insecure"):
        raise BadTLS("specifying a root certificates file with the insecure flag is not allowed")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif authority:
        try:
            context.load_verify_locations(cadata=authority)
        except ssl.SSLError as error:
            raise BadTLS("unable to load root certificates: unable to parse bytes as PEM block") from error
    else:
        context.load_default_certs()
    _use_certificate(context, _pem(config, "certData"), _pem(config, "keyData"))
    return context, str(config.get("serverName") or "")


def _pem(config: Mapping[str, Any], field: str) -> str:
    """Return a field as PEM: Go encodes bytes in base64. Raise BadTLS."""
    text = config.get(field) or ""
    try:
        return base64.b64decode(str(text), validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise BadTLS(f"tlsConfig.{field} is not PEM in base64") from error


def _use_certificate(context: ssl.SSLContext, certificate: str, key: str) -> None:
    if not certificate and not key:
        return
    if not certificate or not key:
        raise BadTLS("tlsConfig.certData and keyData go together")
    # ssl loads certificates from files only; this one is deleted at once.
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(f"{certificate}\n{key}\n")
        file.flush()
        try:
            context.load_cert_chain(file.name)
        except (ssl.SSLError, OSError) as error:
            raise BadTLS("tls: failed to find any PEM data in certificate or key input") from error


CALLS = 16
_MILLISECOND = 1_000_000
_SECOND = 1_000_000_000
_PORTS = {"http": 80, "https": 443}
_slots: asyncio.Semaphore | None = None


async def ask(call: OutsideCall) -> AnswerExtender:
    """Return the answer of a call; each error is an answer, too."""
    async with _slot():
        started = time.monotonic()
        answer = await _answer(call)
        took = time.monotonic() - started
    if not answer.latency:
        answer = msgspec.structs.replace(answer, latency=round(took * 1000) * _MILLISECOND)
    return AnswerExtender(call.scheduler, call.attempt, call.number, answer)


async def _answer(call: OutsideCall) -> OutsideAnswer:
    """Return the response or the error. The world reports a timeout in kube's words, as for any response that takes so long."""
    limit = min(call.timeout / _SECOND, settings.EXTENDER_SECONDS)
    progress = Progress()
    try:
        async with asyncio.timeout(limit):
            target = await _target(call)
            status, body = await post(target, call.body, settings.MAX_EXTENDER_BYTES, progress)
    except TimeoutError:
        status = 200 if progress.in_body else 0
        return OutsideAnswer(status, in_body=progress.in_body, latency=call.timeout)
    except CallFailed as failed:
        return OutsideAnswer(failed.status, error=failed.words, in_body=failed.in_body)
    except (NotAllowedHost, BadTLS) as refused:
        return OutsideAnswer(error=str(refused))
    return OutsideAnswer(status, body.decode("utf-8", "replace"))


def _slot() -> asyncio.Semaphore:
    """Return the semaphore for CALLS calls, created on the loop that uses it."""
    global _slots
    if _slots is None:
        _slots = asyncio.Semaphore(CALLS)
    return _slots


async def _target(call: OutsideCall) -> Target:
    """Return the target of a call, with its only address. Raise CallFailed, NotAllowedHost, or BadTLS."""
    parts = _split(call.url)
    name, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    try:
        allowed = AllowedHosts.read(settings.EXTENDER_HOSTS)
    except ValueError as error:
        raise NotAllowedHost(f"EXTENDER_HOSTS of this server: {error}") from error
    allowed.require_name(name, port)
    address = allowed.choose(name, port, await _resolve(name, port))
    context: ssl.SSLContext | None = None
    server_name = ""
    if parts.scheme == "https":
        context, server_name = await asyncio.to_thread(context_of, call.tls, call.enable_https)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    host = parts.netloc.rpartition("@")[2]
    return Target(address, port, host, path or "/", context, server_name or name)


def _split(url: str) -> SplitResult:
    """Split a URL and check it as Go's client does before it connects. Raise CallFailed."""
    try:
        parts = urlsplit(url)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError as error:
        raise CallFailed(f'parse "{url}": invalid port or host') from error
    if parts.scheme not in _PORTS:
        raise CallFailed(f'unsupported protocol scheme "{parts.scheme}"')
    if not parts.hostname or not port_is_fine:
        raise CallFailed("http: no Host in request URL")
    if not url.isascii() or any(character <= " " for character in url):
        raise CallFailed("net/url: invalid control character in URL")
    return parts


async def _resolve(name: str, port: int) -> list[str]:
    """Return the addresses of a name, resolved once. Raise CallFailed."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise CallFailed(f"dial tcp: lookup {name}: no such host") from error
    return [str(entry[4][0]) for entry in found]


MOST = 1000
PAUSE = 0.02  # seconds between batches of events
Send = Callable[[bytes | None], None]


class Watching:
    """A session's watches, on the sessions' loop. `Send` gets a watch's events; None: it ended. `version` is the newest resourceVersion."""

    def __init__(self, engine: EngineConnection) -> None:
        self._engine = engine
        self._watches: dict[int, Send] = {}
        self.version = 0
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()

    def __len__(self) -> int:
        return len(self._watches)

    async def begin(self, request: BeginWatch, send: Send) -> StartedWatch:
        """Begin a watch. Raise LimitReached."""
        if len(self._watches) >= MOST:
            raise LimitReached(message("A session takes at most %(most)s watches.", most=MOST))
        await self._engine.ready()
        begun = await self._engine.call(request)
        if begun.number:
            self._watches[begun.number] = send
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._work())
            self.wake()  # its first bookmark needs the version
        return begun

    async def end(self, number: int) -> None:
        """End the watch of a client that disconnected; a worker that has ended has no watches."""
        if self._watches.pop(number, None) is not None:
            with contextlib.suppress(SessionError):
                await self._engine.call(EndWatch(number=number))

    def wake(self) -> None:
        """Send new events soon, because the head moved."""
        self._wake.set()

    async def _work(self) -> None:
        while self._watches:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._engine.ready()
                seen = await self._engine.call(NextSeen())
            except SessionError:
                self._end_all(list(self._watches))
                return
            self.version = seen.version
            self._end_all(list(self._watches.keys() - seen.alive))
            for numbers, part in seen.parts:
                for number in numbers:
                    if number in self._watches:
                        self._watches[number](part)
            await asyncio.sleep(PAUSE)

    def _end_all(self, numbers: list[int]) -> None:
        for number in numbers:
            self._watches.pop(number)(None)
