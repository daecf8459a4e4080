"""The inspector's tabs."""

from __future__ import annotations

from typing import Any

import pytest

from playground.presenters.plain import in_plain_words
from scheduler_core.commands import ApplyObjects, DeleteObjects, Ref
from scheduler_core.simulation import Grain, Simulation
from tests.playground.presenters.worlds import (
    decided,
    many_nodes,
    pod,
    ran,
    shown,
    three_nodes,
    until,
    world,
)


def body(sim: Simulation, tab: str, **look: Any) -> dict[str, Any]:
    return shown("inspector", sim, tab=tab, **look)["context"]["body"]


def stage(sim: Simulation, name: str, **look: Any) -> dict[str, Any]:
    return shown("stage", sim, stage=name, **look)["context"]["body"]


def matrix(sim: Simulation, **look: Any) -> dict[str, dict[str, str]]:
    """Node -> plugin -> letter."""
    found = stage(sim, "filter", **look)
    plugins = [plugin["name"] for plugin in found["plugins"]]
    return {row["node"]: dict(zip(plugins, row["cells"], strict=True)) for row in found["rows"]}


def test_a_node_meets_each_filter_plugin_until_the_first_refusal() -> None:
    found = matrix(until(three_nodes(), decided()))
    assert found["free"]["NodeResourcesFit"] == "p"
    assert (found["small"]["TaintToleration"], found["small"]["NodeResourcesFit"]) == ("p", "r")
    assert (found["infra"]["TaintToleration"], found["infra"]["NodeResourcesFit"]) == ("r", "n")


def test_a_skipped_plugin_has_no_column_and_is_named() -> None:
    sim = until(three_nodes(), decided())
    assert "NodePorts" not in matrix(sim)["free"]
    assert "NodePorts" in stage(sim, "filter")["skipped"]


def test_plugins_that_have_not_run_yet_are_still_to_come() -> None:
    found = matrix(until(three_nodes(), ran("Filter", "TaintToleration")))
    assert (found["free"]["TaintToleration"], found["free"]["NodeResourcesFit"]) == ("p", "t")


def test_kubes_message_stands_first_and_plain_words_follow() -> None:
    found = stage(until(three_nodes(pod("huge", cpu="64")), decided()), "filter")
    assert found["message"].startswith(
        "0/3 nodes are available: 1 node(s) had untolerated taint {dedicated: infra}"
    )
    assert found["groups"][0]["plain"][0]["values"] == {"resource": "cpu"}


def test_a_large_matrix_shows_a_window_with_the_chosen_node_in_it() -> None:
    sim = until(many_nodes(200), decided())
    rows = stage(sim, "filter", node="node-0000")["rows"]
    assert len(rows) <= 21
    assert rows[0]["node"] == "node-0000"


def test_a_pod_whose_cycle_is_over_is_told_by_its_last_attempt() -> None:
    sim = three_nodes(pod("huge", cpu="64", priority=10), pod("web-1"))
    until(sim, decided(2))
    found = stage(sim, "filter", pod="default/huge")
    attempt = sim.journal.attempts[0]
    assert (found["kind"], found["number"], found["goto"]) == ("past", 1, attempt.last_position)
    assert found["message"] == attempt.message


def test_a_gated_pod_says_which_gate_holds_it() -> None:
    sim = three_nodes(pod("gated", schedulingGates=[{"name": "example.com/quota"}]))
    assert stage(sim, "filter", pod="default/gated")["gates"] == ["example.com/quota"]


def test_the_pod_tab_lists_the_attempts_with_the_way_back_to_them() -> None:
    sim = until(three_nodes(pod("huge", cpu="64")), decided())
    attempts = body(sim, "summary")["attempts"]
    assert [(a["number"], a["outcome"], a["goto"]) for a in attempts] == [
        (1, "unschedulable", sim.journal.attempts[0].last_position)
    ]


def test_the_node_tab_shows_what_is_requested_and_free() -> None:
    sim = until(three_nodes(), decided())
    resources = {r["name"]: r for r in body(sim, "summary", about="node", node="free")["resources"]}
    assert (resources["cpu"]["used"], resources["cpu"]["free"], resources["cpu"]["has"]) == ("2", "6", "8")
    assert (resources["pods"]["used"], resources["pods"]["has"]) == ("1", "110")


def test_a_node_that_is_gone_is_said_to_be_gone() -> None:
    sim = three_nodes()
    sim.apply(DeleteObjects((Ref("Node", "", "free"),)))
    assert body(sim, "summary", about="node", node="free")["kind"] == "gone"


def test_the_yaml_tab_prints_the_object() -> None:
    assert "name: web-1\n" in body(three_nodes(), "yaml", pod="default/web-1")["text"]
    assert body(three_nodes(), "yaml", about="node", node="free")["object"] == "Node"


def test_the_journey_tab_lists_the_pods_events() -> None:
    sim = until(three_nodes(pod("huge", cpu="64")), decided())
    sim.step(Grain.PLUGIN)
    rows = body(sim, "journey", pod="default/huge")["events"]
    assert [(row["type"], row["reason"]) for row in rows] == [("Warning", "FailedScheduling")]


@pytest.mark.parametrize("tab", ["summary", "yaml", "journey", "fix"])
def test_every_tab_has_something_to_say_of_an_empty_world(tab: str) -> None:
    assert body(world(), tab)["kind"]


def test_a_reason_that_is_plain_already_needs_no_words() -> None:
    assert in_plain_words("something of a plugin of your own") is None


def test_a_pod_says_which_of_its_fields_have_no_effect() -> None:
    manifest = {**pod("p"), "spec": {**pod("p")["spec"], "hostPID": True}}
    sim = world(manifest)
    for tab in ("summary", "yaml"):
        (told,) = body(sim, tab, pod="default/p")["silent"]
        assert told["path"] == "spec.hostPID"


def test_a_node_is_judged_for_the_pod_of_the_present_cycle_whichever_is_looked_at() -> None:
    sim = until(three_nodes(), decided())
    sim.apply(ApplyObjects((pod("other"),)))
    assert body(sim, "summary", about="node", node="free", pod="default/other")["pod"] == "web-1"
