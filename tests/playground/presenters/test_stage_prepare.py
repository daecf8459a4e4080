"""The stages of PreFilter and PreScore, and of a pod that stays Pending."""

from __future__ import annotations

from typing import Any

import pytest
from django.template.loader import get_template

from playground.presenters import Look, present
from playground.presenters.words import in_english
from scheduler_core.world.simulation import Grain, Simulation
from tests.playground.preemption_world import priority_class
from tests.playground.presenters.worlds import ZONE, decided, node, pod, ran, three_nodes, until, world

SPREAD = {
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ]
}


def add_label(manifest: dict[str, Any]) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "labels": {"app": "web"}}}


def body(sim: Simulation, stage: str = "") -> dict[str, Any]:
    found: dict[str, Any] = present("stage", sim, Look(stage=stage)).context["body"]
    return found


def words(block: Any) -> list[str]:
    """All texts of a block, in order."""
    if isinstance(block, dict):
        own = [block["text"]] if isinstance(block.get("text"), str) else []
        return own + [text for part in block.values() for text in words(part)]
    return [text for part in block for text in words(part)] if isinstance(block, list) else []


def find_prepared(sim: Simulation, plugin: str) -> list[str]:
    return words(next(each for each in body(sim)["prepared"] if each["plugin"] == plugin)["blocks"])


def test_pre_filter_shows_what_was_prepared_why_others_skip_and_what_filter_runs() -> None:
    found = body(until(three_nodes(), ran("PreFilter", "DynamicResources")))
    assert [each["plugin"] for each in found["prepared"]] == ["NodeResourcesFit"]
    assert len(found["skips"]) == 9
    assert {"plugin": "NodePorts", "why": "no host ports"} in found["skips"]
    assert [(each["plugin"], each["prepared"]) for each in found["next"]][-1] == ("NodeResourcesFit", True)
    assert (len(found["next"]), found["nodes"], found["ahead"]) == (4, 3, [])


def test_no_stage_says_that_nothing_is_to_be_prepared_before_every_plugin_has_run() -> None:
    nothing, stage = "No plugin has anything to prepare.", get_template("stage/prepare.html", using="panels")
    found = body(until(three_nodes(), ran("PreFilter", "NodePorts")))
    assert not found["prepared"]
    assert nothing not in stage.render({"body": found})
    assert nothing in stage.render({"body": found | {"ahead": []}})


def test_between_its_plugins_the_rest_is_ahead() -> None:
    found = body(until(three_nodes(), ran("PreFilter", "NodeResourcesFit")))
    assert (found["ahead"][0], found["next"]) == ("VolumeRestrictions", [])
    assert any("requests:" in field for field in found["spec"])


def test_the_request_is_told_container_by_container() -> None:
    containers = [
        {"name": "app", "image": "a", "resources": {"requests": {"cpu": "500m"}}},
        {"name": "proxy", "image": "b", "resources": {"requests": {"cpu": "100m"}}},
    ]
    init = [{"name": "migrate", "image": "c", "resources": {"requests": {"cpu": "250m"}}}]
    sim = world(node("a"), pod("web-1", containers=containers, initContainers=init))
    texts = find_prepared(until(sim, ran("PreFilter", "DynamicResources")), "NodeResourcesFit")
    assert [text for text in texts if text in ("500m", "100m", "250m", "600m")] == ["500m", "100m", "250m", "600m"]
    assert any("larger sum counts" in text for text in texts)


def test_domains_are_told_with_the_room_that_filter_will_leave() -> None:
    sim = world(
        node("a", labels={ZONE: "east"}),
        node("b", labels={ZONE: "west"}),
        add_label(pod("old", nodeName="a")),
        add_label(pod("web-1", **SPREAD)),
    )
    texts = find_prepared(until(sim, ran("PreFilter", "DynamicResources")), "PodTopologySpread")
    assert texts[texts.index("east") : texts.index("east") + 3] == ["east", "1", "full"]
    assert texts[texts.index("west") : texts.index("west") + 3] == ["west", "0", "1"]


@pytest.mark.parametrize(
    ("extra", "plugin", "text"),
    [
        ({"nodeSelector": {ZONE: "a"}}, "NodeAffinity", f"{ZONE}=a"),
        ({"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]}]}, "NodePorts", "80"),
    ],
)  # fmt: skip
def test_each_plugin_says_what_it_prepared(extra: dict[str, Any], plugin: str, text: str) -> None:
    texts = find_prepared(until(three_nodes(pod("web-1", **extra)), ran("PreFilter", "DynamicResources")), plugin)
    assert any(text in each for each in texts)


def test_pre_score_shows_what_is_weighed_and_the_plugins_weights() -> None:
    found = body(until(three_nodes(pod("web-1", cpu="500m")), ran("PreScore", "NodeResourcesBalancedAllocation")))
    assert [each["plugin"] for each in found["prepared"]] == [
        "TaintToleration",
        "NodeResourcesFit",
        "NodeResourcesBalancedAllocation",
    ]
    assert {each["plugin"]: each["weight"] for each in found["next"]}["TaintToleration"] == 3
    assert found["nodes"] == 2


def test_a_refusal_of_pre_filter_is_told_in_kubes_words() -> None:
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    sim = until(three_nodes(pod("db", volumes=volumes)), lambda w: body(w, "prefilter")["kind"] == "prepare")
    until(sim, lambda w: any(each["said"] for each in body(w, "prefilter")["prepared"]))
    assert body(sim, "prefilter")["prepared"][-1]["said"] == 'persistentvolumeclaim "data" not found'
    assert body(sim, "prefilter")["next"] == []


# A pod that stays Pending


def test_a_failed_attempt_ends_with_its_reasons_not_with_victims() -> None:
    sim = until(three_nodes(pod("huge", cpu="64")), decided())
    panel = present("stage", sim, Look())
    found = panel.context["body"]
    assert panel.context["stage"] == "pending"
    counts = {each["text"]: each["count"] for each in found["rows"]}
    assert counts == {"Insufficient cpu": 2, "node(s) had untolerated taint {dedicated: infra}": 1}
    assert all(each["helps"] is not None and each["nodes"] for each in found["rows"])
    assert found["preemption"]["text"].startswith("0/3 nodes are available")
    assert in_english({each["event"]: each["when"] for each in found["wakes"]}["NodeAdd"]) == "A Node is created."
    assert all(in_english(each["when"]) != each["event"] for each in found["wakes"])


def test_a_pod_that_must_not_preempt_is_told_so_in_one_row() -> None:
    polite = priority_class("polite", 10, preemptionPolicy="Never")
    sim = until(world(node("a", cpu="1"), polite, pod("p", cpu="2", priorityClassName="polite")), decided())
    assert "preemptionPolicy" in body(sim, "pending")["preemption"]["why"][0]["text"]


def test_the_step_by_plugin_shows_the_reasons_at_once() -> None:
    sim = three_nodes(pod("huge", cpu="64"))
    stages = []
    while not sim.journal.attempts:
        sim.step(Grain.PLUGIN)
        stages.append(present("stage", sim, Look()).context["stage"])
    assert stages[-3:] == ["filter", "filter", "pending"] and "preemption" not in stages
