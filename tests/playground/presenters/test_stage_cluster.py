"""The stage of the whole cluster: before a run, after a change, in the middle of a cycle, and at a run's end."""

from __future__ import annotations

from typing import Any

from playground.presenters.stage.aim import at_hand
from playground.presenters.words import in_english
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, Ref
from scheduler_core.world.simulation import Simulation
from tests.playground.presenters.worlds import empty_world, node, pod, ran, shown, three_nodes, until, world


def stage(sim: Simulation, **look: Any) -> dict[str, Any]:
    context: dict[str, Any] = shown("stage", sim, **look)["context"]
    assert context["stage"] == "cluster"
    return context


def list_told(sim: Simulation) -> list[dict[str, Any]]:
    return [line["values"] for line in stage(sim)["body"]["changes"]]


def test_a_world_without_objects_says_how_to_begin() -> None:
    assert stage(empty_world())["body"] == {"start": True}


def test_an_import_is_headed_by_the_number_of_pending_pods() -> None:
    sim = world(node("a"), pod("runs", nodeName="a"), pod("waits"), pod("too", cpu="99"))
    found = stage(sim)
    assert (found["question"]["values"], found["map"]) == ({"n": "2"}, True)
    assert found["facts"][1]["values"] == {"k": "1", "n": "3"}
    assert found["body"]["waits"]


def test_a_pod_that_no_scheduler_is_for_is_pending_too() -> None:
    assert in_english(stage(world(node("a"), pod("x", schedulerName="other")))["question"]) == "1 pod is Pending"


def test_what_a_form_created_is_told_by_kind_and_the_log_is_counted() -> None:
    sim = world(node("a"))
    sim.apply(ApplyObjects((node("b"), node("c"), pod("web"))))
    assert list_told(sim) == [{"kind": "Node", "names": "b, c"}, {"kind": "Pod", "names": "web"}]
    assert stage(sim)["body"]["log"] == len(sim.last)
    sim.apply(DeleteObjects((Ref("Pod", "default", "web"),)))
    assert stage(sim)["body"]["changes"][0]["text"] == "%(kind)s deleted: %(names)s"


def test_many_objects_are_counted_and_not_named() -> None:
    assert list_told(world(*(node(f"n{i}") for i in range(9))))[0] == {"kind": "Node", "n": "9"}


def test_a_change_in_the_middle_of_a_cycle_leaves_its_stage_where_it_is() -> None:
    sim = until(three_nodes(), ran("Filter", "TaintToleration"))
    sim.apply(ApplyObjects((node("late"),)))
    assert at_hand(sim) == "filter"


def test_a_run_ends_with_its_sum_and_not_with_its_last_event() -> None:
    sim = three_nodes(pod("web-1", cpu="2"), pod("web-2", cpu="2"), pod("huge", cpu="64"))
    sim.run()
    found = stage(sim)
    summary = found["body"]["summary"]
    assert found["question"]["values"] == {"k": "2", "n": "3"}
    assert [figure["value"] for figure in summary["figures"][:3]] == ["2", "1", "0"]
    assert summary["nodes"] == [{"name": "free", "count": 2, "percent": 100}]
    refused = {bar["name"]: bar["count"] for bar in summary["refusals"]}
    assert refused["Insufficient cpu"] == 2
    assert summary["checks"] == sum(refused.values())


def test_nodes_of_a_run_that_have_no_bar_are_counted() -> None:
    sim = world(*(node(f"n{i}", cpu="1") for i in range(8)), *(pod(f"p{i}", cpu="1") for i in range(8)))
    sim.run()
    summary = stage(sim)["body"]["summary"]
    assert (len(summary["nodes"]), summary["more"], summary["bound"]) == (6, 2, 8)


def test_victims_are_counted_once() -> None:
    sim = world(node("a", cpu="1"), pod("low", cpu="1"))
    sim.run()
    sim.apply(ApplyObjects((pod("high", cpu="1", priority=9),)))
    sim.run()
    assert stage(sim)["body"]["summary"]["figures"][2]["value"] == "1"


def test_a_small_cluster_says_what_its_waiting_pods_ask_of_its_nodes() -> None:
    sim = three_nodes(pod("web-1", cpu="2"), pod("web-2", cpu="1", priority=7), pod("web-3", cpu="2"))
    body = stage(sim)["body"]
    rows = [(row["keys"], row["priority"], in_english(row["asks"][0])) for row in body["pods"]]
    assert rows == [(["default/web-1", "default/web-3"], 0, "2 cpu"), (["default/web-2"], 7, "1 cpu")]
    assert body["demand"][0]["text"].startswith("5 / ")
