"""What an import would do with a text, and the command that does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from playground.presenters.words import Message, message
from playground.sessions.protocol.errors import CommandRefused
from playground.sessions.protocol.moving import ImportPlan, MissingObjects, PlannedObject
from playground.sessions.worker.answers.adoption import offers
from playground.sessions.worker.imports.namespaces import with_namespaces
from playground.sessions.worker.imports.variables import variables_in
from playground.sessions.worker.refusals import problem, refusal
from playground.sessions.worker.world import (
    ApplyObjects,
    Intake,
    InvalidObject,
    Item,
    Plan,
    Simulation,
    continuation_of,
    heading,
    in_creation_order,
    plan_import,
    take_in,
)
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.formats.configurations import is_configuration
from scheduler_core.formats.manifests import Intake as Brought
from scheduler_core.formats.manifests import Note, NotObjects, read
from scheduler_core.formats.unsupported import notes
from scheduler_core.world.readonly import Loaded, LoadLimits

SOURCE = "import"  # of its command
NO_OBJECT = "a scheduler's configuration is no object of the cluster; it can be applied by itself, above"


def preview(
    world: Simulation, text: bytes, rename: bool = False, limits: LoadLimits | None = None
) -> ImportPlan:
    """The plan of an import, under other names where that is wished. Raises CommandRefused where the text cannot be read."""
    brought = read_brought(text, limits)
    intake = take_in(world.store, world.now, [each.manifest for each in brought.objects], rename)
    brought, loaded = with_namespaces(world, brought, list_accepted_objects(brought, intake, rename))
    planned = plan_import(world.api, loaded)
    found = import_plan(world, brought, intake, planned, rename)
    command = command_of(world, planned.accepted, brought)
    return msgspec.structs.replace(
        found,
        command=b"" if command is None else msgspec.json.encode({"command": command, "source": SOURCE}),
        kept=_encode_accepted_text(brought.text, [each.manifest for each in loaded]),
    )


def read_brought(text: bytes, limits: LoadLimits | None) -> Brought:
    """Read the objects of a text. Raises CommandRefused if it cannot be read."""
    try:
        return read(text, limits)
    except NotObjects as error:
        raise CommandRefused(_convert_note(error.note)) from None
    except InvalidObject as error:
        raise refusal(error.errors) from None


def list_accepted_objects(brought: Brought, intake: Intake, rename: bool) -> list[Loaded]:
    """The objects of a text as they may be kept."""
    return [
        replace(each, manifest=manifest, file="" if rename else each.file)
        for each, manifest in zip(brought.objects, intake.objects, strict=True)
        if not rename or manifest is not None
    ]


def import_plan(
    world: Simulation, brought: Brought, intake: Intake, planned: Plan, rename: bool
) -> ImportPlan:
    """A plan as it is shown and kept, without its command and its text."""
    idle = notes(_list_written_manifests(planned))
    said = [*brought.notes, *variables_in(planned.items)]
    return ImportPlan(
        [_build_planned_object(item) for item in planned.items],
        [*planned.warnings, *idle],
        b"",
        [] if rename else offers(world, brought.documents, brought.text),
        [_convert_note(note) for note in said if not rename or _tells_no_name(note)],
        b"",
        dict(intake.left_out),
        intake.shift,
        idle,
        [MissingObjects(m.kind, list(m.names), m.of, m.count, m.command) for m in planned.missing],
        rename,
        intake.names,
        intake.unneeded,
    )


def command_of(world: Simulation, accepted: list[Manifest], brought: Brought) -> ApplyObjects | None:
    """Return the command that applies all accepted objects; None if there are none.

    An import into an empty world carries its continuation.
    """
    if not accepted:
        return None
    continuation = continuation_of(brought.text)
    empty = not world.store.count("Node") and not world.store.count("Pod")
    going_on = continuation if continuation is not None and empty else msgspec.UNSET
    return ApplyObjects(tuple(in_creation_order(accepted)), continues=going_on)


def _encode_accepted_text(text: str, objects: Sequence[Any]) -> bytes:
    """The text as it may be kept: without what was left at the door."""
    continuation = continuation_of(text)
    first = heading(continuation).encode() if continuation is not None else b""
    return first + msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": objects})


def _tells_no_name(note: Note) -> bool:
    """Return whether a note may be stored with a renamed import: a note of counts or kinds has no names."""
    return all(
        name in ("kind", "old", "new") or str(value).replace(",", "").isdecimal()
        for name, value in note.values.items()
    )


def _convert_note(note: Note) -> Message:
    """A note as it travels."""
    return message(note.text, **{name: str(value) for name, value in note.values.items()})


def _list_written_manifests(planned: Plan) -> list[Mapping[str, Any]]:
    """The objects of the text that would be written, without what is made of them."""
    return [i.manifest for i in planned.items if i.action in ("created", "changed")]


def _build_planned_object(item: Item) -> PlannedObject:
    if is_configuration(item.manifest):
        item = replace(item, action="ignored", errors=(), reason=NO_OBJECT)
    return PlannedObject(
        action=item.action,
        kind=item.kind,
        namespace=item.namespace,
        name=item.name,
        index=item.index,
        changed=list(item.changed),
        reason=item.reason,
        errors=[problem(error) for error in item.errors],
    )
