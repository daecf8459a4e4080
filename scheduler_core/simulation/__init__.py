"""The one door to a world: whatever changes it is a command applied to a Simulation, or a transition that it makes."""

from __future__ import annotations

from scheduler_core.api.imports.plan import plan_import
from scheduler_core.api.requests.plan import Item, Plan, plan
from scheduler_core.api.status import Refused
from scheduler_core.simulation.simulation import Grain, RunResult, Simulation

__all__ = ["Grain", "Item", "Plan", "Refused", "RunResult", "Simulation", "plan", "plan_import"]
