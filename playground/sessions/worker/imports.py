"""Imports inside a worker: the plan of an import, and its command."""

import re
import zlib
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from playground.presenters.words import Message, gettext_noop, message
from playground.sessions.protocol import moving
from playground.sessions.protocol.errors import CommandRefused, problem, refusal
from playground.sessions.worker.answers.configurations import offers
from playground.sessions.worker.engine import Engine, TriedCommand
from playground.sessions.worker.memory import ALONE, Budget, no_collection
from playground.sessions.worker.time_sharing import Steps, Task
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.formats.configurations import is_configuration
from scheduler_core.formats.export import continuation_of, heading
from scheduler_core.formats.manifests import Intake as Brought
from scheduler_core.formats.manifests import Note, NotObjects, read
from scheduler_core.formats.unsupported import notes
from scheduler_core.world import simulation as core
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.readonly import InvalidObject, LoadedObject, LoadLimits, forget_places, parse_quantity

# Namespaces of a snapshot's objects that the snapshot lacks: they existed in its cluster, and are created with its objects.

KIND = "Namespace"
MADE = gettext_noop("Missing namespaces, which will be created without labels: %(names)s.")
SHOWN = 5


def with_namespaces(
    world: core.Simulation, brought: Brought, loaded: Sequence[LoadedObject], whole: bool = False
) -> tuple[Brought, list[LoadedObject]]:
    """Return the import and its objects, with the missing namespaces and a note that names them. `whole`: the text is a whole cluster."""
    lacking = _lacking(world, loaded, whole)
    if not lacking:
        return brought, list(loaded)
    first = max(each.index for each in loaded) + 1
    made = [
        LoadedObject({"apiVersion": "v1", "kind": KIND, "metadata": {"name": name}}, first + number, _nowhere)
        for number, name in enumerate(lacking)
    ]
    more = f" (+{len(lacking) - SHOWN})" if len(lacking) > SHOWN else ""
    note = Note(MADE, {"names": f"{', '.join(lacking[:SHOWN])}{more}"})
    return replace(brought, notes=[*brought.notes, note]), [*loaded, *made]


def _lacking(world: core.Simulation, loaded: Sequence[LoadedObject], whole: bool) -> list[str]:
    """Return the names of missing namespaces of objects with a uid, which only a cluster sets, or of all objects of a whole cluster.

    A text that brings the first nodes counts as a whole cluster; into an existing one, manifests are applied as by kubectl.
    """
    there, used = set(), set()
    kinds = {str(each.manifest.get("kind")) for each in loaded if isinstance(each.manifest, Mapping)}
    whole = whole or ("Node" in kinds and not world.store.count("Node"))
    for each in loaded:
        manifest = each.manifest
        meta = manifest.get("metadata") if isinstance(manifest, Mapping) else None
        if not isinstance(meta, Mapping):
            continue
        if manifest.get("kind") == KIND:
            there.add(str(meta.get("name")))
        elif (whole or meta.get("uid")) and isinstance(meta.get("namespace"), str):
            used.add(meta["namespace"])
    return sorted(name for name in used - there if name and world.store.get(KIND, "", name) is None)


def _nowhere(path: str) -> None:
    """Return None: the object has no place in a text."""


# The plan of an import, and its command.

# Unset shell variables for which objects were refused: `${REPLICAS:-1}`, `$IMAGE`.

VARIABLES = gettext_noop("Values such as %(value)s are variables without a value. Fill them in first: %(command)s")
COMMAND = "envsubst < FILE"
_VARIABLE = re.compile(r"\$\{[A-Za-z_]\w{0,80}[^{}\"\n]{0,80}\}|\$[A-Z][A-Z0-9_]{1,80}\b")


SOURCE = "import"  # of an import's command
NO_OBJECT = "a scheduler's configuration is no object of the cluster; it can be applied by itself, above"


def preview(
    world: core.Simulation, text: bytes, rename: bool = False, limits: LoadLimits | None = None, whole: bool = False
) -> moving.ImportPlan:
    """Return the plan of an import; `rename`: under other names. Raise CommandRefused if the text cannot be read."""
    brought = read_brought(text, limits)
    intake = core.take_in(world.store, world.now, [each.manifest for each in brought.objects], rename)
    brought, loaded = with_namespaces(world, brought, list_accepted_objects(brought, intake, rename), whole)
    planned = core.plan_import(world.api, loaded)
    found = import_plan(world, brought, intake, planned, rename)
    command = command_of(world, planned.accepted, brought, intake.taken)
    return msgspec.structs.replace(
        found,
        command=b"" if command is None else msgspec.json.encode({"command": command, "source": SOURCE}),
        kept=_encode_accepted_text(brought.text, [each.manifest for each in loaded]),
    )


