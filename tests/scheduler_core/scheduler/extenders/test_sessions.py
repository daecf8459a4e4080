"""Sessions whose configuration has extenders really ask them: stepped, copied, undone, answered from outside."""

from typing import Any

import pytest

from scheduler_core.apiserver.status import Refused
from scheduler_core.scheduler.extenders.behaviour import RecordedServer, Remote
from scheduler_core.world.commands import (
    AnswerExtender,
    ApplyObjects,
    OutsideAnswer,
    SetConfiguration,
    SetExtender,
    Undo,
)
from scheduler_core.world.simulation import Grain, Simulation
from tests.scheduler_core.worlds import node, pod, settle

URL = "http://extender.example/scheduler"
SECOND = 1_000_000_000


def extended(*rules: dict[str, Any], extender: dict[str, Any] | None = None) -> Simulation:
    """A world of two nodes whose scheduler has an extender with these rules."""
    sim = Simulation()
    one = {"urlPrefix": URL, "filterVerb": "filter", "nodeCacheCapable": True, **(extender or {})}
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    sim.apply(SetConfiguration({**kind, "extenders": [one]}))
    if rules:
        sim.apply(SetExtender(URL, RecordedServer(rules)))
    sim.apply(ApplyObjects((node("a"), node("b"))))
    return sim


def node_of(sim: Simulation, name: str = "web") -> str:
    live = sim.store.pod_at(f"default/{name}")
    assert live is not None
    return live.node_name


def test_a_node_that_an_extender_refuses_gets_no_pod() -> None:
    sim = extended({"verb": "filter", "refuse": {"a": "no licence"}})
    sim.apply(ApplyObjects((pod("web"),)))
    settle(sim)
    assert node_of(sim) == "b"


def test_a_pod_that_an_extender_refuses_everywhere_waits_for_any_event() -> None:
    sim = extended({"verb": "filter", "refuseAll": "no licence"})
    sim.apply(ApplyObjects((pod("web"),)))
    settle(sim)
    last = sim.journal.attempts[-1]
    assert last.message.startswith("0/2 nodes are available: 2 no licence.")
    assert last.plugins == ("Extender",)
    sim.apply(SetExtender(URL, RecordedServer()))
    sim.apply(ApplyObjects((pod("other"),)))  # any event does
    settle(sim)
    assert node_of(sim)


def test_without_a_word_about_it_nobody_listens_there() -> None:
    sim = extended()
    sim.apply(ApplyObjects((pod("web"),)))
    sim.run(until=lambda w: bool(w.journal.attempts))
    (attempt,) = sim.journal.attempts
    assert attempt.outcome == "error"
    assert attempt.message == f'Post "{URL}/filter": dial tcp extender.example:80: connect: connection refused'


def test_an_extender_scores_and_binds() -> None:
    sim = extended(
        {"verb": "prioritize", "scores": {"b": 10}},
        extender={"prioritizeVerb": "score", "weight": 3, "bindVerb": "bind"},
    )
    sim.apply(ApplyObjects((pod("web"),)))
    records = settle(sim)
    assert node_of(sim) == "b"
    asked = [record.facts.verb for record in records if record.kind == "extender_asked"]
    assert asked == ["filter", "prioritize", "bind"]


def test_a_binding_that_an_extender_refuses_is_not_made() -> None:
    sim = extended({"verb": "bind", "error": "no lease"}, extender={"bindVerb": "bind"})
    sim.apply(ApplyObjects((pod("web"),)))
    sim.run(until=lambda w: any(record.kind == "binding_ended" for record in w.last))
    (ended,) = [record for record in sim.last if record.kind == "binding_ended"]
    assert (ended.data["outcome"], ended.data["message"]) == ("error", "no lease")
    assert node_of(sim) == ""


def test_victims_are_those_that_the_extender_leaves() -> None:
    sim = extended({"verb": "preempt", "dropNodes": ["a"]}, extender={"preemptVerb": "preempt"})
    sim.apply(ApplyObjects((pod("one", cpu="4"), pod("two", cpu="4"))))
    settle(sim)
    sim.apply(ApplyObjects((pod("big", cpu="4", priority=9),)))
    settle(sim)
    assert node_of(sim, "big") == "b"


def test_the_answer_takes_its_virtual_time() -> None:
    sim = extended({"verb": "filter", "delayMs": 700})
    sim.apply(ApplyObjects((pod("web"),)))
    sim.run(until=lambda w: any(record.kind == "extender_asked" for record in w.last))
    asked = sim.now
    sim.run(until=lambda w: any(record.data.get("point") == "ExtenderFilter" for record in w.last))
    assert sim.now - asked == 700_000_000


def test_an_answer_that_is_too_late_is_a_timeout() -> None:
    sim = extended({"verb": "filter", "delayMs": 6000})
    sim.apply(ApplyObjects((pod("web"),)))
    sim.run(until=lambda w: bool(w.journal.attempts))
    assert "Client.Timeout exceeded while awaiting headers" in sim.journal.attempts[-1].message


def test_a_call_that_goes_outside_stops_the_world_until_its_answer_is_a_command() -> None:
    sim = extended()
    sim.apply(SetExtender(URL, Remote()))
    sim.apply(ApplyObjects((pod("web"),)))
    assert sim.run().reason == "idle"
    ((scheduler, attempt, exchange),) = sim.awaited()
    assert exchange.url == f"{URL}/filter"
    asked = sim.now
    body = '{"NodeNames": ["b"], "FailedNodes": {"a": "not today"}}'
    answer = OutsideAnswer(200, body, latency=30_000_000)
    sim.apply(AnswerExtender(scheduler, attempt, exchange.number, answer))
    assert sim.awaited() == []
    sim.run(until=lambda w: any(record.data.get("point") == "ExtenderFilter" for record in w.last))
    assert sim.now == asked + 30_000_000
    settle(sim)
    assert node_of(sim) == "b"
    with pytest.raises(Refused):
        sim.apply(AnswerExtender(scheduler, attempt, exchange.number, answer))


def test_a_copy_goes_its_own_way_in_the_middle_of_a_call() -> None:
    sim = extended({"verb": "filter", "refuse": {"a": "no"}})
    sim.apply(ApplyObjects((pod("web"),)))
    sim.run(until=lambda w: any(record.kind == "extender_asked" for record in w.last))
    twin = sim.fork()
    settle(twin)
    assert node_of(twin) == "b" and node_of(sim) == ""
    settle(sim)
    assert node_of(sim) == "b"


def test_what_was_said_of_an_extender_is_undone() -> None:
    sim = extended({"verb": "filter", "refuse": {"a": "no"}})
    before = sim.behaviours
    sim.apply(SetExtender(URL, None))
    assert sim.behaviours == ()
    sim.apply(Undo())
    assert sim.behaviours == before


def test_a_step_by_point_stops_at_the_extender() -> None:
    sim = extended({"verb": "filter", "refuse": {"a": "no"}})
    sim.apply(ApplyObjects((pod("web"),)))
    stations = []
    for _ in range(40):
        scheduler = sim.scheduler("kube-scheduler")
        if scheduler.cycle is not None:
            stations.append(scheduler.cycle.phase.value)
        if not sim.step(Grain.POINT):
            break
    assert "ExtenderFilter" in stations
