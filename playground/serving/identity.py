"""Gives each request and each WebSocket an id: it stands in the answer's X-Request-ID and in every line of the log that is about it.

A trusted proxy may have given it one already (proxies.py takes the header away where nobody trusted has set it). With
LOG_LEVEL=INFO the log has a line for each request.
"""

import logging
import re
import secrets
import time
from collections.abc import Iterable
from typing import Any

from django.conf import settings

from playground.common.logs import REQUEST, SESSION
from playground.serving.gate import Application, Message, Receive, Send
from playground.serving.proxies import REQUEST_ID

log = logging.getLogger(__name__)

_SOUND = re.compile(r"[A-Za-z0-9._:-]{1,64}")


class Identified:
    """Hands a request on with its id in the context."""

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
    """The one that a trusted proxy has given, or a new one."""
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
