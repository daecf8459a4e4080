"""A pod's journey, as data and as text."""

from __future__ import annotations

from typing import Any

import pytest

from playground.features.journey.presenter import text
from playground.presenters.journey import journey
from scheduler_core.base.trace.journal import Place
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, FailCall, Ref
from scheduler_core.world.simulation import Simulation
from tests.playground.preemption_world import objects
from tests.playground.presenters.worlds import decided, node, pod, three_nodes, until, world
from tests.scheduler_core.worlds import settle

HUGE = "default/huge"


def refused() -> Simulation:
    """A pod too big for every node, waiting for an event."""
    sim = three_nodes(pod("huge", cpu="64"))
    return until(sim, lambda w: w.journal.place(HUGE) == Place.UNSCHEDULABLE)


def why(sim: Simulation, key: str) -> str:
    sentence = journey(sim, key)["why"]["sentence"]
    return str(sentence["text"] % sentence.get("values", {}))


def moves(sim: Simulation, key: str = HUGE) -> list[dict[str, Any]]:
    return [entry for entry in journey(sim, key)["entries"] if entry["kind"] == "move"]


def test_a_pod_that_was_never_seen_is_not_known() -> None:
    assert journey(three_nodes(), "default/nobody") is None


def test_an_unschedulable_pod_says_who_refused_it_and_what_may_wake_it() -> None:
    sim = refused()
    assert why(sim, HUGE).startswith("Refused by NodeResourcesFit, TaintToleration.")
    wakes = journey(sim, HUGE)["why"]["wakes"]
    assert wakes[0]["plugin"] == "NodeResourcesFit"
    assert any(event.startswith("Node: Add") for event in wakes[0]["events"])


def test_a_hint_driven_move_names_event_plugin_and_hint() -> None:
    sim = refused()
    sim.apply(ApplyObjects((node("vast", cpu="128"),)))
    woken = moves(sim)[-1]
    assert (woken["before"], woken["place"], woken["event"]) == ("unschedulable", "backoff", "NodeAdd")
    assert (woken["plugin"], bool(woken["hint"]), woken["until"]) == ("NodeResourcesFit", True, "00:00:01.000")


def test_an_attempt_tells_its_number_its_cost_and_kubes_message() -> None:
    attempt = next(e for e in journey(refused(), HUGE)["entries"] if e["kind"] == "attempt")
    assert (attempt["tries"], attempt["took"], attempt["outcome"]) == (1, "1 ms", "unschedulable")
    assert attempt["message"].startswith("0/3 nodes are available:")


def test_the_nominated_node_alone_counts_as_looked_at() -> None:
    sim = until(world(*objects()), decided(3))
    key = sim.journal.attempts[-1].pod
    last = [e for e in journey(sim, key)["entries"] if e["kind"] == "attempt"][-1]
    assert (last["outcome"], last["evaluated"], last["feasible"]) == ("scheduled", 1, 1)


def test_the_attempt_that_runs_has_no_outcome_yet() -> None:
    sim = until(three_nodes(), lambda w: w.journal.place("default/web-1") == Place.IN_FLIGHT)
    entry = journey(sim, "default/web-1")["entries"][-1]
    assert (entry["kind"], entry["outcome"]) == ("attempt", "running")


def test_the_time_in_each_place_adds_up() -> None:
    sim = three_nodes()
    settle(sim)
    places = journey(sim, "default/web-1")["places"]
    assert [place["place"] for place in places] == ["active", "in flight", "binding", "bound", "running"]
    assert sum(place["share"] for place in places) == pytest.approx(100, abs=0.1)


def test_a_pod_of_an_unknown_scheduler_says_which_ones_there_are() -> None:
    sim = world(node("n"), pod("alone", schedulerName="nobody"))
    assert "nobody" in why(sim, "default/alone")
    assert "default-scheduler" in why(sim, "default/alone")


def test_a_deleted_pod_keeps_its_journey() -> None:
    sim = refused()
    sim.apply(DeleteObjects((Ref("Pod", "default", "huge"),)))
    story = journey(sim, HUGE)
    assert (story["place"], why(sim, HUGE)) == ("deleted", "The pod no longer exists.")


def test_equal_events_are_one_row_with_their_number_as_kubectl_has_it() -> None:
    sim = world(node("n"), pod("web"))
    sim.apply(FailCall("bind", "default/web", 409, times=2))
    settle(sim)
    rows = journey(sim, "default/web")["events"]
    assert [row["reason"] for row in rows[:2]] == ["FailedScheduling", "Scheduled"]
    assert "(x2 over" in rows[0]["age"]


def test_the_text_has_the_columns_of_kubectl() -> None:
    sim = refused()
    lines = text(journey(sim, HUGE), why(sim, HUGE)).splitlines()
    assert lines[0].split("   ")[0] == "NAME"
    assert lines[1].split()[:4] == ["huge", "0/1", "Pending", "0"]
    events = lines.index("Events:")
    assert lines[events + 1].split() == ["Type", "Reason", "Age", "From", "Message"]
    assert lines[events + 3].split()[:2] == ["Warning", "FailedScheduling"]


def test_the_text_of_a_gated_pod_says_what_kubectl_says() -> None:
    sim = three_nodes(pod("gated", schedulingGates=[{"name": "example.com/quota"}]))
    lines = text(journey(sim, "default/gated"), why(sim, "default/gated")).splitlines()
    assert lines[1].split()[2] == "SchedulingGated"
    assert any("example.com/quota" in line for line in lines)
