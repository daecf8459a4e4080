"""Relay: what the server processes tell each other about sessions, over the channel layer.

Only hints travel here (the head moved, please pause, deleted, somebody watches); the log is the truth.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

from channels.layers import get_channel_layer

if TYPE_CHECKING:
    from playground.sessions.web.runtime import Runtime

log = logging.getLogger(__name__)

STAY = 3600.0
# Not the default one: sockets would listen to that as well, on another loop, and need no layer.
LAYER = "sessions"


class Relay:
    """This process' ear and mouth."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._channel = ""
        self._task: asyncio.Task[None] | None = None
        self._joined: dict[int, float] = {}
        self._tellings: set[asyncio.Task[None]] = set()

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

    def tell(self, session_id: int, what: str, **more: Any) -> None:
        """Tell the other processes; a hint that is lost is made good by the next one."""
        task = asyncio.create_task(self._tell(session_id, what, more))
        self._tellings.add(task)
        task.add_done_callback(self._tellings.discard)

    async def _tell(self, session_id: int, what: str, more: dict[str, Any]) -> None:
        message = {
            "type": "session.hint",
            "by": self._runtime.name,
            "session": session_id,
            "what": what,
            **more,
        }
        try:
            await get_channel_layer(LAYER).group_send(f"session-{session_id}", message)
        except Exception:
            log.exception("could not tell the other processes of session %s", session_id)

    async def _listen(self) -> None:
        while True:
            try:
                message = await get_channel_layer(LAYER).receive(self._channel)
                if message["by"] != self._runtime.name:
                    await self._hear(message)
            except asyncio.CancelledError:
                raise
            except Exception:
                log.exception("could not follow another process")
                await asyncio.sleep(1)

    async def _hear(self, message: dict[str, Any]) -> None:
        live = self._runtime.sessions.get(message["session"])
        if live is None:
            return
        if message["what"] == "gone":
            await live.close_deleted()
        elif message["what"] == "pause":
            await live.pause()
        elif message["what"] == "watched" and live.driver:
            live.driver.watched()
        elif message["what"] == "pins":
            live.markers_changed(told=True)
        elif message["what"] == "moved":
            live.elsewhere.tells(message.get("running"))
            if live.elsewhere.running and live.publisher.viewers:
                self.tell(live.id, "watched")
            await live.catch_up()
