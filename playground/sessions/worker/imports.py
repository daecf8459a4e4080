"""What an import would do with a text, and the command that does it."""

from __future__ import annotations

import msgspec

from playground.sessions.protocol.errors import CommandRefused
from playground.sessions.protocol.moving import ImportPlan, PlannedObject
from playground.sessions.worker.refusals import problem, refusal
from playground.sessions.worker.world import (
    ApplyObjects,
    InvalidObject,
    Item,
    LoadLimits,
    Simulation,
    load_manifests,
    plan,
    plan_import,
)


def preview(world: Simulation, text: bytes) -> ImportPlan:
    """The plan of an import. Raises CommandRefused where the text cannot be read."""
    try:
        loaded = load_manifests(text.decode("utf-8-sig"), LoadLimits())
        planned = (
            plan(world.store, loaded) if world.settings.cluster is None else plan_import(world.api, loaded)
        )
    except UnicodeDecodeError as error:
        raise CommandRefused(
            f"The file is not text in UTF-8: byte {error.start + 1:,} cannot be read."
        ) from None
    except InvalidObject as error:
        raise refusal(error.errors) from None
    accepted = tuple(planned.accepted)
    command = {"command": ApplyObjects(accepted), "source": "import"}
    return ImportPlan(
        [_planned(item) for item in planned.items],
        list(planned.warnings),
        msgspec.json.encode(command) if accepted else b"",
    )


def _planned(item: Item) -> PlannedObject:
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
