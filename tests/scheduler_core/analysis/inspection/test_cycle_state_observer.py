"""Who wrote, read and copied what in a cycle's CycleState."""

from __future__ import annotations

from typing import Any

from scheduler_core.analysis.inspection.attempt_observer import CycleStateObserver
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod, settle, world

WEB = "default/web"


def observed(sim: Simulation, key: str = WEB) -> CycleStateObserver:
    """What is seen of the pod's attempt, up to where nothing is left to do."""
    sim.run(until=lambda w: w.journal.place(key) == "in flight")
    observer = CycleStateObserver(sim, key)
    while not sim.idle:
        sim.advance()
        observer.see(sim)
    return observer


def done(observer: CycleStateObserver, what: str, key: str) -> list[tuple[str, str]]:
    return list(dict.fromkeys((a.point, a.plugin) for a in observer.accesses if a.what == what and a.key == key))


def test_a_key_is_written_in_pre_filter_and_read_in_filter() -> None:
    observer = observed(world(node("n"), pod("web")))
    key = "PreFilterNodeResourcesFit"
    assert done(observer, "wrote", key) == [("PreFilter", "NodeResourcesFit")]
    assert done(observer, "read", key) == [("Filter", "NodeResourcesFit")]


def test_the_binding_cycle_has_a_copy_of_its_own() -> None:
    observer = observed(world(node("n"), pod("web")))
    assert [a.clone for a in observer.accesses if a.what == "cloned"] == ["binding cycle"]


def test_a_dry_run_of_preemption_works_on_a_copy() -> None:
    sim = world(node("n", cpu="2"), pod("low", cpu="2"))
    settle(sim)
    sim.apply(ApplyObjects((pod("web", cpu="2", priority=10),)))
    observer = observed(sim)
    assert "dry run" in {a.clone for a in observer.accesses if a.what == "cloned"}
    assert {a.point for a in observer.accesses if a.clone == "dry run"} == {"PostFilter"}


def test_a_cycle_that_is_observed_goes_the_same_way() -> None:
    def records(sim: Simulation) -> list[Any]:
        return [record.to_json() for record in settle(sim)]

    plain, observed = world(node("n"), pod("web")), world(node("n"), pod("web"))
    for sim in (plain, observed):
        sim.run(until=lambda w: w.journal.place(WEB) == "in flight")
    CycleStateObserver(observed, WEB)
    assert records(plain) == records(observed)
