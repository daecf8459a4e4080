"""The engines of a worker, its searches and re-runs, which continue over several requests, and its files."""

import io
import time
import zipfile
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import orjson

from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol.comparing import FilePart, OpenFile
from playground.sessions.protocol.errors import EngineFailed, LimitReached
from playground.sessions.worker.engine import Engine, TriedCommand
from playground.sessions.worker.imports import LargeImport
from playground.sessions.worker.memory import ALONE, Budget, trim_memory
from playground.sessions.worker.time_sharing import Steps, Task, TimeSlice
from playground.sessions.worker.traces import Export, commands_of
from playground.sessions.worker.world import Simulation
from scheduler_core.formats.export import SpanTree, Tables, chrome_events, otlp, table_names, transitions, versions_of

# Files inside a worker: a session's history in formats of other tools, made part by part in a process of its own.

CHUNK = 1 << 20
PATIENCE = 0.25
TOO_MUCH = gettext_noop("The file needs more memory than the limit and was stopped. The session is unchanged.")
TOO_LARGE = gettext_noop(
    "The file would have more than %(most)s MB and was not created. “manage.py export” can create it "
    "from the session's JSONL without a limit."
)
OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # a fixed time, so that equal histories give equal bytes


class File:
    """A file being made: first the replay of the history, then the file's parts."""

    def __init__(self, request: OpenFile) -> None:
        self._request = request
        self._memory = Budget(ALONE, TOO_MUCH)
        self._sim = Simulation(seed=request.seed)
        self._parts = self._make()

    def next(self) -> FilePart:
        """Return the next part; empty while the history is being replayed."""
        end = time.perf_counter() + PATIENCE
        with self._memory:
            for data in self._parts:
                if data or time.perf_counter() > end:
                    return FilePart(self._sim.position, data, False)
        return FilePart(self._sim.position, b"", True)

    def _make(self) -> Iterator[bytes]:
        request = self._request
        tree, tables = SpanTree(), Tables(self._tables())
        for records in transitions(self._sim, commands_of(request.rows), request.head):
            if request.form in ("chrome", "otlp"):
                tree.add(records)
            else:
                tables.add(records, self._sim)
            yield b""
        data = self._spans(tree) if request.form in ("chrome", "otlp") else self._of_tables(tables)
        if len(data) > request.most:
            raise LimitReached(message(TOO_LARGE, most=request.most >> 20))
        yield from (data[i : i + CHUNK] for i in range(0, len(data), CHUNK))

    def _tables(self) -> Iterable[str]:
        return {"csv": (self._request.table,), "zip": table_names()}.get(self._request.form, ())

    def _spans(self, tree: SpanTree) -> bytes:
        releases = f"v{self._sim.settings.release}", versions_of(commands_of(self._request.rows))
        chrome = self._request.form == "chrome"
        made = chrome_events(tree.spans, *releases) if chrome else otlp(tree.spans, self._request.seed, *releases)
        return orjson.dumps(made, option=OPTIONS)

    def _of_tables(self, tables: Tables) -> bytes:
        if self._request.form == "csv":
            return tables.csv(self._request.table, self._sim).encode()
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in table_names():
                text = tables.csv(name, self._sim)
                if text.strip():
                    archive.writestr(zipfile.ZipInfo(f"{name}.csv", LONG_AGO), text, zipfile.ZIP_DEFLATED)
        return stream.getvalue()


MOST_TASKS = 48  # of all sessions; a dropped task starts again at its next request
MOST_ANSWERS = 1000  # long answers that are sent in parts

P = TypeVar("P")
T = TypeVar("T")


class Engines:
    """The engines of one worker process, and its other tasks in memory."""

    def __init__(self, slice_: TimeSlice, advance: Callable[[int, int], None] = lambda done, total: None) -> None:
        self.slice = slice_
        self.advance = advance  # reports the progress of blocking work to the web process
        self.writing: Export | File | None = None
        self._engines: dict[int, Engine] = {}
        self._tasks: OrderedDict[tuple[int, str], object] = OrderedDict()
        self._dropped: deque[tuple[int, str]] = deque(maxlen=MOST_TASKS)
        self._prepared: tuple[int, str, TriedCommand] | None = None

    def __len__(self) -> int:
        return len(self._engines)

    def find(self, session: int) -> Engine | None:
        return self._engines.get(session)

    def get(self, session: int) -> Engine:
        """Return the session's engine. Raise EngineFailed if the session is not open here."""
        engine = self._engines.get(session)
        if engine is None:
            raise EngineFailed(message("The engine does not have this session. Try again."))
        return engine

    def put(self, session: int, engine: Engine) -> None:
        self._engines[session] = engine

    def close(self, session: int) -> None:
        self._engines.pop(session, None)
        if self._prepared is not None and self._prepared[0] == session:
            self._prepared = None
        for key in [key for key in self._tasks if key[0] == session]:
            del self._tasks[key]

    def take_task(self, session: int, token: str, kind: type[T]) -> T | None:
        """Remove and return the task with a token; None if there is none of this kind."""
        task = self._tasks.pop((session, token), None)
        return task if isinstance(task, kind) else None

    def go_on(self, session: int, token: str, task: Task[Any, P], seconds: float) -> Steps[P]:
        """Work on a task, and keep it for the next request unless it is done; return its progress."""
        progress = yield from task.work(seconds)
        if not task.done:
            self.keep_task(session, token, task)
        return progress

    def keep_task(self, session: int, token: str, task: object) -> None:
        """Keep a task for the request that continues it, unless the task was dropped meanwhile."""
        if (session, token) in self._dropped:
            del task
            trim_memory()
            return
        self._tasks[session, token] = task
        is_task = isinstance(task, Task)
        alike = [key for key, each in self._tasks.items() if isinstance(each, Task) == is_task]
        for key in alike[: -MOST_TASKS if is_task else -MOST_ANSWERS]:
            del self._tasks[key]

    def drop_task(self, session: int, token: str) -> None:
        """Discard a task, also one that works at the moment."""
        self._dropped.append((session, token))
        if isinstance(self._tasks.pop((session, token), None), LargeImport):
            trim_memory()

    def prepare(self, session: int, token: str, prepared: TriedCommand | None) -> None:
        """Keep the rehearsal of a large import; only one for each process, because it needs much memory."""
        self._prepared = None if prepared is None else (session, token, prepared)

    def take_prepared(self, session: int, token: str) -> TriedCommand | None:
        """Remove and return the rehearsal with a token; None if it is not here."""
        if self._prepared is None or self._prepared[:2] != (session, token):
            return None
        prepared, self._prepared = self._prepared[2], None
        return prepared
