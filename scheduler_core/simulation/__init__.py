"""The one door to a world: whatever changes it is a command applied to a Simulation, or a transition that it makes."""

from scheduler_core.simulation.simulation import Grain, RunResult, Simulation

__all__ = ["Grain", "RunResult", "Simulation"]
