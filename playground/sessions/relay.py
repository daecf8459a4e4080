"""Relay: what the server processes tell each other about sessions, over the channel layer.

Only hints travel here (the head moved, please pause, deleted, somebody watches); the log is the truth.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from channels.layers import get_channel_layer

if TYPE_CHECKING:
    from playground.sessions.runtime import Runtime

log = logging.getLogger(__name__)


class Relay:
    """This process' ear and mouth."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._channel = ""
        self._task: asyncio.Task[None] | None = None
        self._joined: set[int] = set()
        self._tellings: set[asyncio.Task[None]] = set()

    async def join(self, session_id: int) -> None:
        """Listen for hints about a session."""
        layer = get_channel_layer()
        if session_id in self._joined:
            return
        if self._task is None:
            self._channel = await layer.new_channel("process")
            self._task = asyncio.create_task(self._listen())
        self._joined.add(session_id)
        await layer.group_add(f"session-{session_id}", self._channel)

    async def leave(self, session_id: int) -> None:
        if session_id in self._joined:
            self._joined.discard(session_id)
            await get_channel_layer().group_discard(f"session-{session_id}", self._channel)

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
            await get_channel_layer().group_send(f"session-{session_id}", message)
        except Exception:
            log.exception("could not tell the other processes of session %s", session_id)

    async def _listen(self) -> None:
        while True:
            try:
                message = await get_channel_layer().receive(self._channel)
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
            await live.vanish()
        elif message["what"] == "pause":
            await live.pause()
        elif message["what"] == "watched" and live.driver:
            live.driver.watched()
        elif message["what"] == "moved":
            live.remote_running = message.get("running")
            if live.remote_running and live.publisher.viewers:
                self.tell(live.id, "watched")
            await live.catch_up()
