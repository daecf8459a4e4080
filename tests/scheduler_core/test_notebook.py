"""A notebook: who wrote, read and copied what in a cycle's CycleState."""

from __future__ import annotations

from typing import Any

from scheduler_core.commands import ApplyObjects
from scheduler_core.scheduler.notebook import Notebook
from scheduler_core.simulation import Simulation
from tests.scheduler_core.worlds import node, pod, settle, world

WEB = "default/web"


def noted(sim: Simulation, key: str = WEB) -> Notebook:
    """What is noted of the pod's attempt, up to where nothing is left to do."""
    sim.run(until=lambda w: w.journal.place(key) == "in flight")
    book = Notebook(sim, key)
    while not sim.idle:
        sim.advance()
        book.see(sim)
    return book


def done(book: Notebook, what: str, key: str) -> list[tuple[str, str]]:
    return list(dict.fromkeys((n.point, n.plugin) for n in book.notes if n.what == what and n.key == key))


def test_a_key_is_written_in_pre_filter_and_read_in_filter() -> None:
    book = noted(world(node("n"), pod("web")))
    key = "PreFilterNodeResourcesFit"
    assert done(book, "wrote", key) == [("PreFilter", "NodeResourcesFit")]
    assert done(book, "read", key) == [("Filter", "NodeResourcesFit")]


def test_the_binding_cycle_has_a_copy_of_its_own() -> None:
    book = noted(world(node("n"), pod("web")))
    assert [n.clone for n in book.notes if n.what == "cloned"] == ["binding cycle"]


def test_a_dry_run_of_preemption_works_on_a_copy() -> None:
    sim = world(node("n", cpu="2"), pod("low", cpu="2"))
    settle(sim)
    sim.apply(ApplyObjects((pod("web", cpu="2", priority=10),)))
    book = noted(sim)
    assert "dry run" in {n.clone for n in book.notes if n.what == "cloned"}
    assert {n.point for n in book.notes if n.clone == "dry run"} == {"PostFilter"}


def test_a_cycle_that_is_noted_goes_the_same_way() -> None:
    def records(sim: Simulation) -> list[Any]:
        return [record.to_json() for record in settle(sim)]

    plain, observed = world(node("n"), pod("web")), world(node("n"), pod("web"))
    for sim in (plain, observed):
        sim.run(until=lambda w: w.journal.place(WEB) == "in flight")
    Notebook(observed, WEB)
    assert records(plain) == records(observed)
