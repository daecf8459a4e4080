"""The one door to a world: whatever changes it is a command applied to a Simulation, or a transition that it makes."""

from __future__ import annotations

from scheduler_core.api.imports.intake import Intake, take_in
from scheduler_core.api.imports.order import in_creation_order
from scheduler_core.api.imports.plan import plan_import
from scheduler_core.api.requests.plan import Item, Plan, plan
from scheduler_core.api.status import Refused
from scheduler_core.simulation.simulation import Grain, RunResult, Simulation

__all__ = [
    "Grain",
    "Intake",
    "Item",
    "Plan",
    "Refused",
    "RunResult",
    "Simulation",
    "in_creation_order",
    "plan",
    "plan_import",
    "take_in",
]
