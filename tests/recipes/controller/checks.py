"""Sweeper: what it does, and that the world runs it."""

from __future__ import annotations

from scheduler_core.world.commands import ApplyObjects, SetSettings
from scheduler_core.world.simulation import Grain, Simulation
from tests.scheduler_core.worlds import node, pod

SECOND = 10**9


def ended(phase: str) -> Simulation:
    """A world in which a pod is in a phase, and the sweeper alone runs."""
    sim = Simulation()
    sim.apply(SetSettings({"cluster": {"controllers": ["sweeper"]}}))
    sim.apply(ApplyObjects((node("n"), {**pod("p"), "status": {"phase": phase}})))
    return sim


def test_a_pod_that_has_run_to_its_end_is_removed_after_a_while() -> None:
    sim = ended("Succeeded")
    sim.run(until=lambda world: world.now >= 60 * SECOND)
    assert sim.store.pod_at("default/p") is None
    assert sim.surroundings.queues["sweeper"].done[-1].text == "removed p: it ended a minute ago"


def test_a_pod_that_runs_is_left_alone() -> None:
    sim = ended("Running")
    assert not sim.surroundings.queues.get("sweeper")


def test_its_step_can_be_taken_alone() -> None:
    sim = ended("Failed")
    while not any(event.reason == "Swept" for event in sim.store.events):
        sim.step(Grain.EVENT)
