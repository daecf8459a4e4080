"""Sweeper: what it does, and that the world runs it."""

from __future__ import annotations

from scheduler_core.commands import ApplyObjects, SetSettings
from scheduler_core.simulation import Grain, Simulation
from tests.scheduler_core.worlds import node, pod, settle

SECOND = 10**9


def ended(phase: str) -> Simulation:
    """A world in which a pod is in a phase, and pods are swept after a minute."""
    sim = Simulation()
    sim.apply(SetSettings({"sweep_after": 60 * SECOND}))
    sim.apply(ApplyObjects((node("n"), {**pod("p"), "status": {"phase": phase}})))
    return sim


def test_a_pod_that_has_run_to_its_end_is_removed_after_a_while() -> None:
    sim = ended("Succeeded")
    assert sim.store.pod_at("default/p") is not None
    settle(sim)
    assert sim.store.pod_at("default/p") is None
    assert sim.now == 60 * SECOND


def test_a_pod_that_runs_is_left_alone() -> None:
    sim = ended("Running")
    settle(sim)
    assert sim.store.pod_at("default/p") is not None


def test_its_step_can_be_taken_alone() -> None:
    sim = ended("Failed")
    sim.step(Grain.EVENT)
    assert [event.reason for event in sim.store.events] == ["Swept"]
