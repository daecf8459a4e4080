"""The timeline's lanes."""

from __future__ import annotations

from typing import Any

from scheduler_core.simulation import Grain, Simulation
from tests.playground.presenters.worlds import decided, many_nodes, pod, shown, three_nodes, until


def lanes(sim: Simulation, **look: Any) -> dict[str, list[dict[str, Any]]]:
    found = shown("timeline", sim, **look)["cards"].values()
    return {card["name"]: card["segments"] for card in found if card["kind"] == "lane"}


def test_a_pod_goes_from_queue_to_cycle_to_binding_to_bound() -> None:
    sim = three_nodes()
    while sim.step(Grain.PLUGIN) and sim.journal.place("default/web-1") != "bound":
        pass
    assert [segment["kind"] for segment in lanes(sim)["web-1"]] == ["queue", "cycle", "binding", "bound"]


def test_a_failed_attempt_is_told_from_a_good_one() -> None:
    sim = until(three_nodes(pod("huge", cpu="64")), decided())
    assert [segment["kind"] for segment in lanes(sim)["huge"]] == ["queue", "failed", "unschedulable"]


def test_a_segment_leads_to_the_step_where_it_began() -> None:
    sim = until(three_nodes(), decided())
    moves = sim.journal.lane("default/web-1")
    assert [segment["at"] for segment in lanes(sim)["web-1"]] == [move.position for move in moves]


def test_a_step_that_moves_no_pod_changes_no_lane() -> None:
    sim = three_nodes()
    sim.step(Grain.PLUGIN)
    before = lanes(sim)
    sim.step(Grain.PLUGIN)
    assert lanes(sim) == before


def test_many_pods_share_a_few_lanes_and_the_inspected_one_has_one() -> None:
    sim = until(many_nodes(5, pods=40), decided(3))
    found = lanes(sim, pod="default/web-39")
    assert len(found) == 6
    assert "web-39" in found


def test_attempts_are_marked_on_the_axis() -> None:
    sim = until(three_nodes(pod("web-1"), pod("huge", cpu="64")), decided(2))
    ticks = shown("timeline", sim)["cards"]["lane-axis"]["ticks"]
    assert [tick["ok"] for tick in ticks] == [a.outcome == "scheduled" for a in sim.journal.attempts]
