"""The changes that move a session's head; each is written to the log before a viewer sees it."""

import asyncio
import contextlib
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from django.conf import settings

from playground.presenters.panel import Delta
from playground.sessions.database.log import pack
from playground.sessions.protocol import moving
from playground.sessions.protocol.errors import CommandRefused, Conflict, EngineFailed, LimitReached, Unavailable
from playground.sessions.protocol.looking import Follower
from playground.sessions.protocol.opening import RowKind
from playground.sessions.web import outside
from playground.sessions.web.engine_connection import EngineConnection
from playground.sessions.web.publisher import Publisher
from playground.sessions.web.services import SessionLog, command_data
from scheduler_core.world.commands import Command
from scheduler_core.world.simulation import Grain

T = TypeVar("T")

# If several processes write at the same moment, the losers read the log and retry, up to TRIES times, after a random pause.
TRIES = 12
PAUSE = 0.02
POD_BYTES = 600
AT_ONCE = 16  # the maximum of API clients' writes in one change
_REPLICAS = re.compile(rb"(?:replicas|completions|parallelism)[\"']?:\s*(\d{1,9})\b")


class Onlooker(Protocol):
    """A listener for moves of the head (`show`: show it now), and for the engine's return to the log."""

    def moved(self, show: bool) -> None: ...
    def taken_back(self) -> None: ...


