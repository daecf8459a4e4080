"""A large import inside a worker: its file is read, tried and packed in turns, and what was tried is kept until it is applied.

The objects are tried in the order in which they will be applied, so that nothing has to be tried again for it.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from playground.presenters.words import gettext_noop
from playground.sessions.protocol.moving import ImportPlan, ImportProgress, ImportStage, PackedPlan
from playground.sessions.worker.engine import Engine, Tried
from playground.sessions.worker.imports.namespaces import with_namespaces
from playground.sessions.worker.imports.preview import (
    SOURCE,
    command_of,
    import_plan,
    list_accepted_objects,
    read_brought,
)
from playground.sessions.worker.memory import ALONE, Budget, no_collection
from playground.sessions.worker.time_sharing import Steps
from playground.sessions.worker.world import (
    ApplyObjects,
    Plan,
    Simulation,
    Trial,
    build_plan,
    continuation_of,
    get_creation_time,
    heading,
    source_of,
    taking_in,
)
from scheduler_core.world.readonly import Loaded, LoadLimits, forget_places

T = TypeVar("T")

TOO_MUCH = gettext_noop(
    "This import takes more memory than there is here for one, and was stopped. Nothing was kept of it."
)
_LEVEL = 1  # of compression
_EMPTY = b'"objects":[]'


class LargeImport:
    """The preview of a file's import. At the end `prepared` is set, if the import can be applied as it was tried."""

    def __init__(self, engine: Engine, file: Path, rename: bool, limits: LoadLimits) -> None:
        self.prepared: Tried | None = None
        self._engine = engine
        self._file = file
        self._rename = rename
        self._limits = limits
        self._stage: ImportStage = "read"
        self._done = self._total = 0
        self._memory = Budget(ALONE, TOO_MUCH)
        self._steps: Steps[PackedPlan] = self._run()

    def work(self, seconds: float) -> Steps[ImportProgress]:
        """Go on for some time."""
        end, made = time.perf_counter() + seconds, None
        while made is None and time.perf_counter() < end:
            try:
                with self._memory, no_collection():
                    next(self._steps)
            except StopIteration as over:
                made = over.value
            else:
                yield
        return ImportProgress(self._stage, self._done, self._total, made)

    def _run(self) -> Steps[PackedPlan]:
        try:
            return (yield from self._looked_at())
        finally:
            forget_places()

    def _looked_at(self) -> Steps[PackedPlan]:
        yield  # so that somebody hears of it before the file is read, in one long turn
        world = self._engine.world
        position, brought = world.position, read_brought(self._file.read_bytes(), self._limits)
        self._begin("clean", 3 * len(brought.objects))
        yield
        taking = taking_in(world.store, world.now, [each.manifest for each in brought.objects], self._rename)
        intake = yield from self._in_turns(taking)
        brought, loaded = with_namespaces(
            world, brought, list_accepted_objects(brought, intake, self._rename)
        )
        loaded.sort(key=lambda each: get_creation_time(each.manifest))
        plan, trial = yield from self._tried(world, loaded)
        self._begin("keep", 2 * len(loaded))
        yield
        found = import_plan(world, brought, intake, plan, self._rename)
        command = command_of(world, plan.accepted, brought)
        going_on = continuation_of(brought.text)
        first = heading(going_on).encode() if going_on is not None else b""
        del brought, intake, plan  # with the text
        forget_places()
        yield
        packed = yield from self._pack([each.manifest for each in loaded], command, first)
        if command is not None and trial is not None and trial.is_whole:
            self.prepared = Tried(world, position, command, trial, packed.command, packed.size)
        return _with_plan(packed, found)

    def _tried(self, world: Simulation, loaded: Sequence[Loaded]) -> Steps[tuple[Plan, Trial | None]]:
        self._begin("try", len(loaded))
        yield
        sources = [source_of(each.index, each) for each in loaded]
        trial = yield from self._in_turns(world.rehearse([each.manifest for each in sources]))
        return build_plan(world.api, sources, trial), trial

    def _pack(
        self, objects: Sequence[object], command: ApplyObjects | None, first: bytes
    ) -> Steps[PackedPlan]:
        """The command as the log keeps it, and the text as it may be kept."""
        before, after = _frame(command)
        done = yield from self._written(before, command.objects if command is not None else (), after)
        before = first + b'{"apiVersion":"v1","kind":"List","items":['
        text = yield from self._written(before, objects, b"]}")
        count = len(command.objects) if command is not None else 0
        return PackedPlan(b"", done.end() if command is not None else b"", text.end(), done.size, count)

    def _written(self, before: bytes, objects: Sequence[object], after: bytes) -> Steps[_Compressed]:
        """A list of objects as JSON, with what stands around it."""
        written, between = _Compressed(), b""
        written.add(before)
        for each in objects:
            written.add(between + msgspec.json.encode(each))
            between = b","
            self._done += 1
            if self._engine.slice.over():
                yield
        written.add(after)
        return written

    def _begin(self, stage: ImportStage, total: int) -> None:
        self._stage, self._done, self._total = stage, 0, total

    def _in_turns(self, work: Generator[int, None, T]) -> Steps[T]:
        """Work that says how many objects it has done, in slices."""
        while True:
            try:
                self._done = next(work)
            except StopIteration as end:
                result: T = end.value
                return result
            if self._engine.slice.over():
                yield


class _Compressed:
    """Data that is compressed as it comes; `size` is what it was."""

    def __init__(self) -> None:
        self.size = 0
        self._compressor = zlib.compressobj(_LEVEL)
        self._parts: list[bytes] = []

    def add(self, data: bytes) -> None:
        self.size += len(data)
        part = self._compressor.compress(data)
        if part:
            self._parts.append(part)

    def end(self) -> bytes:
        return b"".join((*self._parts, self._compressor.flush()))


def _frame(command: ApplyObjects | None) -> tuple[bytes, bytes]:
    """Return the bytes before and after the objects of a command."""
    if command is None:
        return b"", b""
    without = msgspec.structs.replace(command, objects=())
    data = msgspec.json.encode({"command": without, "source": SOURCE})
    before, _, after = data.partition(_EMPTY)
    return before + _EMPTY[:-1], b"]" + after


def _with_plan(packed: PackedPlan, found: ImportPlan) -> PackedPlan:
    """Return the packed plan, with the import plan to show: rows in the order of the text, and no former names."""
    rows = sorted(found.items, key=lambda item: item.index)
    shown = msgspec.structs.replace(found, items=rows, names=[], large=True)
    plan = zlib.compress(msgspec.msgpack.encode(shown), _LEVEL)
    return msgspec.structs.replace(packed, plan=plan, names=found.names)
