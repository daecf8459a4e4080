"""A scheduler for those who look at a world in which none runs."""

from functools import cache

from scheduler_core.world.readonly.world import SchedulerView
from scheduler_core.world.simulation import Simulation


@cache
def nobody() -> SchedulerView:
    """A scheduler that has done nothing: its queue and its cache are empty, it has had no cycle."""
    return Simulation().schedulers[0]
