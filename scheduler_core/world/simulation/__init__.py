"""The one door to a world: whatever changes it is a command applied to a Simulation, or a transition that it makes."""

from scheduler_core.apiserver import Refused, WatchEvent
from scheduler_core.apiserver.imports.items import Item, Plan, source_of
from scheduler_core.apiserver.imports.plan import (
    Intake,
    build_plan,
    get_creation_time,
    in_creation_order,
    list_silent_nodes,
    plan_import,
    take_in,
    taking_in,
)
from scheduler_core.apiserver.imports.trial import Trial
from scheduler_core.world.simulation.simulation import Grain, Simulation

__all__ = ["Grain", "Intake", "Item", "Plan", "Refused", "Simulation", "Trial", "WatchEvent", "build_plan"]
__all__ += ["get_creation_time", "in_creation_order", "list_silent_nodes", "plan_import", "source_of", "take_in"]
__all__ += ["taking_in"]
