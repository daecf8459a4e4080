"""What is asked for again and again in vain keeps no world from being idle."""

from __future__ import annotations

from scheduler_core.world.commands import ApplyObjects, DrainNode, PatchObject, Ref
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod

BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "keep", "namespace": "default"},
    "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
}


def drained() -> Simulation:
    """A world in which a budget holds up a drain."""
    sim = Simulation()
    web = pod("web")
    web["metadata"]["labels"] = {"app": "web"}
    sim.apply(ApplyObjects((node("n"), node("m"), web, BUDGET)))
    sim.run(steps=2_000)
    found = sim.store.pod_at("default/web")
    assert found is not None
    sim.apply(DrainNode(found.node_name, force=True))
    return sim


def test_a_drain_that_gets_nowhere_lets_the_world_be_idle() -> None:
    sim = drained()
    assert sim.run(steps=5_000).reason == "idle"
    assert sim.now < 300 * 10**9


def test_it_goes_on_as_soon_as_it_may() -> None:
    sim = drained()
    sim.run(steps=5_000)
    sim.apply(PatchObject(Ref("PodDisruptionBudget", "default", "keep"), {"spec": {"minAvailable": 0}}))
    for _ in range(200):
        sim.advance()
        if sim.store.pod_at("default/web") is None:
            break
    assert sim.store.pod_at("default/web") is None