def read_brought(text: bytes, limits: LoadLimits | None) -> Brought:
    """Read the objects of a text. Raise CommandRefused if it cannot be read."""
    try:
        return read(text, limits)
    except NotObjects as error:
        raise CommandRefused(_convert_note(error.note)) from None
    except InvalidObject as error:
        raise refusal(error.errors) from None


def list_accepted_objects(brought: Brought, intake: core.Intake, rename: bool) -> list[LoadedObject]:
    """Return the objects of a text in the form that may be stored."""
    return [
        replace(each, manifest=manifest, file="" if rename else each.file)
        for each, manifest in zip(brought.objects, intake.objects, strict=True)
        if not rename or manifest is not None
    ]


def import_plan(
    world: core.Simulation, brought: Brought, intake: core.Intake, planned: core.Plan, rename: bool
) -> moving.ImportPlan:
    """Return the plan for display and storage, without its command and its text."""
    idle = notes(planned.accepted)
    texts = (error.text for item in planned.items for error in item.errors)
    found = next((match for text in texts if (match := _VARIABLE.search(text))), None)
    said = [*brought.notes, *([] if found is None else [Note(VARIABLES, {"value": found[0], "command": COMMAND})])]
    return moving.ImportPlan(
        [_build_planned_object(item) for item in planned.items],
        [*planned.warnings, *idle],
        b"",
        [] if rename else offers(world, brought.documents, brought.text),
        [_convert_note(note) for note in said if not rename or _tells_no_name(note)],
        b"",
        dict(intake.left_out),
        intake.shift,
        idle,
        [moving.MissingObjects(m.kind, list(m.names), m.of, m.count, m.command) for m in planned.missing],
        rename,
        intake.names,
        intake.unneeded,
        amounts=_sum_up(planned.accepted),
    )


