"""What is shown of worlds whose extenders are asked: each panel and each tab at each step, and what they say."""

from typing import Any

import pytest
from msgspec.structs import replace

from playground.presenters import PANELS
from playground.presenters.look import TABS, Look
from playground.presenters.narrator import sentence
from playground.presenters.pipeline import present as pipeline
from playground.presenters.stage.group import exchanges
from scheduler_core.scheduler.extenders.behaviour import RecordedServer, Remote
from scheduler_core.world.commands import ApplyObjects, SetConfiguration, SetExtender
from scheduler_core.world.simulation import Simulation
from tests.playground.presenters.worlds import empty_world
from tests.scheduler_core.worlds import node, pod

URL = "http://e.example/x"
RULES = (
    {"verb": "filter", "pods": ["default/high"], "refuse": {"a": "no licence"}},
    {"verb": "filter", "pods": ["default/none"], "refuseAll": "closed"},
    {"verb": "filter", "pods": ["default/ghost"], "add": ["elsewhere"]},
    {"verb": "filter", "pods": ["default/bad"], "raw": "<html>"},
    {"verb": "prioritize", "default": 3},
)


def world(**extender: Any) -> Simulation:
    sim = empty_world()
    verbs = {f"{verb}Verb": verb for verb in ("filter", "prioritize", "preempt", "bind")}
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    entry = {"urlPrefix": URL, **verbs, "weight": 2, **extender}
    sim.apply(SetConfiguration({**kind, "extenders": [entry]}))
    sim.apply(SetExtender(URL, RecordedServer(RULES)))
    sim.apply(ApplyObjects((node("a"), node("b"), node("c"), pod("low", cpu="4"), pod("web"))))
    sim.apply(ApplyObjects((pod("none"), pod("bad"), pod("ghost"))))
    sim.apply(ApplyObjects(tuple(pod(f"full-{i}", cpu="3") for i in range(3))))
    sim.apply(ApplyObjects((pod("high", cpu="4", priority=9),)))
    return sim


@pytest.mark.parametrize("names", [True, False])
def test_everything_can_be_shown_all_the_way(names: bool) -> None:
    sim = world(nodeCacheCapable=names)
    look = Look()
    for step in range(280):
        sentence(sim)
        pipeline(sim, look)
        if step % 5 == 0:
            for panel in PANELS.values():
                panel(sim, look)
            for tab in TABS:
                PANELS["inspector"](sim, replace(look, tab=tab, node="a", about="node"))
        if not sim.advance():
            break


def test_a_call_is_shown_with_request_answer_and_effect() -> None:
    sim = world(nodeCacheCapable=True)
    sim.run(
        until=lambda w: any(
            r.data.get("point") == "ExtenderFilter" and r.data.get("pod") == "default/high" for r in w.last
        )
    )
    cycle = sim.scheduler("kube-scheduler").cycle
    assert cycle is not None
    (shown,) = exchanges(sim, cycle)
    assert (shown["verb"], shown["status"], shown["error"]) == ("filter", 200, "")
    assert '"NodeNames"' in shown["request"] and "no licence" in shown["answer"]
    cards = pipeline(sim, Look()).cards
    assert cards["point-ExtenderFilter"]["stations"][0] | {"note": None} == {
        "name": URL,
        "state": "part",
        "now": True,
        "note": None,
    }
    assert "point-ExtenderPrioritize" in cards and "point-ExtenderBind" in cards


def test_a_call_that_failed_passes_no_node() -> None:
    sim = world(nodeCacheCapable=True)
    key = "default/bad"
    sim.run(until=lambda w: any(r.data.get("point") == "ExtenderFilter" and r.data.get("pod") == key for r in w.last))
    heads = PANELS["stage"](sim, replace(Look(), stage="filter", pod=key)).cards["filter-heads"]["heads"]
    assert [(head["state"], head["now"]) for head in heads if head["plugin"] == URL] == [("never", True)]


def test_the_world_is_not_said_to_be_done_while_a_real_extender_is_asked() -> None:
    sim = world(nodeCacheCapable=True)
    sim.apply(SetExtender(URL, Remote()))
    assert sim.run().reason == "idle"
    found = PANELS["narrator"](sim, Look()).context
    assert (found["idle"], found["outside"]) == (False, True)


def test_a_pod_that_extenders_refused_everywhere_is_said_to_wait_for_anything() -> None:
    sim = world(nodeCacheCapable=True)
    sim.run(until=lambda w: any(a.pod == "default/none" for a in w.journal.attempts))
    entry = next(
        pod
        for scheduler in sim.schedulers
        for pods in (scheduler.queue.unschedulable_pods, scheduler.queue.backoff_pods)
        for pod in pods.values()
        if pod.key == "default/none"
    )
    assert "Extender" in entry.rejectors
