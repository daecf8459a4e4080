"""The WebSocket of a session: checks what comes in, passes on what goes out. docs/stream.md draws the messages."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from typing import Any

import orjson
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from playground.sessions.protocol.errors import LimitReached, SessionError, SessionGone
from playground.sessions.web.client import SessionClient
from playground.sessions.web.dialogue import BadMessage, Dialogue
from playground.sessions.web.publisher import Viewer, error_message
from playground.sessions.web.runtime import runtime

log = logging.getLogger(__name__)

CLOSE_GONE = 4404
CLOSE_LIMIT = 4429
CLOSE_FAILED = 1011
PATIENCE = 50


class SessionConsumer(AsyncWebsocketConsumer):
    """One page's connection. Whatever a message holds, it can harm at most this connection."""

    viewer: Viewer | None = None
    dialogue: Dialogue | None = None
    sender: asyncio.Task[None] | None = None
    closing = False  # messages that are still on their way find nobody

    async def connect(self) -> None:
        """Join the session's viewers; what to show is asked for by the first `look`."""
        await self.accept()
        self.outbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.tokens, self.counted, self.excess = float(settings.WEBSOCKET_BURST), time.monotonic(), 0
        try:
            client = await SessionClient.open(self.scope["url_route"]["kwargs"]["key"])
            self.dialogue = await runtime().call(lambda: self._join(client))
        except SessionGone:
            await self._send({"type": "gone"})
            await self.close(CLOSE_GONE)
        except LimitReached as error:
            await self._send(error_message(error))
            await self.close(CLOSE_LIMIT)
        else:
            self.sender = asyncio.create_task(self._pump())

    async def _join(self, client: SessionClient) -> Dialogue:
        live = client.live()
        if len(live.publisher.viewers) >= settings.MAX_VIEWERS:
            raise LimitReached(f"This session is already being watched {settings.MAX_VIEWERS} times.")
        viewer = self.viewer = Viewer(self._post, client.may_edit)
        live.publisher.add(viewer)
        return Dialogue(live, viewer)

    def connected(self) -> None:
        """The consumer's loop, for messages that come from the sessions' thread."""
        self.loop = asyncio.get_running_loop()

    async def websocket_connect(self, message: dict[str, Any]) -> None:
        self.connected()
        await super().websocket_connect(message)

    def _post(self, message: dict[str, Any]) -> None:
        """Called on the sessions' thread."""
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self.outbox.put_nowait, message)

    async def _pump(self) -> None:
        while True:
            message = await self.outbox.get()
            try:
                await self._send(message)
            except Exception:
                log.exception("a message could not be sent")
                await self.close(CLOSE_FAILED)  # the page connects again and is brought to where it was
                return
            if message["type"] == "gone":
                await self.close(CLOSE_GONE)

    async def _send(self, message: dict[str, Any]) -> None:
        if not self.closing:
            await self.send(text_data=orjson.dumps(message).decode())

    async def close(self, code: int | bool | None = None, reason: str | None = None) -> None:
        """Close once; nothing is sent or taken afterwards."""
        if not self.closing:
            self.closing = True
            await super().close(code, reason)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take one message; an error is answered, never raised."""
        dialogue = self.dialogue
        if dialogue is None or self.closing:
            return
        try:
            if not await self._within_rate():
                return
            message = _parse(text_data, bytes_data)
            await runtime().call(lambda: dialogue.take(message))
        except SessionError as error:
            await self._send(error_message(error))
        except Exception as error:
            log.exception("a message could not be taken")
            await self._send(error_message(error))

    async def _within_rate(self) -> bool:
        now = time.monotonic()
        self.tokens += (now - self.counted) * settings.WEBSOCKET_RATE
        self.tokens, self.counted = min(self.tokens, settings.WEBSOCKET_BURST), now
        if self.tokens >= 1:
            self.tokens -= 1
            self.excess = 0
            return True
        self.excess += 1
        if self.excess == 1:
            raise LimitReached(f"Too many messages: at most {settings.WEBSOCKET_RATE:g} a second are taken.")
        if self.excess > PATIENCE:
            await self.close(CLOSE_LIMIT)
        return False

    async def disconnect(self, code: int) -> None:
        if self.sender is not None:
            self.sender.cancel()
        dialogue, viewer = self.dialogue, self.viewer
        if dialogue is not None and viewer is not None:
            await runtime().call(lambda: _leave(dialogue, viewer))


async def _leave(dialogue: Dialogue, viewer: Viewer) -> None:
    dialogue.seeker.drop()
    dialogue.live.publisher.remove(viewer)


def _parse(text: str | None, data: bytes | None) -> Any:
    if text is None:
        raise BadMessage("Messages must be text.")
    if len(text) > settings.WEBSOCKET_MAX_MESSAGE:
        raise BadMessage(f"A message may have at most {settings.WEBSOCKET_MAX_MESSAGE:,} characters.")
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadMessage(f"The message is not JSON: {error}.") from None
