"""Relay: how the server processes notify each other about sessions, over the channel layer.

Only hints travel here (the head moved, please pause, deleted, somebody watches); the log is the truth.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from channels.layers import get_channel_layer
from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder

from playground.sessions.web.messages import Running

log = logging.getLogger(__name__)

STAY = 3600.0
# Not the default one: sockets would listen to that as well, on another loop, and need no layer.
LAYER = "sessions"


class Hint(Struct, frozen=True, omit_defaults=True):
    """What happened to a session in the process `by`, or is asked of whoever drives it; with "moved", what drives it there."""

    by: str
    session: int
    what: Literal["moved", "pause", "watched", "gone", "markers"]
    running: Running | None = None


_encoder = Encoder()
_decoder = Decoder(Hint)


class Relay:
    """This process' ear and mouth; `hear` is called with what other processes say."""

    def __init__(self, name: str, hear: Callable[[Hint], Awaitable[None]]) -> None:
        self._name = name
        self._hear = hear
        self._channel = ""
        self._task: asyncio.Task[None] | None = None
        self._joined: dict[int, float] = {}
        self._sending: set[asyncio.Task[None]] = set()

    async def join(self, session_id: int) -> None:
        """Listen for hints about a session."""
        layer = get_channel_layer(LAYER)
        if session_id in self._joined:
            return
        if self._task is None:
            self._channel = await layer.new_channel("process")
            self._task = asyncio.create_task(self._listen())
        self._joined[session_id] = time.monotonic()
        await layer.group_add(f"session-{session_id}", self._channel)

    async def leave(self, session_id: int) -> None:
        if session_id in self._joined:
            del self._joined[session_id]
            await get_channel_layer(LAYER).group_discard(f"session-{session_id}", self._channel)

    async def stay(self) -> None:
        """Join again what was joined long ago: the channel layer forgets members after a day."""
        for session_id, since in list(self._joined.items()):
            if time.monotonic() - since > STAY:
                self._joined[session_id] = time.monotonic()
                await get_channel_layer(LAYER).group_add(f"session-{session_id}", self._channel)

    def notify(
        self,
        session_id: int,
        what: Literal["moved", "pause", "watched", "gone", "markers"],
        running: Running | None = None,
    ) -> None:
        """Notify the other processes; a hint that is lost is made good by the next one."""
        task = asyncio.create_task(self.send(Hint(self._name, session_id, what, running)))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def send(self, hint: Hint) -> None:
        """Put a hint into its session's group."""
        message = {"type": "session.hint", "hint": _encoder.encode(hint)}
        try:
            await get_channel_layer(LAYER).group_send(f"session-{hint.session}", message)
        except Exception:
            log.exception("could not tell the other processes of session %s", hint.session)

    async def _listen(self) -> None:
        while True:
            try:
                message: dict[str, Any] = await get_channel_layer(LAYER).receive(self._channel)
                hint = _decoder.decode(message["hint"])
                if hint.by != self._name:
                    await self._hear(hint)
            except asyncio.CancelledError:
                raise
            except Exception:
                log.exception("could not follow another process")
                await asyncio.sleep(1)
