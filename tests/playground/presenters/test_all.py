"""What holds for every panel: plain data, no effect on the world, small deltas."""

from __future__ import annotations

import json
from dataclasses import asdict

import orjson
import pytest

from playground.presenters import PANELS, AnyPanel, Look, inspector, look, present, queues, scene, timeline
from playground.presenters.cluster_map import node_cards
from playground.presenters.look import MODES, TABS
from playground.presenters.panels import compare, digests
from playground.presenters.queues import groups
from playground.sessions.web.publisher import render_delta
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, PatchObject, Ref, StopScheduler
from scheduler_core.world.simulation import Grain, Simulation
from tests.playground.presenters.worlds import empty_world, many_nodes, node, pod, three_nodes


def everything(sim: Simulation, look: Look) -> list[AnyPanel]:
    return [present(name, sim, look) for name in PANELS]


@pytest.mark.parametrize("tab", TABS)
def test_every_panel_is_plain_data_at_every_step(tab: str) -> None:
    sim = three_nodes(pod("web-1"), pod("huge", cpu="64"), pod("gated", schedulingGates=[{"name": "g"}]))
    while sim.advance() and sim.position < 100:
        shown = [asdict(panel) | {"names": None} for panel in everything(sim, Look(tab=tab, node="free"))]
        assert json.loads(json.dumps(shown)) == shown
    assert sim.position == 100


@pytest.mark.parametrize("shown", [Look(pod="default/web-1"), *(Look(stage=stage) for stage in look.STAGES)])
def test_a_world_whose_only_scheduler_has_ended_is_shown(shown: Look) -> None:
    sim = empty_world()
    sim.apply(ApplyObjects((node("a"), pod("web-1"))))
    sim.apply(StopScheduler("kube-scheduler", "SIGKILL"))
    assert not sim.schedulers
    assert len(everything(sim, shown)) == len(PANELS)


def test_looking_changes_nothing() -> None:
    looked, alone = three_nodes(), three_nodes()
    while not alone.idle:
        everything(looked, Look(stage="score"))
        mine, theirs = looked.advance(), alone.advance()
        assert [record.to_json() for record in mine] == [record.to_json() for record in theirs]
    assert alone.position > 20


def forget_everything() -> None:
    scene._TABLES.clear()
    scene._LATEST.clear()
    groups.forget()
    for module in (look, inspector, node_cards, queues.chips, timeline):
        for function in vars(module).values():
            if hasattr(function, "cache_clear"):
                function.cache_clear()


def test_what_is_remembered_from_step_to_step_is_what_would_be_made_anew() -> None:
    sims = [three_nodes(*(pod(f"p{i}", cpu="500m") for i in range(12)), pod("huge", cpu="64"))]
    changes = {
        40: PatchObject(
            Ref("Node", name="infra"), {"metadata": {"labels": {"zone": "b"}}, "spec": {"unschedulable": True}}
        ),
        70: DeleteObjects((Ref("Pod", "default", "p1"), Ref("Node", name="small"))),
        90: ApplyObjects((node("more"), pod("gpu"))),
    }
    looks = [Look(node="free", about="node"), Look(axis="time", rows=12), Look(q="p", group="zone")]
    for step in range(120):
        if step == 60:
            sims.append(sims[0].fork())  # which then goes another way
        for sim in sims:
            if step in changes and (sim is sims[0] or step == 90):
                sim.apply(changes[step])
            sim.advance()
        seen = looks[step % len(looks)]
        known = [orjson.dumps([asdict(panel) for panel in everything(sim, seen)]) for sim in sims]
        forget_everything()
        assert known == [orjson.dumps([asdict(panel) for panel in everything(sim, seen)]) for sim in sims]


@pytest.mark.parametrize("mode", MODES)
def test_a_step_with_1523_nodes_changes_less_than_50_kilobytes_of_the_page(mode: str) -> None:
    sim, look = many_nodes(pods=200), Look(mode=mode, stage="" if mode == "filter" else "score")
    before, sizes = digests(everything(sim, look)), []
    for _ in range(60):
        sim.step(Grain.CALL)
        shown = everything(sim, look)
        new = digests(shown)
        sizes.append(len(orjson.dumps(render_delta(list(compare(shown, new, before))))))
        before = new
    assert 0 < max(sizes) < 50_000