def _sum_up(manifests: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the nodes' cpu and memory, and the numbers of pods with and without a node."""
    sums = dict.fromkeys(("cpu", "memory", "placed", "pending"), 0)
    for manifest in manifests:
        status = manifest.get("status") or {}
        if manifest["kind"] == "Node":
            offered = status.get("allocatable") or status.get("capacity") or {}
            sums["cpu"] += ceil(1000 * parse_quantity(str(offered.get("cpu") or 0)))
            sums["memory"] += int(parse_quantity(str(offered.get("memory") or 0)))
        elif manifest["kind"] == "Pod" and status.get("phase") not in ("Succeeded", "Failed"):
            sums["placed" if (manifest.get("spec") or {}).get("nodeName") else "pending"] += 1
    return sums


def command_of(world: core.Simulation, accepted: list[Manifest], brought: Brought, taken: str) -> ApplyObjects | None:
    """Return the command that applies all accepted objects, or None if there are none.

    An import into an empty world carries its continuation.
    """
    if not accepted:
        return None
    continuation = continuation_of(brought.text)
    empty = not world.store.count("Node") and not world.store.count("Pod")
    going_on = continuation if continuation is not None and empty else msgspec.UNSET
    ordered = tuple(core.in_creation_order(accepted))
    stopped = core.list_silent_nodes(ordered)
    return ApplyObjects(ordered, continues=going_on, stopped=stopped, taken=taken or msgspec.UNSET)


def _encode_accepted_text(text: str, objects: Sequence[Any]) -> bytes:
    """Return the text in the form that may be stored: without what the intake removed."""
    continuation = continuation_of(text)
    first = heading(continuation).encode() if continuation is not None else b""
    return first + msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": objects})


def _tells_no_name(note: Note) -> bool:
    """Return whether a note may be stored with a renamed import: a note of counts or kinds has no names."""
    return all(
        name in ("kind", "old", "new") or str(value).replace(",", "").isdecimal() for name, value in note.values.items()
    )


def _convert_note(note: Note) -> Message:
    return message(note.text, **{name: str(value) for name, value in note.values.items()})


def _build_planned_object(item: core.Item) -> moving.PlannedObject:
    if is_configuration(item.manifest):
        item = replace(item, action="ignored", errors=(), reason=NO_OBJECT)
    return moving.PlannedObject(
        action=item.action,
        kind=item.kind,
        namespace=item.namespace,
        name=item.name,
        index=item.index,
        changed=list(item.changed),
        reason=item.reason,
        errors=[problem(error) for error in item.errors],
    )


# A large import inside a worker: its file is read, rehearsed, and packed in turns, and the rehearsal is kept until it is applied.
#
# Objects are rehearsed in the order in which they will be applied, so that the rehearsal can be applied as it is.

T = TypeVar("T")

TOO_MUCH = gettext_noop("This import needs more memory than the limit and was stopped. Nothing was saved.")
_LEVEL = 1  # of compression
_EMPTY = b'"objects":[]'


class LargeImport(Task[moving.PackedPlan, moving.ImportProgress]):
    """The preview of a file's import. At the end `prepared` is the rehearsal, if the import can be applied with it."""

    def __init__(self, engine: Engine, file: Path, rename: bool, limits: LoadLimits) -> None:
        super().__init__(self._run())
        self.prepared: TriedCommand | None = None
        self._engine, self._file, self._rename, self._limits = engine, file, rename, limits
        self._stage: moving.ImportStage = "read"
        self._counted = self._total = 0
        self._memory = Budget(ALONE, TOO_MUCH)

    def turn(self) -> None:
        with self._memory, no_collection():
            super().turn()

    def progress(self) -> moving.ImportProgress:
        return moving.ImportProgress(self._stage, self._counted, self._total, self.result)

    def _run(self) -> Steps[moving.PackedPlan]:
        try:
            return (yield from self._look_at())
        finally:
            forget_places()

    def _look_at(self) -> Steps[moving.PackedPlan]:
        yield  # so that the client sees the stage before the file is read, in one long turn
        world = self._engine.world
        position, brought = world.position, read_brought(self._file.read_bytes(), self._limits)
        self._begin("clean", 3 * len(brought.objects))
        yield
        taking = core.taking_in(world.store, world.now, [each.manifest for each in brought.objects], self._rename)
        intake = yield from self._in_turns(taking)
        brought, loaded = with_namespaces(world, brought, list_accepted_objects(brought, intake, self._rename))
        loaded.sort(key=lambda each: core.get_creation_time(each.manifest))
        plan, trial = yield from self._try(world, loaded, intake.taken)
        self._begin("keep", 2 * len(loaded))
        yield
        found = import_plan(world, brought, intake, plan, self._rename)
        command = command_of(world, plan.accepted, brought, intake.taken)
        going_on = continuation_of(brought.text)
        first = heading(going_on).encode() if going_on is not None else b""
        del brought, intake, plan  # free the text, too
        forget_places()
        yield
        packed = yield from self._pack([each.manifest for each in loaded], command, first)
        if command is not None and trial is not None and trial.is_whole:
            self.prepared = TriedCommand(world, position, command, trial, packed.command, packed.size)
        return _with_plan(packed, found)

    def _try(
        self, world: core.Simulation, loaded: Sequence[LoadedObject], taken: str
    ) -> Steps[tuple[core.Plan, core.Trial | None]]:
        self._begin("try", len(loaded))
        yield
        sources = [core.source_of(each.index, each) for each in loaded]
        trial = yield from self._in_turns(world.rehearse([each.manifest for each in sources], taken))
        return core.build_plan(world.api, sources, trial), trial

    def _pack(self, objects: Sequence[object], command: ApplyObjects | None, first: bytes) -> Steps[moving.PackedPlan]:
        """Return the command in the form of the log, and the text in the form that may be stored."""
        before, after = _frame(command)
        done = yield from self._write(before, command.objects if command is not None else (), after)
        before = first + b'{"apiVersion":"v1","kind":"List","items":['
        text = yield from self._write(before, objects, b"]}")
        count = len(command.objects) if command is not None else 0
        return moving.PackedPlan(b"", done.end() if command is not None else b"", text.end(), done.size, count)

    def _write(self, before: bytes, objects: Sequence[object], after: bytes) -> "Steps[_CompressedStream]":
        """Return a list of objects as JSON, between `before` and `after`."""
        written, between = _CompressedStream(), b""
        written.add(before)
        for each in objects:
            written.add(between + msgspec.json.encode(each))
            between = b","
            self._counted += 1
            if self._engine.slice.over():
                yield
        written.add(after)
        return written

    def _begin(self, stage: moving.ImportStage, total: int) -> None:
        self._stage, self._counted, self._total = stage, 0, total

    def _in_turns(self, work: Generator[int, None, T]) -> Steps[T]:
        """Run work that yields the number of objects done, in slices; return its result."""
        while True:
            try:
                self._counted = next(work)
            except StopIteration as end:
                result: T = end.value
                return result
            if self._engine.slice.over():
                yield


class _CompressedStream:
    """Data that is compressed as it is added; `size` is the size before compression."""

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


def _with_plan(packed: moving.PackedPlan, found: moving.ImportPlan) -> moving.PackedPlan:
    """Return the packed plan, with the import plan to show: rows in the order of the text, and no former names."""
    rows = sorted(found.items, key=lambda item: item.index)
    shown = msgspec.structs.replace(found, items=rows, names=[], large=True)
    plan = zlib.compress(msgspec.msgpack.encode(shown), _LEVEL)
    return msgspec.structs.replace(packed, plan=plan, names=found.names)
