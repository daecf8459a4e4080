"""The inspector's tabs."""

from __future__ import annotations

from typing import Any

import pytest

from playground.presenters.look import Look
from playground.presenters.problems import in_plain_words
from playground.presenters.words import ordinal
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, Ref
from scheduler_core.world.simulation import Grain, Simulation
from tests.playground.presenters.worlds import decided, node, pod, shown, three_nodes, until, world


def body(sim: Simulation, tab: str, **look: Any) -> dict[str, Any]:
    return shown("inspector", sim, tab=tab, **look)["context"]["body"]


def stage(sim: Simulation, name: str, **look: Any) -> dict[str, Any]:
    return shown("stage", sim, stage=name, **look)["context"]["body"]


def test_the_pod_tab_lists_the_attempts_with_the_way_back_to_them() -> None:
    sim = until(three_nodes(pod("huge", cpu="64")), decided())
    attempts = body(sim, "summary")["attempts"]
    assert [(a["number"], a["outcome"], a["goto"]) for a in attempts] == [
        (ordinal(1), "unschedulable", sim.journal.attempts[0].last_position)
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
    sim.step(Grain.CALL)
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


def test_what_is_assumed_of_a_node_is_told_apart_from_what_is_bound() -> None:
    sim = until(world(node("n", cpu="4"), pod("web-1", cpu="1500m")), decided())
    found = body(sim, "summary", node="n", about="node")
    [cpu] = [row for row in found["resources"] if row["name"] == "cpu"]
    assert (cpu["used"], cpu["held"], cpu["bar"], cpu["hold"]) == ("1.5", "1.5", 0, 38)


def test_the_heading_names_what_was_chosen_last_and_what_its_menu_is_asked_about() -> None:
    sim = world(node("n"), pod("web-1"))
    context = shown("inspector", sim, node="n", about="node")["context"]
    assert (context["subject"]["kind"], context["subject"]["menu"], context["subject"]["key"]) == ("Node", "node", "n")
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "keep", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {}}},
    }
    sim.apply(ApplyObjects((budget,)))
    chosen = {"controller": "PodDisruptionBudget/default/keep", "about": "controller"}
    assert body(sim, "summary", **chosen)["object"] == "PodDisruptionBudget"
    assert "minAvailable: 1" in body(sim, "yaml", **chosen)["text"]


def test_the_journey_of_a_node_tells_the_pods_that_were_placed_on_it() -> None:
    sim = until(world(node("n"), pod("web-1")), decided())
    found = body(sim, "journey", node="n", about="node")
    assert [each["name"] for each in found["placed"]] == ["web-1"]
    assert found["internals"]["kind"] == "internals"


def test_a_link_to_the_internals_of_before_leads_to_the_journey() -> None:
    assert Look.from_query({"tab": "internals"}).tab == "journey"


@pytest.mark.parametrize("kind", ["Namespace", "PersistentVolume"])
def test_the_summary_of_an_object_says_why_it_does_not_end(kind: str) -> None:
    gone = {"deletionTimestamp": "2025-12-31T23:00:00Z", "finalizers": ["acme.io/cleanup"]}
    volume = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "csi": {"driver": "d", "volumeHandle": "v"},
    }
    spec = {"spec": volume} if kind == "PersistentVolume" else {}
    sim = three_nodes()
    sim.apply(ApplyObjects(({"apiVersion": "v1", "kind": kind, "metadata": {"name": "team", **gone}, **spec},)))
    shown = body(sim, "summary", about="controller", controller=f"{kind}/team")
    assert shown["why"]["key"] == f"{kind}/team"
    assert shown["why"]["fixable"]
    assert body(sim, "summary", about="controller", controller="Namespace/default")["why"] is None
