"""Files inside a worker: a session's history in a form that other tools read, made a part at a time in a process of its own."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Iterable, Iterator

import orjson

from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol.errors import LimitReached
from playground.sessions.protocol.traces import FilePart, OpenFile
from playground.sessions.worker.memory import ALONE, Budget
from playground.sessions.worker.traces import commands_of
from playground.sessions.worker.world import Simulation
from scheduler_core.formats.export import SpanTree, Tables, chrome_events, otlp, table_names, transitions

CHUNK = 1 << 20
PATIENCE = 0.25
TOO_MUCH = gettext_noop("The file needs more memory than the limit and was stopped. The session is unchanged.")
TOO_LARGE = gettext_noop(
    "The file would have more than %(most)s MB and was not created. “manage.py export” can create it "
    "from the session's JSONL without a limit."
)
OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same bytes for the same history


class File:
    """A file being made: the history first, then the file's parts."""

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
            (tree if request.form in ("chrome", "otlp") else tables).add(records)
            yield b""
        data = self._spans(tree) if request.form in ("chrome", "otlp") else self._of_tables(tables)
        if len(data) > request.most:
            raise LimitReached(message(TOO_LARGE, most=request.most >> 20))
        yield from (data[i : i + CHUNK] for i in range(0, len(data), CHUNK))

    def _tables(self) -> Iterable[str]:
        return {"csv": (self._request.table,), "zip": table_names()}.get(self._request.form, ())

    def _spans(self, tree: SpanTree) -> bytes:
        chrome = self._request.form == "chrome"
        made = (
            chrome_events(tree.spans)
            if chrome
            else otlp(tree.spans, self._request.seed, f"v{self._sim.settings.release}")
        )
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
