"""States of zones, and how fast their nodes are tainted."""

from __future__ import annotations

import pytest

from scheduler_core.controllers.memory.nodes import Zone
from scheduler_core.controllers.nodes import zones
from scheduler_core.controllers.nodes.zones import FULL, INITIAL, NORMAL, PARTIAL, Census
from scheduler_core.scheduler.config.cluster import ControllerManagerOptions

SECOND = 10**9
FLAGS = ControllerManagerOptions()


# kube: node_lifecycle_controller_test.go TestMonitorNodeHealthEvictPodsWithDisruption, ComputeZoneState
@pytest.mark.parametrize(
    ("ready", "lost", "state"),
    [(3, 0, NORMAL), (1, 2, NORMAL), (2, 3, PARTIAL), (3, 3, NORMAL), (0, 1, FULL), (0, 0, NORMAL), (4, 5, PARTIAL)],
)
def test_the_state_of_a_zone(ready: int, lost: int, state: str) -> None:
    assert zones.state_of(Census(ready, lost), FLAGS.unhealthy_zone_threshold) == state


@pytest.mark.parametrize(
    ("state", "size", "rate"), [(NORMAL, 5, 0.1), (FULL, 5, 0.1), (PARTIAL, 50, 0.0), (PARTIAL, 51, 0.01)]
)
def test_its_rate(state: str, size: int, rate: float) -> None:
    assert zones.rate_of(state, size, FLAGS) == rate


def served(zone: Zone, now: int) -> list[str]:
    tainted: list[str] = []
    zones.serve(zone, now, lambda node: tainted.append(node) is None)
    return tainted


def waiting(*nodes: str) -> Zone:
    zone = zones.new_zone(FLAGS)
    for node in nodes:
        zones.take_on(zone, node, 0)
    return zone


def test_one_node_has_its_turn_every_ten_seconds() -> None:
    zone = waiting("a", "b", "c")
    assert served(zone, 0) == ["a"]
    assert zones.next_turn(zone, 0) == 10 * SECOND
    assert served(zone, 9 * SECOND) == []
    assert served(zone, 10 * SECOND) == ["b"]
    assert served(zone, 100 * SECOND) == ["c"]
    assert zones.next_turn(zone, 100 * SECOND) is None


def test_a_node_that_had_its_turn_is_taken_on_again_only_after_it_was_let_go() -> None:
    zone = waiting("a")
    served(zone, 0)
    zones.take_on(zone, "a", SECOND)
    assert not zone.waiting
    assert zones.let_go(zone, "a")
    zones.take_on(zone, "a", SECOND)
    assert zone.waiting


def test_a_node_that_cannot_be_tainted_is_tried_again() -> None:
    zone = waiting("a")
    zones.serve(zone, 0, lambda node: False)
    assert list(zone.waiting) == ["a"]
    assert served(zone, 10 * SECOND) == ["a"]


def test_another_rate_keeps_a_token_that_is_there_and_makes_one_wait_that_is_not() -> None:
    rested, busy = waiting(), waiting("a")
    served(busy, 0)
    zones.set_rate(rested, 0.5, SECOND)
    zones.set_rate(busy, 0.5, SECOND)
    assert rested.free_at == SECOND
    assert busy.free_at == 3 * SECOND


def test_who_may_taint_nobody_is_at_rest() -> None:
    zone = waiting("a")
    zones.set_rate(zone, 0.0, 0)
    assert served(zone, 1000 * SECOND) == []
    assert zones.next_turn(zone, 0) is None
    zones.set_rate(zone, 0.1, 1000 * SECOND)
    assert zones.next_turn(zone, 1000 * SECOND) == 1010 * SECOND


def test_all_zones_lost_stops_all_and_one_that_comes_back_lets_them_go_on() -> None:
    both = {"a": zones.new_zone(FLAGS), "b": zones.new_zone(FLAGS)}
    assert zones.follow(both, {"a": Census(1, 0), "b": Census(2, 0)}, FLAGS, 0) == ""
    assert {zone.state for zone in both.values()} == {NORMAL}
    assert zones.follow(both, {"a": Census(0, 1), "b": Census(2, 0)}, FLAGS, 0) == ""
    assert (both["a"].state, both["a"].rate) == (FULL, 0.1)
    assert zones.follow(both, {"a": Census(0, 1), "b": Census(0, 2)}, FLAGS, 0) == "entered"
    assert {zone.rate for zone in both.values()} == {zones.NEVER}
    assert zones.follow(both, {"a": Census(0, 1), "b": Census(0, 2)}, FLAGS, 0) == ""
    assert zones.follow(both, {"a": Census(1, 0), "b": Census(0, 2)}, FLAGS, 0) == "left"
    assert {zone.rate for zone in both.values()} == {0.1}


def test_a_zone_whose_nodes_do_not_count_has_no_state() -> None:
    one = {"a": zones.new_zone(FLAGS)}
    assert one["a"].state == INITIAL
    assert zones.follow(one, {}, FLAGS, 0) == ""
    assert one["a"].state == ""


def test_a_rate_of_none_lets_one_pass() -> None:
    flags = ControllerManagerOptions(node_eviction_rate=0.0)
    zone = zones.new_zone(flags)
    zones.take_on(zone, "a", 0)
    zones.take_on(zone, "b", 0)
    zones.set_rate(zone, 0.0, 0)
    assert served(zone, 0) == ["a"]
    assert zones.next_turn(zone, 0) is None
