"""What an import would do with a text, and the command that does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from playground.sessions.protocol.errors import CommandRefused, Sentence
from playground.sessions.protocol.moving import ImportPlan, PlannedObject
from playground.sessions.worker.answers.adoption import offers
from playground.sessions.worker.refusals import problem, refusal
from playground.sessions.worker.world import (
    ApplyObjects,
    InvalidObject,
    Item,
    Plan,
    Simulation,
    plan,
    plan_import,
)
from scheduler_core.coverage import notes
from scheduler_core.intake import Note, NotObjects, read
from scheduler_core.migration import is_configuration

NO_OBJECT = "a scheduler's configuration is no object of the cluster; it can be applied by itself, above"


def preview(world: Simulation, text: bytes) -> ImportPlan:
    """The plan of an import. Raises CommandRefused where the text cannot be read."""
    try:
        brought = read(text)
    except NotObjects as error:
        raise CommandRefused(str(error.note), said=_sentence(error.note)) from None
    except InvalidObject as error:
        raise refusal(error.errors) from None
    loaded = brought.objects
    planned = plan(world.store, loaded) if world.settings.cluster is None else plan_import(world.api, loaded)
    accepted = tuple(planned.accepted)
    command = {"command": ApplyObjects(accepted), "source": "import"}
    return ImportPlan(
        [_planned(item) for item in planned.items],
        [*planned.warnings, *notes(_written(planned))],
        msgspec.json.encode(command) if accepted else b"",
        offers(world, brought.documents, brought.text),
        [_sentence(note) for note in brought.notes],
    )


def _sentence(note: Note) -> Sentence:
    """A note as it travels."""
    return Sentence(note.text, {name: str(value) for name, value in note.values.items()})


def _written(planned: Plan) -> list[Mapping[str, Any]]:
    """The objects of the text that would be written, without what is made of them."""
    return [i.manifest for i in planned.items if i.action in ("created", "changed") and not i.made_from]


def _planned(item: Item) -> PlannedObject:
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
        note=item.note,
        made_from=item.made_from,
    )
