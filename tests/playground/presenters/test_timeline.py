"""The timeline's lanes."""

from __future__ import annotations

from typing import Any

import pytest

from playground.presenters import Look
from playground.presenters.timeline import round_up, window
from scheduler_core.world.commands import ApplyObjects, FailCall
from scheduler_core.world.simulation import Grain, Simulation
from tests.playground.presenters.worlds import begun, decided, many_nodes, node, pod, shown, three_nodes, until
from tests.scheduler_core.worlds import settle


def lanes(sim: Simulation, **look: Any) -> dict[str, list[dict[str, Any]]]:
    found = shown("timeline", sim, **look)["cards"].values()
    return {card["name"]: card["segments"] for card in found if card["kind"] == "lane"}


def test_a_pod_goes_from_queue_to_cycle_to_binding_to_bound() -> None:
    sim = three_nodes()
    while sim.step(Grain.CALL) and sim.journal.place("default/web-1") != "bound":
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
    sim = until(three_nodes(), begun)
    before = lanes(sim)
    sim.step(Grain.CALL)
    assert lanes(sim) == before


def test_many_pods_share_a_few_lanes_and_the_inspected_one_has_one() -> None:
    sim = until(many_nodes(5, pods=40), decided(3))
    found = lanes(sim, pod="default/web-39")
    assert len(found) == 6
    assert "web-39" in found


def test_attempts_are_marked_on_the_axis() -> None:
    sim = until(three_nodes(pod("web-1"), pod("huge", cpu="64")), decided(2))
    ticks = shown("timeline", sim)["cards"]["lane-axis"]["attempts"]
    assert [tick["outcome"] for tick in ticks] == [a.outcome for a in sim.journal.attempts]


def segments(sim: Simulation, name: str, **look: Any) -> dict[str, dict[str, Any]]:
    return {segment["kind"]: segment for segment in lanes(sim, **look)[name]}


def test_over_virtual_time_a_bar_is_as_long_as_the_stay() -> None:
    sim = three_nodes()
    settle(sim)
    found = segments(sim, "web-1", axis="time", start=0, span=2_000_000)
    assert found["bound"]["width"] > 90
    assert found["binding"]["width"] < 1
    assert found["binding"]["time"] == "5 ms"


def test_a_window_that_was_chosen_stays_while_the_world_goes_on() -> None:
    sim = until(three_nodes(), decided())
    before = window(sim, Look(start=4, span=40))
    settle(sim)
    after = window(sim, Look(start=4, span=40))
    assert (before.first, before.last) == (after.first, after.last) == (4, 44)


def test_a_window_that_follows_moves_on_in_blocks() -> None:
    sim = many_nodes(5, pods=40)
    firsts = []
    for _ in range(400):
        sim.advance()
        firsts.append(window(sim, Look(span=100)).first)
    assert sorted(set(firsts)) == list(range(0, firsts[-1] + 1, 25))


def test_no_window_is_shorter_or_longer_than_makes_sense() -> None:
    assert window(three_nodes(), Look(span=1)).span >= 16
    assert window(three_nodes(), Look(span=10**15, start=0)).span == 5_000_000


def test_whoever_left_the_window_has_no_lane_in_it() -> None:
    sim = until(many_nodes(5, pods=40), decided(30), 1500)
    late = sim.journal.attempts[-1]
    found = lanes(sim, start=late.first_position, span=30, pod=late.pod)
    assert "web-0" not in found


def test_a_filter_finds_lanes_by_name_and_counts_the_rest() -> None:
    sim = until(many_nodes(5, pods=40), decided(30), 1500)
    assert list(lanes(sim, lane="web-17")) == ["web-17"]
    assert shown("timeline", sim, lane="web")["context"]["more"] == 34


def test_a_binding_that_failed_is_told_from_a_good_one() -> None:
    sim = three_nodes()
    sim.apply(FailCall("bind", "default/web-1", 409))
    settle(sim)
    assert [s["kind"] for s in lanes(sim)["web-1"]][:4] == ["queue", "cycle", "undone", "backoff"]


def test_the_event_that_woke_a_pod_is_told_on_its_segment() -> None:
    sim = until(three_nodes(pod("huge", cpu="64")), decided())
    sim.advance()
    sim.apply(ApplyObjects((node("vast", cpu="128"),)))
    assert segments(sim, "huge")["backoff"]["cause"].startswith("NodeAdd · NodeResourcesFit · ")


@pytest.mark.parametrize(("value", "rounded"), [(1, 1), (3, 5), (11, 20), (60, 100), (100, 100)])
def test_ticks_stand_at_round_values(value: int, rounded: int) -> None:
    assert round_up(value) == rounded
