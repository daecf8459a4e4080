"""The engines of a worker, and the searches and re-runs that go on in turns."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Protocol, TypeVar

from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol.errors import EngineFailed
from playground.sessions.worker.engine import Engine, Tried
from playground.sessions.worker.files import File
from playground.sessions.worker.imports import LargeImport
from playground.sessions.worker.memory import trim_memory
from playground.sessions.worker.time_sharing import TimeSlice
from playground.sessions.worker.traces import Export


class Task(Protocol):
    """Something that is worked on for some time, again and again."""


T = TypeVar("T", bound=Task)

MOST_TASKS = 48  # of all sessions; who comes back for one that was dropped begins anew


class Engines:
    """The engines of one worker process, and its other work in memory."""

    def __init__(self, slice_: TimeSlice, advance: Callable[[int, int], None] = lambda done, total: None) -> None:
        self.slice = slice_
        self.advance = advance  # tells the web process how far is what lets nobody else work
        self.export: Export | None = None
        self.file: File | None = None
        self._engines: dict[int, Engine] = {}
        self._tasks: OrderedDict[tuple[int, str], Task] = OrderedDict()
        self._dropped: deque[tuple[int, str]] = deque(maxlen=MOST_TASKS)
        self._prepared: tuple[int, str, Tried] | None = None

    def __len__(self) -> int:
        return len(self._engines)

    def find(self, session: int) -> Engine | None:
        return self._engines.get(session)

    def get(self, session: int) -> Engine:
        """Raises EngineFailed where the session is not open here."""
        engine = self._engines.get(session)
        if engine is None:
            raise EngineFailed(message(gettext_noop("The engine does not have this session. Try again.")))
        return engine

    def put(self, session: int, engine: Engine) -> None:
        self._engines[session] = engine

    def close(self, session: int) -> None:
        """Forget a session."""
        self._engines.pop(session, None)
        if self._prepared is not None and self._prepared[0] == session:
            self._prepared = None
        for key in [key for key in self._tasks if key[0] == session]:
            del self._tasks[key]

    def take_task(self, session: int, token: str, kind: type[T]) -> T | None:
        """The task with a token, to be worked on; None where there is none any more."""
        task = self._tasks.pop((session, token), None)
        return task if isinstance(task, kind) else None

    def keep_task(self, session: int, token: str, task: Task) -> None:
        """Until somebody goes on with it, unless nobody will any more."""
        if (session, token) in self._dropped:
            del task
            trim_memory()
            return
        self._tasks[session, token] = task
        while len(self._tasks) > MOST_TASKS:
            self._tasks.popitem(last=False)

    def drop_task(self, session: int, token: str) -> None:
        """Also one that is worked on just now."""
        self._dropped.append((session, token))
        if isinstance(self._tasks.pop((session, token), None), LargeImport):
            trim_memory()

    def prepare(self, session: int, token: str, prepared: Tried | None) -> None:
        """A large import can be applied as it was tried. Of this process one is kept, as it takes much memory."""
        self._prepared = None if prepared is None else (session, token, prepared)

    def take_prepared(self, session: int, token: str) -> Tried | None:
        """The large import with a token, which is not kept any longer; None where it is not here."""
        if self._prepared is None or self._prepared[:2] != (session, token):
            return None
        prepared, self._prepared = self._prepared[2], None
        return prepared
