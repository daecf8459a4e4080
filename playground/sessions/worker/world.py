"""The door to scheduler_core: the names that an engine uses, in one place."""

from __future__ import annotations

from scheduler_core import FIRST_EDITION
from scheduler_core.commands import ApplyObjects, Command, Redo, Undo, command_from_json
from scheduler_core.export import digest
from scheduler_core.simulation import Grain, Item, Plan, Refused, Simulation, plan, plan_import
from scheduler_core.view import FieldError, InvalidObject

__all__ = [
    "FIRST_EDITION",
    "ApplyObjects",
    "Command",
    "FieldError",
    "Grain",
    "InvalidObject",
    "Item",
    "Plan",
    "Redo",
    "Refused",
    "Simulation",
    "Undo",
    "command_from_json",
    "digest",
    "plan",
    "plan_import",
]
