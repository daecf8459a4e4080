"""Worlds to present, and a way to step them to where a test wants to look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from playground.presenters import Look, present
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Grain, Simulation
from tests.scheduler_core.worlds import node, pod

INFRA = {"taints": [{"key": "dedicated", "value": "infra", "effect": "NoSchedule"}]}
ZONE = "topology.kubernetes.io/zone"


def empty_world(seed: int = 1, **settings: Any) -> Simulation:
    """A world as a new session has it, with some settings changed."""
    return Simulation(seed=seed, settings=msgspec.structs.replace(WorldSettings(), **settings))


def world(*objects: Mapping[str, Any], seed: int = 1) -> Simulation:
    """A world as a new session has it, with these objects in it and nothing scheduled yet."""
    sim = empty_world(seed)
    sim.apply(ApplyObjects(objects))
    return sim


def tainted(name: str, **metadata: Any) -> dict[str, Any]:
    """A node that no ordinary pod tolerates."""
    return {**node(name, **metadata), "spec": INFRA}


def three_nodes(*pods: dict[str, Any]) -> Simulation:
    """A free node, a small one and a tainted one, in two zones."""
    return world(
        node("free", cpu="8", labels={ZONE: "a"}),
        node("small", cpu="1", labels={ZONE: "a"}),
        tainted("infra", cpu="8", labels={ZONE: "b"}),
        *(pods or (pod("web-1", cpu="2"),)),
    )


def many_nodes(count: int = 1523, pods: int = 0) -> Simulation:
    """A large cluster in seven racks; every fifth node is too small for a pod of 2 cpu."""
    nodes = [node(f"node-{i:04}", cpu="1" if i % 5 == 0 else "16", labels={"rack": f"r{i % 7}"}) for i in range(count)]
    return world(*nodes, *(pod(f"web-{i}", cpu="2") for i in range(max(pods, 1))))


def until(sim: Simulation, here: Callable[[Simulation], bool], most: int = 500) -> Simulation:
    """Step plugin by plugin until the condition holds."""
    for _ in range(most):
        if here(sim):
            return sim
        assert sim.step(Grain.CALL), "nothing is left to do and the condition never held"
    raise AssertionError(f"the condition did not hold within {most} steps")


def ran(point: str, plugin: str) -> Callable[[Simulation], bool]:
    """The condition that the last step was this plugin at this point."""

    def here(sim: Simulation) -> bool:
        cycle = sim.schedulers[0].cycle
        step = cycle.steps[-1] if cycle is not None and cycle.steps else None
        return step is not None and (step.point, step.plugin, step.position) == (point, plugin, sim.position)

    return here


def decided(number: int = 1) -> Callable[[Simulation], bool]:
    """The condition that so many attempts have ended."""
    return lambda sim: len(sim.journal.attempts) >= number


def begun(sim: Simulation) -> bool:
    """The condition that a scheduling cycle has begun."""
    return sim.schedulers[0].cycle is not None


def shown(name: str, sim: Simulation, **look: Any) -> dict[str, Any]:
    """A panel as plain data."""
    panel = present(name, sim, Look(**look))
    return {"name": panel.name, "context": panel.context, "cards": panel.cards}
