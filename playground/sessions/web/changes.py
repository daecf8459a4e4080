"""Changes: what moves a session's head, each written to the log before anybody is shown it."""

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

# Several processes that write at the same moment: one that lost reads the log and tries again, this often, after a random while.
TRIES = 12
PAUSE = 0.02
POD_BYTES = 600
AT_ONCE = 16  # writes of API clients that are one change
_REPLICAS = re.compile(rb"(?:replicas|completions|parallelism)[\"']?:\s*(\d{1,9})\b")


class Onlooker(Protocol):
    """A listener for moves of the head (`show`: show it now), and for the engine's return to the log."""

    def moved(self, show: bool) -> None: ...
    def taken_back(self) -> None: ...


class Changes:
    """Whatever changes the session happens under `exclusive`."""

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
        """The session for oneself: a run's slice ends early, and an error leaves the log, not the engine, in the right."""
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
        """Another process wrote to the log: follow it. Who waits to do so does it for all who ask meanwhile."""
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
        """Show no less than a position that the log has. What is under way may lead there; else another process wrote it."""
        async with self._lock:
            if self.log.head < head:
                self.engine.mark_stale()
            await self.engine.ready()
            self.engine.shown = self.log.head

    async def write(
        self, kind: RowKind, to: int, payload: bytes, size: int = 0, show: bool = True, last_of: str = ""
    ) -> None:
        """Write the next entry; only then is the new head shown to anybody. `last_of` is whose lease ends with it."""
        await self._write(self.log.append(kind, to, payload, size, last_of), show)

    async def extend(self, to: int, show: bool, last_of: str = "") -> None:
        """Let the last entry reach further."""
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
        ):  # its worker died: who opened it meanwhile may have read the log before this was in it
            self.engine.mark_stale()
        if show:
            self.engine.shown = self.log.head
            self._publisher.wake()
        self._onlooker.moved(show)

    def _take_back(self) -> None:
        """The engine is ahead of the log, which is right."""
        self.engine.mark_stale()
        self._publisher.forget_prepared()
        self._onlooker.taken_back()

    async def apply(self, data: bytes) -> int:
        """Apply a command (command_data) at the head; its position afterwards."""
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
        """Return the changes that importing a text would make, under other names with `rename`."""
        await self._make_room_for(text)
        return await self.engine.call(moving.PreviewImport(text=text, rename=rename))

    async def make_room_for_large(self) -> None:
        """A session of a large import is a large one."""
        await self._make_heavy(settings.LARGE_IMPORT_BYTES + settings.HEAVY_COMMAND_BYTES)

    async def read_import(self, request: moving.ReadImport) -> moving.ImportProgress:
        """Look at a large import for some time."""
        return await self.engine.call(request)

    async def apply_import(self, token: str, command: Callable[[], Awaitable[bytes]]) -> int:
        """Apply a large import at the head, as it was tried where that is known still; `command` is asked for where not."""
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
        """Carry out a request to the API server at the head. Those that wait meanwhile are one change, and so wait for the disk once."""
        await self._make_heavy(len(call.body))
        return await self.retry_on_conflict(lambda: self._serve(call))

    async def _serve(self, call: moving.APIWrite) -> moving.ApiAnswer:
        answer: asyncio.Future[moving.ApiAnswer] = asyncio.get_running_loop().create_future()
        self._calls.append((call, answer))
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve_all())
        return await answer

    async def _serve_all(self) -> None:
        singly = 0  # so many are tried alone, as one of them is at fault
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
                self._calls = taken[len(answers) :] + self._calls  # those that were left, as somebody else waits
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
        """Engine steps at the head, as one entry of the log; False where nothing was left to do.

        Where the world waits for extenders outside, they are asked, and their answers are the step.
        """
        moved = await self.retry_on_conflict(lambda: self._step(grain, times))
        if moved.awaited:
            await self.answer(await outside.ask_all(moved.awaited))
            return True
        return moved.reason != "idle"

    async def answer(self, commands: Sequence[Command]) -> None:
        """Apply what came from outside. Where nobody waits for it any more (the world was changed meanwhile) it is dropped."""
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
        """Make what will be shown as soon as the entry is on its way to the disk."""
        if deltas:
            asyncio.get_running_loop().call_soon(self._publisher.prepare, to, followers, deltas)

    async def retry_on_conflict(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run work at the head; try again on Conflict, when another process has just moved the head."""
        for number in range(1, TRIES):
            try:
                return await work()
            except Conflict:
                await asyncio.sleep(random.uniform(0, PAUSE * number))  # noqa: S311 - spreads, hides nothing
        return await work()

    async def _make_heavy(self, size: int) -> None:
        """A session that takes a large command moves to the lane of the large ones."""
        await self.engine.ready()
        if size > settings.HEAVY_COMMAND_BYTES and not self.engine.heavy:
            async with self.exclusive():
                self.engine.heavy = True
                self.engine.mark_stale()
