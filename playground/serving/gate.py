"""The gate in front of the application, for any server: it refuses bodies over the limit, and sockets opened by foreign pages."""

import codecs
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.template.loader import render_to_string
from django.utils.http import parse_header_parameters

from playground.common.addresses import Network, is_in, read_address
from playground.common.logs import REQUEST, SESSION
from playground.serving.bodies import body_limit
from playground.sessions.protocol.errors import SessionError

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Receive, Send], Awaitable[None]]

UNREADABLE_TYPE = "The header Content-Type of this request can't be read."
DRAWER = b"x-drawer"


def refusal(error: SessionError, path: str = "", drawer: bool = False) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Return the headers and the page that answer a refused request; in the studio's drawer the page is a fragment."""
    context = {"error": error, "key": _key_of(path), "base": f"playground/{'fragment' if drawer else 'base'}.html"}
    body = render_to_string("playground/problem.html", context).encode()
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"content-security-policy", b"default-src 'self'"),
        (b"referrer-policy", b"same-origin"),
        (b"cache-control", b"no-store"),
        # The rest of the body is not read, so the next bytes on this connection would not be a request.
        (b"connection", b"close"),
    ]
    if error.retry_after is not None:
        headers.append((b"retry-after", str(error.retry_after).encode()))
    return headers, body


def raw_refusal(error: SessionError, status: int = 0) -> bytes:
    """Return the refusal as the bytes of an HTTP/1.1 response, for a caller that answers before there is a request."""
    headers, body = refusal(error)
    code = HTTPStatus(status or error.status)
    said = f"HTTP/1.1 {code.value} {code.phrase}".encode()
    return b"\r\n".join([said, *(b"%s: %s" % header for header in headers), b"", body])


def _key_of(path: str) -> str:
    """Return the session's key in a path, for the link back to the session."""
    parts = path.split("/")
    return parts[2] if len(parts) > 3 and parts[1] == "s" else ""


class TooLargeError(Exception):
    """The body exceeds the limit of the request's path."""


class LimitedBody:
    """ASGI middleware that answers 413 as soon as the declared or received length of a body exceeds the limit of its path.

    Daphne buffers whole bodies before it calls the application: see server.py.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        limit, taken, begun = body_limit(scope["path"], scope["method"]), 0, False
        declared = _get_content_length(scope)
        if declared > limit.bytes:
            await _refuse(scope, send, 413, limit.refusal(declared))
            return

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > limit.bytes:
                raise TooLargeError
            return message

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._application(scope, counted, watched)
        except TooLargeError:
            # A status that is already sent can't be changed.
            if not begun:
                await _refuse(scope, send, 413, limit.refusal())


def _get_content_length(scope: Any) -> int:
    for name, value in scope["headers"]:
        if name.lower() == b"content-length" and value.isdigit():
            return int(value)
    return 0


class ReadableType:
    """ASGI middleware that answers 415 to a content type that Django cannot parse; middleware.py checks the types that Django can."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if all(_is_readable(value) for name, value in scope["headers"] if name.lower() == b"content-type"):
            await self._application(scope, receive, send)
        else:
            await _refuse(scope, send, 415, SessionError(UNREADABLE_TYPE))


def _is_readable(content_type: bytes) -> bool:
    try:
        _, parameters = parse_header_parameters(content_type.decode("latin-1"))
        codecs.lookup(parameters.get("charset", "utf-8"))
    except LookupError:
        return True  # Django ignores an unknown charset
    except ValueError:
        return False
    return True


async def _refuse(scope: Any, send: Send, status: int, error: SessionError) -> None:
    drawer = any(name.lower() == DRAWER for name, _ in scope["headers"])
    headers, body = await sync_to_async(refusal, thread_sensitive=False)(error, scope["path"], drawer)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class SameOrigin:
    """ASGI middleware that lets only pages of this host and port, or of a trusted origin, open a socket; it refuses one without Origin."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        encrypted = scope.get("scheme") == "wss"
        allowed = is_own_origin(headers.get(b"origin", ""), headers.get(b"host", ""), encrypted)
        await (self._application if allowed else WebsocketDenier())(scope, receive, send)


def is_own_origin(origin: str, host: str, encrypted: bool = False) -> bool:
    """Return whether a page of `origin` may connect to `host`; if `encrypted`, only an https origin may."""
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    schemes = ("https",) if encrypted else ("http", "https")
    if parts.scheme not in schemes or parts.netloc.lower() != host.lower():
        return False
    # With DNS rebinding, a foreign page sends an Origin that equals Host, so Host is validated, too.
    # The default is Django's in debug mode.
    allowed = settings.ALLOWED_HOSTS or [".localhost", "127.0.0.1", "[::1]"]
    return validate_host(split_domain_port(host)[0], allowed)


REQUEST_ID = b"x-request-id"
FORWARDED = (b"x-forwarded-for", b"x-forwarded-proto", REQUEST_ID)
SCHEMES = {"http": {"http": "http", "https": "https"}, "websocket": {"http": "ws", "https": "wss"}}


class BehindProxies:
    """ASGI middleware that passes a request on as if its client had connected to this server directly."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        await self._application(apply_forwarded_headers(scope, settings.TRUSTED_PROXIES), receive, send)


def apply_forwarded_headers(scope: Any, trusted: Sequence[Network]) -> Any:
    """Return the scope with the client and the scheme that trusted proxies report. Remove the headers of any other sender."""
    if not trusted or scope["type"] not in SCHEMES:
        return scope
    peer = read_address((scope.get("client") or ("",))[0])
    if peer is None or not is_in(peer, trusted):
        headers = [(name, value) for name, value in scope["headers"] if name.lower() not in FORWARDED]
        return {**scope, "headers": headers}
    hops, protocols = (_values(scope["headers"], name) for name in FORWARDED[:2])
    client = peer
    for hop in reversed(hops):
        address = read_address(hop)
        if address is None:
            break
        client = address
        if not is_in(address, trusted):
            break
    seen: dict[str, Any] = {"client": (str(client), 0)}
    if protocols and (scheme := SCHEMES[scope["type"]].get(protocols[-1].lower())):
        seen["scheme"] = scheme
    return {**scope, **seen}


def _values(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> list[str]:
    """Return the values of a header, in one line or in several, in the order in which proxies added them."""
    lines = [value.decode("latin-1") for name, value in headers if name.lower() == wanted]
    return [value.strip() for line in lines for value in line.split(",") if value.strip()]


log = logging.getLogger(__name__)

_SOUND = re.compile(r"[A-Za-z0-9._:-]{1,64}")


class RequestIds:
    """ASGI middleware that passes a request on with its id in the context."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._application(scope, receive, send)
            return
        identity, begun, status = _identity(scope["headers"]), time.monotonic(), 0
        REQUEST.set(identity)
        SESSION.set(0)

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], (REQUEST_ID, identity.encode())]}
            await send(message)

        try:
            await self._application(scope, receive, answer)
        finally:
            _note(scope, status, round((time.monotonic() - begun) * 1000))


def _identity(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the request id that a trusted proxy set, or a new one."""
    if settings.TRUSTED_PROXIES:
        for name, value in headers:
            given = value.decode("latin-1")
            if name.lower() == REQUEST_ID and _SOUND.fullmatch(given):
                return given
    return secrets.token_hex(8)


def _note(scope: Any, status: int, milliseconds: int) -> None:
    method = scope.get("method") or "WEBSOCKET"
    figures = {"method": method, "status": status, "milliseconds": milliseconds}
    said = f"answered {status} in" if status else "open for"
    log.info("%s %s %s %d ms", method, scope["path"], said, milliseconds, extra={"figures": figures})
