"""The sessions' loop: one thread with one event loop for all live sessions of this process, and threads for the database.

Views and sockets run on their own loops or threads and use `call`; so a slow page does not delay a session, and tests may use any number
of loops.
"""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import copy_context
from functools import partial
from typing import Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary, ref

from django.utils.translation import get_language, override

from playground.sessions.database.asking import DatabaseThreads

T = TypeVar("T")

ENDING = 2.0  # seconds that background tasks have to end


class Posts:
    """Callbacks for an event loop, which is woken once per batch. Safe from any thread."""

    _of: "ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, Posts]]" = WeakKeyDictionary()

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = ref(loop)  # a weak reference, because the loop is the weak key of `_of`
        self._posted: deque[Callable[[], object]] = deque()
        self._woken = False

    @classmethod
    def of_running_loop(cls) -> "Posts":
        loop = asyncio.get_running_loop()
        return cls._of.get(loop) or cls._of.setdefault(loop, cls(loop))

    def put(self, work: Callable[[], object]) -> None:
        """Queue a callback that does not wait. Raise RuntimeError if the loop has ended."""
        if (loop := self._loop()) is None:
            raise RuntimeError("the event loop has ended")
        self._posted.append(work)
        if not self._woken:
            self._woken = True
            loop.call_soon_threadsafe(self._work_off, loop)

    def _work_off(self, loop: asyncio.AbstractEventLoop) -> None:
        self._woken = False  # before the queue is read: a callback from now on wakes the loop again
        while self._posted:
            loop.call_soon(self._posted.popleft())


class SessionsLoop:
    """The sessions' event loop and thread; touch its objects only from this loop."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self.post = Posts(self.loop).put
        self._database = DatabaseThreads(self.loop)
        self.db = self._database.ask
        self._thread = threading.Thread(target=self._work, name="sessions", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        with contextlib.suppress(TimeoutError):
            self.loop.run_until_complete(_end_tasks())
        self.loop.close()

    async def call(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run `work()` on the sessions' loop, in the caller's language, and wait for its answer on the caller's."""
        caller, context, language = Posts.of_running_loop(), copy_context(), get_language()
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        task: asyncio.Task[None] | None = None

        async def run() -> None:
            try:
                end: Callable[[], None] = partial(answer.set_result, await _run_localized(work, language))
            except BaseException as error:
                end = partial(answer.set_exception, error)
            with contextlib.suppress(RuntimeError):  # the caller's loop has ended
                caller.put(lambda: None if answer.done() else end())

        def begin() -> None:
            nonlocal task
            task = self.loop.create_task(run(), context=context)

        self.post(begin)
        try:
            return await answer
        except asyncio.CancelledError:
            self.post(lambda: task and task.cancel())
            raise

    async def do(self, work: Callable[[], T]) -> T:
        """Run a function that does not wait on the sessions' loop, and return its result."""

        async def call() -> T:
            return work()

        return await self.call(call)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a background task; from the sessions' loop only."""
        task = self.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def begin_soon(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Start a background task from any thread."""
        self.loop.call_soon_threadsafe(lambda: self.begin(work()))

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(2 * ENDING)
        self._database.stop()


async def _end_tasks() -> None:
    """Cancel all tasks and wait for their end; cancel also the tasks that they start meanwhile. Raise TimeoutError after ENDING seconds."""
    async with asyncio.timeout(ENDING):
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)


async def _run_localized(work: Callable[[], Awaitable[T]], language: str | None) -> T:
    with override(language):
        return await work()
