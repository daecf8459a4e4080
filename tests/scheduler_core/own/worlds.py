"""Worlds with plugins of one's own in their profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.scheduler.config.schema import FIELDS
from scheduler_core.world.commands import ApplyObjects, SetConfiguration
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import configuration


def profile(
    *names: str, args: Mapping[str, Mapping[str, Any]] | None = None, off: Mapping[str, list[str]] | None = None
) -> dict[str, Any]:
    """The default profile with these plugins as well; before DefaultBinder. `off`: names disabled at a point."""
    plugins: dict[str, Any] = {"multiPoint": {"enabled": [{"name": name} for name in names]}}
    for point, disabled in (off or {}).items():
        plugins[point] = {"disabled": [{"name": name} for name in disabled]}
    config = [{"name": name, "args": dict(given)} for name, given in (args or {}).items()]
    return {"plugins": plugins, "pluginConfig": config}


def at_point(name: str, point: str, *others_off: str) -> dict[str, Any]:
    """The default profile with one plugin at one point, others disabled there."""
    assert point in FIELDS
    off = [{"name": other} for other in others_off]
    return {"plugins": {point: {"enabled": [{"name": name}], "disabled": off}}}


def world(chosen: Mapping[str, Any], *objects: Mapping[str, Any]) -> Simulation:
    """A world with this profile and these objects, nothing scheduled yet."""
    sim = Simulation(seed=1)
    sim.apply(SetConfiguration(configuration(profiles=[dict(chosen)])))
    sim.apply(ApplyObjects(objects))
    return sim
