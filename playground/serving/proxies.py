"""Whom a request comes from, where proxies stand in between and say so in X-Forwarded-For and X-Forwarded-Proto; and its id.

Anybody can send these headers. So they count only where the connection itself comes from a trusted proxy (TRUSTED_PROXIES), and are
read from the right: each proxy adds whom it was asked by, and the first address that is no trusted proxy's is the client. (Daphne's
own reading of them takes the leftmost address, from whoever sends it.)
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.conf import settings

from playground.common.addresses import Address, Network, is_in, read_address
from playground.serving.gate import Application, Receive, Send

REQUEST_ID = b"x-request-id"
FORWARDED = (b"x-forwarded-for", b"x-forwarded-proto", REQUEST_ID)
SCHEMES = {"http": {"http": "http", "https": "https"}, "websocket": {"http": "ws", "https": "wss"}}


class BehindProxies:
    """Hands a request on as if its client had asked this server directly."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        await self._application(apply_forwarded_headers(scope, settings.TRUSTED_PROXIES), receive, send)


def apply_forwarded_headers(scope: Any, trusted: Sequence[Network]) -> Any:
    """The scope with the client and the scheme that trusted proxies tell; without their headers where somebody else sent them."""
    if not trusted or scope["type"] not in SCHEMES:
        return scope
    peer = read_address((scope.get("client") or ("",))[0])
    if peer is None or not is_in(peer, trusted):
        headers = [(name, value) for name, value in scope["headers"] if name.lower() not in FORWARDED]
        return {**scope, "headers": headers}
    hops, protocols = (_values(scope["headers"], name) for name in FORWARDED[:2])
    seen: dict[str, Any] = {"client": (str(client_of(peer, hops, trusted)), 0)}
    if protocols and (scheme := SCHEMES[scope["type"]].get(protocols[-1].lower())):
        seen["scheme"] = scheme
    return {**scope, **seen}


def client_of(peer: Address, hops: Sequence[str], trusted: Sequence[Network]) -> Address:
    """The nearest address that is no trusted proxy's; the farthest proxy's where there is none, or what follows can't be read."""
    client = peer
    for hop in reversed(hops):
        address = read_address(hop)
        if address is None:
            break
        client = address
        if not is_in(address, trusted):
            break
    return client


def _values(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> list[str]:
    """The values of a header in the order in which proxies added them, whether in one line or in several."""
    lines = [value.decode("latin-1") for name, value in headers if name.lower() == wanted]
    return [value.strip() for line in lines for value in line.split(",") if value.strip()]
