"""One attempt seen from inside."""

from __future__ import annotations

from typing import Any

from scheduler_core.analysis.inspection.attempt_observer import AttemptObserver
from scheduler_core.world.commands import ApplyObjects, FailCall, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod, world

WEB = "default/web"


def begun(*objects: dict[str, Any]) -> tuple[Simulation, AttemptObserver]:
    """A world in which the attempt of `web` has just begun, and who watches it."""
    sim = world(*objects)
    sim.run(until=lambda w: w.journal.place(WEB) == "in flight")
    return sim, AttemptObserver(sim, WEB)


def watched(sim: Simulation, observer: AttemptObserver) -> dict[str, Any]:
    """What the observer has seen when the attempt and its binding are over."""
    while not observer.over:
        observer.see(sim, sim.advance())
    return observer.to_json()


def test_each_plugin_is_told_with_the_nodes_that_it_refused() -> None:
    told = watched(*begun(node("small", cpu="1"), node("large", cpu="8"), pod("web", cpu="4")))
    assert [(r["plugin"], r["refused"], r["evaluated"]) for r in told["refusals"]] == [("NodeResourcesFit", 1, 2)]
    assert told["whole"]


def test_an_event_in_flight_that_helps_is_told_with_plugin_and_hint() -> None:
    sim, observer = begun(node("small", cpu="1"), pod("web", cpu="4"))
    observer.see(sim, sim.apply(ApplyObjects((node("large", cpu="8"),))))
    event = watched(sim, observer)["events"][0]
    assert (event["event"], event["object"], event["plugin"]) == ("NodeAdd", "large", "NodeResourcesFit")
    assert event["decision"] == "queue after backoff"
    assert event["hint"]


def test_an_event_in_flight_that_does_not_help_is_told_to_stay() -> None:
    sim, observer = begun(node("small", cpu="1"), pod("web", cpu="4"))
    observer.see(sim, sim.apply(ApplyObjects((node("tiny", cpu="1"),))))
    assert [event["decision"] for event in watched(sim, observer)["events"]] == ["stays"]


def test_nobody_judges_the_events_of_an_attempt_that_succeeds() -> None:
    sim, observer = begun(node("large", cpu="8"), pod("web"))
    observer.see(sim, sim.apply(ApplyObjects((node("other"),))))
    assert "decision" not in watched(sim, observer)["events"][0]


def test_a_failed_binding_is_told_with_its_way_back_in_reverse_order() -> None:
    sim, observer = begun(node("large", cpu="8"), pod("web"))
    observer.see(sim, sim.apply(FailCall("bind", WEB, 409)))
    told = watched(sim, observer)
    reserved = [s["plugin"] for s in told["steps"] if s["point"] == "Reserve"]
    assert [s["plugin"] for s in told["steps"] if s["point"] == "Unreserve"] == reserved[::-1]
    bind = next(s for s in told["steps"] if s["point"] == "Bind")
    assert (bind["code"], bind["took"]) == ("Error", 5_000_000)
    assert "modified" in told["end"]["message"]


def test_a_wait_on_permit_is_told_with_how_long_it_took() -> None:
    sim = Simulation(seed=1)
    sim.apply(SetSettings({"demonstration": True}))
    sim.apply(ApplyObjects((node("n"), pod("web", annotations={"playground.dev/permit": "wait:3s"}))))
    sim.run(until=lambda w: w.journal.place(WEB) == "in flight")
    told = watched(sim, AttemptObserver(sim, WEB))
    waited = next(s for s in told["steps"] if s["point"] == "WaitOnPermit")
    assert (waited["took"], waited["code"]) == (3_000_000_000, "Unschedulable")
