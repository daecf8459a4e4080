"""Changes: what moves a session's head, each written to the log before anybody is shown it."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import orjson
from django.conf import settings

from playground.models import LogKind
from playground.sessions.database import log, previews
from playground.sessions.protocol.errors import Conflict, EngineFailed, LimitReached
from playground.sessions.web.engine_connection import EngineConnection
from playground.sessions.web.publisher import Publisher

if TYPE_CHECKING:
    from playground.sessions.web.driver import Driver
    from playground.sessions.web.live import LiveSession
    from playground.sessions.web.runtime import Runtime

T = TypeVar("T")

# Other processes hear at least this often, in seconds, how far a run is that nobody watches here.
TELL_INTERVAL = 0.25
# Two processes that write at the same moment: the one that lost reads the log and tries again, this often.
TRIES = 5
POD_BYTES = 600
_REPLICAS = re.compile(rb"(?:replicas|completions|parallelism)[\"']?:\s*(\d{1,9})\b")


class Changes(EngineConnection):
    """Whatever changes the session happens under `exclusive`."""

    def __init__(self, session_id: int, runtime: Runtime) -> None:
        super().__init__(session_id, runtime)
        self.driver: Driver | None = None
        self.publisher = Publisher(cast("LiveSession", self))
        self._told = 0.0
        self._lock = asyncio.Lock()

    async def pause(self) -> None:
        """Stop what drives the session."""
        raise NotImplementedError

    @contextlib.asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """The session for oneself: a run's slice ends early, and an error leaves the log, not the engine, in the right."""
        self.interrupt()
        async with self._lock:
            await self.ready()
            try:
                yield
            except (Conflict, EngineFailed, asyncio.CancelledError):
                self.mark_stale()
                self.publisher.wake()
                raise

    async def write(self, kind: str, to: int, payload: bytes, size: int = 0, show: bool = True) -> None:
        """Write the next entry; only then is the new head shown to anybody."""
        row = log.Row(self.seq + 1, kind, self.head, to, payload, size)
        try:
            await self.runtime.db(log.append, self.id, row)
        except BaseException:
            self.mark_stale()
            raise
        self.seq, self.head = row.seq, to
        self.log_bytes += size
        self._moved(show)

    async def extend(self, to: int, show: bool) -> None:
        """Let the last entry reach further."""
        try:
            await self.runtime.db(log.advance, self.id, self.seq, self.head, to)
        except BaseException:
            self.mark_stale()
            raise
        self.head = to
        self._moved(show)

    def _moved(self, show: bool) -> None:
        self.saver.moved()
        if show:
            self.shown = self.head
            self.publisher.wake()
        elif time.monotonic() - self._told < TELL_INTERVAL:
            return
        self._told = time.monotonic()
        self.runtime.relay.tell(self.id, "moved", running=self.driver.status() if self.driver else None)

    def require_room(self, size: int = 0, show: bool = True) -> None:
        """Raises LimitReached where the log is full."""
        if self.seq >= settings.MAX_LOG_ENTRIES:
            raise LimitReached(
                f"The log of this session is full: {self.seq:,} entries, at most {settings.MAX_LOG_ENTRIES:,} are kept. "
                "Duplicate the cluster into a new session to go on."
            )
        if self.log_bytes + size > settings.MAX_LOG_BYTES:
            raise LimitReached(
                f"The log of this session would take {self.log_bytes + size:,} bytes; "
                f"at most {settings.MAX_LOG_BYTES:,} are kept."
            )

    async def apply(self, command: dict[str, Any], source: str) -> int:
        """Apply a command at the head; its position afterwards."""
        data = orjson.dumps({"command": command, "source": source})
        if len(data) > settings.MAX_COMMAND_BYTES:
            raise LimitReached(
                f"The command takes {len(data):,} bytes; at most {settings.MAX_COMMAND_BYTES:,} are taken."
            )
        await self._make_heavy(len(data))
        return await self._changed("apply", {}, [data])

    async def plan(self, text: str | bytes, filename: str) -> dict[str, Any]:
        """Preview an import; the text is kept until it is applied or replaced."""
        data = text.encode() if isinstance(text, str) else text
        if len(data) > settings.MAX_UPLOAD_BYTES:
            raise LimitReached(
                f"The text has {len(data):,} bytes; at most {settings.MAX_UPLOAD_BYTES:,} are taken at once."
            )
        await self._make_heavy(len(data) + _made_of(data))
        token = await self.runtime.db(previews.keep, self.id, data, filename)
        header, _ = await self.call("plan", {"token": token, "filename": filename}, [data])
        return {**header["result"], "token": token}

    async def apply_plan(self, token: str) -> int:
        """Apply what the preview accepted, as one command."""
        data, filename = await self.runtime.db(previews.find, self.id, token)
        await self._make_heavy(len(data) + _made_of(data))
        position = await self._changed("apply_plan", {"token": token, "filename": filename}, [data])
        await self.runtime.db(previews.drop, self.id)
        return position

    async def _changed(self, op: str, arguments: dict[str, Any], attachments: list[bytes]) -> int:
        return await self._retry_on_conflict(lambda: self._change(op, arguments, attachments))

    async def _retry_on_conflict(self, work: Callable[[], Awaitable[T]]) -> T:
        """What is asked for at the head is done at the head, also when another process has just moved it."""
        for number in range(1, TRIES):
            try:
                return await work()
            except Conflict:
                await asyncio.sleep(0.02 * number)
        return await work()

    async def _change(self, op: str, arguments: dict[str, Any], attachments: list[bytes]) -> int:
        async with self.exclusive():
            self.require_room()
            limits = {"limits": {"objects": settings.MAX_OBJECTS}}
            header, packed = await self.call(op, {**arguments, **limits}, attachments)
            result = header["result"]
            try:
                self.require_room(result["size"])
            except LimitReached:
                self.mark_stale()
                raise
            await self.write(LogKind.COMMAND, result["to"], packed[0], result["size"])
            return self.head

    async def _make_heavy(self, size: int) -> None:
        """A session that takes a large command moves to the lane of the large ones."""
        await self.ready()
        if size > settings.HEAVY_COMMAND_BYTES and not self.heavy:
            async with self.exclusive():
                self.heavy = True
                self.mark_stale()

    async def step(self, grain: str) -> bool:
        """One engine step at the head; False where nothing is left to do."""
        await self.pause()
        return await self._retry_on_conflict(lambda: self._step(grain))

    async def _step(self, grain: str) -> bool:
        async with self.exclusive():
            self.require_room()
            header, _ = await self.call("step", {"grain": grain, "times": 1, "keep": True})
            if header["result"]["to"] > self.head:
                await self.write(LogKind.STEP, header["result"]["to"], log.pack({"grain": grain}))
            return not header["result"]["idle"]


def _made_of(text: bytes) -> int:
    """About how many bytes of pods the workloads of a text stand for."""
    return sum(int(count) for count in _REPLICAS.findall(text)) * POD_BYTES
