"""The door to scheduler_core: the names that an engine uses, in one place."""

from __future__ import annotations

from playground import presenters
from playground.presenters import Look, Panel
from scheduler_core.api.requests.plan import Item, plan
from scheduler_core.api.status import Refused
from scheduler_core.commands import ApplyObjects, Command, Redo, Undo, command_from_json
from scheduler_core.export.digests import digest
from scheduler_core.objects.errors import FieldError, InvalidObject
from scheduler_core.objects.loading import LoadLimits, load_manifests
from scheduler_core.simulation import Grain, Simulation

__all__ = [
    "ApplyObjects",
    "Command",
    "FieldError",
    "Grain",
    "InvalidObject",
    "Item",
    "LoadLimits",
    "Redo",
    "Refused",
    "Simulation",
    "Undo",
    "command_from_json",
    "digest",
    "load_manifests",
    "plan",
    "present",
]


def present(world: Simulation, look: Look, names: list[str] | None, story: str) -> list[Panel]:
    """The panels of a world, in the page's order."""
    wanted = [name for name in presenters.PANELS if names is None or name in names]
    return [presenters.present(name, world, look, story) for name in wanted]
