"""The door to scheduler_core: the names that an engine uses, in one place."""

from __future__ import annotations

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
]
