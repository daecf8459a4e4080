"""The queues as the studio shows them."""

from __future__ import annotations

from typing import Any

from scheduler_core.world.commands import ApplyObjects, FailCall
from scheduler_core.world.simulation import Grain, Simulation
from tests.playground.preemption_world import objects
from tests.playground.presenters.worlds import (
    begun,
    decided,
    many_nodes,
    node,
    pod,
    ran,
    shown,
    three_nodes,
    until,
    world,
)


def group(sim: Simulation, name: str, **look: Any) -> dict[str, Any]:
    return shown("queues", sim, **look)["cards"][f"queue-{name}"]


def names(sim: Simulation, name: str) -> list[str]:
    return [p["name"] for p in group(sim, name)["pods"]]


def test_the_active_queue_stands_in_the_order_it_will_be_popped() -> None:
    sim = three_nodes(pod("low"), pod("high", priority=100), pod("later"))
    order = names(sim, "active")
    popped = []
    while len(popped) < 3:
        sim.step(Grain.POD)
        popped = [attempt.pod.removeprefix("default/") for attempt in sim.journal.attempts]
    assert order == popped == ["high", "low", "later"]


def test_a_long_queue_shows_its_first_pods_and_counts_the_rest() -> None:
    card = group(many_nodes(3, pods=20), "active")
    assert (len(card["pods"]), card["count"], card["more"]) == (12, 20, 8)


def test_in_a_crowd_the_pods_behind_the_first_ones_are_groups() -> None:
    card = group(many_nodes(3, pods=40), "active")
    behind = [(g["count"], g["title"]["values"], g["families"]) for g in card["groups"]]
    assert (len(card["pods"]), behind, card["more"]) == (3, [(37, {"priority": "0"}, ["web"])], 0)


def test_more_than_a_few_unschedulable_pods_are_groups_by_reason() -> None:
    sim = until(three_nodes(*(pod(f"huge-{i}", cpu="64") for i in range(6))), decided(6))
    card = group(sim, "unschedulable")
    assert (card["pods"], [(g["count"], g["first"]) for g in card["groups"]]) == ([], [(6, "default/huge-0")])
    assert card["groups"][0]["title"]["exact"].startswith("Insufficient cpu")


def test_nominated_pods_name_their_node_and_their_victims_what_is_left_of_their_grace_period() -> None:
    sim = world(node("a", cpu="1"), pod("old", cpu="1", terminationGracePeriodSeconds=20))
    until(sim, lambda w: w.journal.place("default/old") == "running")
    sim.apply(ApplyObjects((pod("urgent", cpu="1", priority=9),)))
    until(sim, lambda w: bool(w.store.pod_at("default/old").deleting))
    assert [(p["name"], p["nominated"]) for p in group(sim, "nominated")["pods"]] == [("urgent", "a")]
    victim = group(sim, "victims")["pods"][0]
    assert (victim["name"], victim["left"], victim["node"], victim["ring"]) == ("old", "20 s", "a", 100)


def test_queues_without_pods_are_hidden_and_those_of_kube_share_one_sentence() -> None:
    panel = shown("queues", three_nodes())
    assert [name for name, card in panel["cards"].items() if not card["hidden"]] == ["queue-active"]
    assert [each["title"] for each in panel["context"]["empty"]] == ["In flight", "Backoff", "Unschedulable", "Gated"]


def test_a_pod_that_is_being_bound_is_no_longer_in_flight() -> None:
    sim = until(three_nodes(), lambda w: bool(w.schedulers[0].bindings))
    assert (names(sim, "binding"), names(sim, "flight")) == (["web-1"], [])


def test_a_gated_pod_has_a_group_of_its_own_that_names_the_gate() -> None:
    sim = three_nodes(pod("gated", schedulingGates=[{"name": "example.com/quota"}]))
    assert [p["gates"] for p in group(sim, "gated")["pods"]] == [["example.com/quota"]]
    assert names(sim, "active") == []


def test_the_pod_of_the_running_cycle_is_in_flight() -> None:
    sim = until(three_nodes(), begun)
    assert names(sim, "flight") == ["web-1"]
    assert names(sim, "active") == []


def test_a_pod_is_at_post_filter_until_its_cycle_ends() -> None:
    sim = until(world(*objects()), ran("PostFilter", "DefaultPreemption"))
    assert [pod["phase"] for pod in group(sim, "flight")["pods"]] == ["PostFilter"]


def test_an_unschedulable_pod_names_the_plugins_that_refused_it() -> None:
    sim = until(three_nodes(pod("huge", cpu="64")), decided())
    assert [p["plugins"] for p in group(sim, "unschedulable")["pods"]] == [["NodeResourcesFit", "TaintToleration"]]


def test_the_inspected_pod_is_marked() -> None:
    sim = three_nodes(pod("web-1"), pod("web-2"))
    marked = [p["name"] for p in group(sim, "active", pod="default/web-2")["pods"] if p["chosen"]]
    assert marked == ["web-2"]


def test_a_pod_that_an_event_woke_tells_the_event_the_plugin_and_the_hint() -> None:
    sim = until(three_nodes(pod("huge", cpu="64")), lambda w: w.journal.place("default/huge") == "unschedulable")
    sim.apply(ApplyObjects((node("vast", cpu="128"),)))
    woken = group(sim, "backoff")["pods"][0]["woken"]
    assert (woken["event"], woken["plugin"]) == ("NodeAdd", "NodeResourcesFit")
    assert woken["hint"]


def test_the_ring_shows_what_is_left_of_the_backoff() -> None:
    sim = three_nodes()
    sim.apply(FailCall("bind", "default/web-1", 409))
    sim.run(until=lambda w: w.journal.place("default/web-1") == "backoff")
    shown_ring = group(sim, "backoff")["pods"][0]
    assert (shown_ring["left"], shown_ring["ring"]) == ("994 ms", 100)


def test_only_a_pod_that_failed_by_an_error_is_told_from_those_that_were_refused() -> None:
    sim = three_nodes(pod("web-1"), pod("huge", cpu="64"))
    sim.apply(FailCall("bind", "default/web-1", 409))
    sim.run(until=lambda w: w.journal.place("default/web-1") == "backoff")
    sim.apply(ApplyObjects((node("vast", cpu="128"),)))
    assert {p["name"]: p["error"] for p in group(sim, "backoff")["pods"]} == {"web-1": True, "huge": False}


def test_a_pod_that_no_scheduler_is_for_is_shown_with_words() -> None:
    sim = three_nodes(pod("alone", schedulerName="nobody"))
    assert [(p["name"], p["asks"]) for p in group(sim, "ignored")["pods"]] == [("alone", "nobody")]
