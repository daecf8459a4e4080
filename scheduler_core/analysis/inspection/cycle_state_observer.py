"""What the plugins of one cycle do with its CycleState, seen while the cycle is run (or its past run again).

Each transition runs one plugin, so what the state noted meanwhile is that plugin's doing. A copy is named by what it was made for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from scheduler_core.analysis.inspection.attempt_observer import running_cycle
from scheduler_core.analysis.inspection.observed_state import CLONED, AccessLog, ObservedState
from scheduler_core.scheduler.core.cycles.scheduling_cycle import BindingCycle
from scheduler_core.scheduler.framework.plugin import Point
from scheduler_core.scheduler.framework.step import PluginStep
from scheduler_core.world.simulation import Simulation

OWN, NOMINATED, DRY_RUN, BINDING = "the cycle", "nominated pods", "dry run", "binding cycle"


class StateAccess(NamedTuple):
    """One access to a key: what was done, by which plugin at which point ("" where the framework itself did), to which copy."""

    what: str
    key: str
    point: str
    plugin: str
    position: int
    clone: str


class CycleStateObserver:
    """Made when the cycle's first transition has been made; `see` is called after each one that follows."""

    def __init__(self, sim: Simulation, pod: str) -> None:
        self.scheduler, self.cycle = running_cycle(sim, pod)
        self._log = AccessLog()
        self.cycle.state = ObservedState.over(self.cycle.state, self._log)
        self._seen = len(self.cycle.steps)
        self._seen_binding = 0
        self._clones: dict[int, str] = {0: OWN}
        self.binding: BindingCycle | None = None
        self.accesses: list[StateAccess] = []

    def see(self, sim: Simulation) -> None:
        """Takes in one transition."""
        self.binding = self.scheduler.bindings.get(self.cycle.number, self.binding)
        step = self._ran()
        point, plugin = (step.point.value, step.plugin) if step is not None else ("", "")
        for access in self._log.take():
            if access.what == CLONED:
                self._clones[access.clone] = _purpose(step, self.binding is not None)
            clone = self._clones.get(access.clone, OWN)
            self.accesses.append(StateAccess(access.what, access.key, point, plugin, sim.position, clone))

    def _ran(self) -> PluginStep | None:
        """The step that the transition made; of several (Unreserve) the last."""
        own, late = self.cycle.steps, self.binding.steps if self.binding is not None else []
        step = late[-1] if len(late) > self._seen_binding else own[-1] if len(own) > self._seen else None
        self._seen, self._seen_binding = len(own), len(late)
        return step

    @property
    def values(self) -> dict[str, Any]:
        """The state as it is now: the binding cycle's where that has begun."""
        state = self.cycle.state if self.binding is None else self.binding.state
        return state.values


def _purpose(step: PluginStep | None, binds: bool) -> str:
    if binds:
        return BINDING
    return DRY_RUN if step is not None and step.point is Point.POST_FILTER else NOMINATED
