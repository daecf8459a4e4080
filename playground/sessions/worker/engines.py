"""The engines of a worker, and the searches and re-runs that go on in turns."""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol, TypeVar

from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol.errors import EngineFailed
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.files import File
from playground.sessions.worker.time_sharing import TimeSlice
from playground.sessions.worker.traces import Export


class Task(Protocol):
    """Something that is worked on for some time, again and again."""


T = TypeVar("T", bound=Task)

MOST_TASKS = 48  # of all sessions; who comes back for one that was dropped begins anew


class Engines:
    """What one worker process has in its memory."""

    def __init__(self, slice_: TimeSlice) -> None:
        self.slice = slice_
        self.export: Export | None = None
        self.file: File | None = None
        self._engines: dict[int, Engine] = {}
        self._tasks: OrderedDict[tuple[int, str], Task] = OrderedDict()

    def __len__(self) -> int:
        return len(self._engines)

    def find(self, session: int) -> Engine | None:
        return self._engines.get(session)

    def get(self, session: int) -> Engine:
        """Raises EngineFailed where the session is not open here."""
        engine = self._engines.get(session)
        if engine is None:
            raise EngineFailed(
                message(gettext_noop("The engine does not have this session. Please try again."))
            )
        return engine

    def put(self, session: int, engine: Engine) -> None:
        self._engines[session] = engine

    def close(self, session: int) -> None:
        """Forget a session."""
        self._engines.pop(session, None)
        for key in [key for key in self._tasks if key[0] == session]:
            del self._tasks[key]

    def take_task(self, session: int, token: str, kind: type[T]) -> T | None:
        """The task with a token, to be worked on; None where there is none any more."""
        task = self._tasks.pop((session, token), None)
        return task if isinstance(task, kind) else None

    def keep_task(self, session: int, token: str, task: Task) -> None:
        """Until somebody goes on with it."""
        self._tasks[session, token] = task
        while len(self._tasks) > MOST_TASKS:
            self._tasks.popitem(last=False)

    def drop_task(self, session: int, token: str) -> None:
        self._tasks.pop((session, token), None)