class Changes:
    """All changes to a session; each runs under `exclusive`."""

    def __init__(self, log: SessionLog, engine: EngineConnection, publisher: Publisher, onlooker: Onlooker) -> None:
        self.log, self.engine, self._publisher, self._onlooker = log, engine, publisher, onlooker
        self._lock = asyncio.Lock()
        self._to_follow = False
        self._calls: list[tuple[moving.APIWrite, asyncio.Future[moving.ApiAnswer]]] = []
        self._serving: asyncio.Task[None] | None = None
        self._to_show: asyncio.TimerHandle | None = None

    @property
    def going_on(self) -> bool:
        return self._lock.locked()

    @contextlib.asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Lock the session: a run's slice ends early. After an error the log is authoritative, and the engine is marked stale."""
        self.engine.crashes.require_calm(reading=False)
        if self._lock.locked():
            self.engine.interrupt()
        async with self._lock:
            await self.engine.ready()
            try:
                yield
            except (Conflict, EngineFailed, Unavailable, asyncio.CancelledError):
                self._take_back()
                raise

    async def follow(self) -> None:
        """Follow the log after another process wrote to it. A caller that already waits to do so does this for all later ones."""
        if self._to_follow:
            return
        self._to_follow = True
        try:
            await self._lock.acquire()
        finally:
            self._to_follow = False
        try:
            self.engine.mark_stale()
            await self.engine.ready()
        finally:
            self._lock.release()

    async def reach(self, head: int) -> None:
        """Show at least position `head`, which the log has. If the change in progress does not reach it, another process wrote it."""
        async with self._lock:
            if self.log.head < head:
                self.engine.mark_stale()
            await self.engine.ready()
            self.engine.shown = self.log.head

    async def write(
        self, kind: RowKind, to: int, payload: bytes, size: int = 0, show: bool = True, last_of: str = ""
    ) -> None:
        """Write the next entry; viewers see the new head only after that. `last_of` is the holder whose lease ends with the entry."""
        await self._write(self.log.append(kind, to, payload, size, last_of), show)

    async def extend(self, to: int, show: bool, last_of: str = "") -> None:
        """Extend the last entry to position `to`."""
        await self._write(self.log.extend(to, last_of), show)

    async def _write(self, writing: Awaitable[None], show: bool) -> None:
        openings = self.engine.openings
        try:
            await writing
        except BaseException:
            self._take_back()
            raise
        if (
            self.engine.openings != openings
        ):  # its worker died, and the reopened engine may have read the log before this entry was in it
            self.engine.mark_stale()
        if show:
            self.engine.shown = self.log.head
            self._publisher.wake()
        self._onlooker.moved(show)

    def _take_back(self) -> None:
        """Mark the engine as ahead of the log, which is authoritative."""
        self.engine.mark_stale()
        self._publisher.forget_prepared()
        self._onlooker.taken_back()

    async def apply(self, data: bytes) -> int:
        """Apply a command (command_data) at the head, and return the position after it."""
        await self._make_heavy(len(data))
        return await self.retry_on_conflict(lambda: self._apply(data))

    async def _apply(self, data: bytes) -> int:
        async with self.exclusive():
            self.log.require_room()
            followers = self._publisher.followers()
            request = moving.Apply(data=data, max_objects=settings.MAX_OBJECTS, followers=followers)
            await self._write_applied([await self.engine.call(request)], followers)
            return self.log.head

    async def _write_applied(
        self, applied: list[moving.AppliedCommand], followers: list[Follower], pause: float = 0.0
    ) -> None:
        try:
            self.log.require_room(sum(each.size for each in applied))
        except LimitReached:
            self.engine.mark_stale()
            raise
        self._prepare_soon(applied[-1].to, followers, applied[-1].deltas)
        await self._write(self.log.append_commands(applied), show=not pause)
        if pause:
            self.engine.shown = self.log.head
            self._to_show = self._to_show or asyncio.get_running_loop().call_later(pause, self._show)

    def _show(self) -> None:
        self._to_show = None
        self._publisher.wake()
        self._onlooker.moved(True)

    async def preview(self, text: bytes, rename: bool = False) -> moving.ImportPlan:
        """Return the changes that importing a text would make; `rename`: under other names."""
        await self._make_room_for(text)
        return await self.engine.call(moving.PreviewImport(text=text, rename=rename))

    async def make_room_for_large(self) -> None:
        """Move the session to the lane of large ones, before a large import."""
        await self._make_heavy(settings.LARGE_IMPORT_BYTES + settings.HEAVY_COMMAND_BYTES)

    async def read_import(self, request: moving.ReadImport) -> moving.ImportProgress:
        """Plan a large import for some time, and return the progress."""
        return await self.engine.call(request)

    async def apply_import(self, token: str, command: Callable[[], Awaitable[bytes]]) -> int:
        """Apply a large import at the head as it was planned; `command` returns the command, if the worker no longer has the plan."""
        await self.make_room_for_large()
        return await self.retry_on_conflict(lambda: self._apply_import(token, command))

    async def _apply_import(self, token: str, command: Callable[[], Awaitable[bytes]]) -> int:
        async with self.exclusive():
            self.log.require_room()
            followers, most = self._publisher.followers(), settings.MAX_OBJECTS
            done = await self.engine.call(moving.ApplyImport(token=token, max_objects=most, followers=followers))
            applied = done.applied
            if applied is None:
                request = moving.Apply(data=await command(), max_objects=most, followers=followers, packed=True)
                applied = await self.engine.call(request)
            await self._write_applied([applied], followers)
            return self.log.head

    async def apply_text(self, text: bytes, create_only: bool) -> moving.TextApplied:
        """Apply all objects of a text at the head, or none."""
        await self._make_room_for(text)
        return await self.retry_on_conflict(lambda: self._apply_text(text, create_only))

    async def _apply_text(self, text: bytes, create_only: bool) -> moving.TextApplied:
        async with self.exclusive():
            self.log.require_room()
            followers, most = self._publisher.followers(), settings.MAX_OBJECTS
            request = moving.ApplyText(text=text, create_only=create_only, max_objects=most, followers=followers)
            done = await self.engine.call(request)
            if done.applied is not None:
                await self._write_applied([done.applied], followers)
            return done

    async def _make_room_for(self, text: bytes) -> None:
        if len(text) > settings.MAX_UPLOAD_BYTES:
            raise LimitReached(
                f"The text has {len(text):,} bytes; at most {settings.MAX_UPLOAD_BYTES:,} are taken at once."
            )
        await self._make_heavy(len(text) + (sum(int(count) for count in _REPLICAS.findall(text)) * POD_BYTES))

    async def serve(self, call: moving.APIWrite) -> moving.ApiAnswer:
        """Execute a request to the API server at the head. Requests that wait meanwhile are batched, so that they are written together."""
        await self._make_heavy(len(call.body))
        return await self.retry_on_conflict(lambda: self._serve(call))

    async def _serve(self, call: moving.APIWrite) -> moving.ApiAnswer:
        answer: asyncio.Future[moving.ApiAnswer] = asyncio.get_running_loop().create_future()
        self._calls.append((call, answer))
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve_all())
        return await answer

    async def _serve_all(self) -> None:
        singly = 0  # the number of requests to try alone, because one of them failed the batch
        while self._calls:
            taken = self._calls
            try:
                async with self.exclusive():
                    most = 1 if singly else AT_ONCE
                    taken, self._calls = self._calls[:most], self._calls[most:]
                    answers = await self._serve_some([call for call, _ in taken])
            except Exception as error:
                unserved, self._calls = taken is self._calls, [] if taken is self._calls else self._calls
                if len(taken) > 1 and not unserved and not isinstance(error, Conflict | Unavailable):
                    singly, self._calls = len(taken), taken + self._calls
                    continue
                for _, waiting in taken:
                    if not waiting.done():
                        waiting.set_exception(error)
            else:
                self._calls = taken[len(answers) :] + self._calls  # the unexecuted requests, as another change waits
                for (_, waiting), answered in zip(taken, answers, strict=False):
                    if not waiting.done():
                        waiting.set_result(answered)
            singly = max(0, singly - 1)

    async def _serve_some(self, calls: list[moving.APIWrite]) -> list[moving.ApiAnswer]:
        self.log.require_room()
        pause = self._publisher.pause()
        followers = [] if pause else self._publisher.followers()
        written = await self.engine.call(
            moving.Write(calls=calls, max_objects=settings.MAX_OBJECTS, followers=followers)
        )
        if written.applied:
            await self._write_applied(written.applied, followers, pause)
        return written.answers

    async def step(self, grain: Grain, times: int = 1) -> bool:
        """Make engine steps at the head, as one entry of the log; return False if nothing was left to do.

        If the world waits for real extenders, these are called, and their answers are the step.
        """
        moved = await self.retry_on_conflict(lambda: self._step(grain, times))
        if moved.awaited:
            await self.answer(await outside.ask_all(moved.awaited))
            return True
        return moved.reason != "idle"

    async def answer(self, commands: Sequence[Command]) -> None:
        """Apply answers from outside. An answer that the world no longer waits for, because of a change meanwhile, is dropped."""
        for command in commands:
            with contextlib.suppress(CommandRefused):
                await self.apply(command_data(command, "outside"))

    async def _step(self, grain: Grain, times: int) -> moving.Movement:
        async with self.exclusive():
            self.log.require_room()
            followers = self._publisher.followers()
            moved = await self.engine.call(moving.Step(grain=grain, times=times, followers=followers))
            if moved.to > self.log.head:
                self._prepare_soon(moved.to, followers, moved.deltas)
                await self.write("step", moved.to, pack({"grain": grain}))
            return moved

    def _prepare_soon(self, to: int, followers: list[Follower], deltas: list[Delta]) -> None:
        """Render what followers will see while the entry is being written to disk."""
        if deltas:
            asyncio.get_running_loop().call_soon(self._publisher.prepare, to, followers, deltas)

    async def retry_on_conflict(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run work at the head; retry on Conflict, when another process has just moved the head."""
        for number in range(1, TRIES):
            try:
                return await work()
            except Conflict:
                await asyncio.sleep(random.uniform(0, PAUSE * number))  # noqa: S311 - spreads, hides nothing
        return await work()

    async def _make_heavy(self, size: int) -> None:
        """Move the session to the lane of large ones, if a command has more than HEAVY_COMMAND_BYTES."""
        await self.engine.ready()
        if size > settings.HEAVY_COMMAND_BYTES and not self.engine.heavy:
            async with self.exclusive():
                self.engine.heavy = True
                self.engine.mark_stale()
