"""What holds for every panel: plain data, no effect on the world, small deltas, little time."""

from __future__ import annotations

import json
import time
from dataclasses import asdict

import orjson
import pytest

from playground.presenters import PANELS, Look, Panel, present
from playground.presenters.look import MODES, TABS
from playground.sessions.web.render import render_delta
from playground.sessions.worker.panels import compare, digests
from scheduler_core.simulation import Grain, Simulation
from tests.playground.presenters.worlds import many_nodes, pod, three_nodes


def everything(sim: Simulation, look: Look) -> list[Panel]:
    return [present(name, sim, look) for name in PANELS]


@pytest.mark.parametrize("tab", TABS)
def test_every_panel_is_plain_data_at_every_step(tab: str) -> None:
    sim = three_nodes(pod("web-1"), pod("huge", cpu="64"), pod("gated", schedulingGates=[{"name": "g"}]))
    while sim.advance() and sim.position < 100:
        shown = [asdict(panel) for panel in everything(sim, Look(tab=tab, node="free"))]
        assert json.loads(json.dumps(shown)) == shown


def test_looking_changes_nothing() -> None:
    looked, alone = three_nodes(), three_nodes()
    for _ in range(60):
        everything(looked, Look(tab="scores"))
        mine, theirs = looked.advance(), alone.advance()
        assert [record.to_json() for record in mine] == [record.to_json() for record in theirs]


@pytest.mark.parametrize("mode", MODES)
def test_a_step_with_1523_nodes_changes_less_than_50_kilobytes_of_the_page(mode: str) -> None:
    sim, look, before = (
        many_nodes(pods=200),
        Look(mode=mode, tab="why" if mode == "filter" else "scores"),
        None,
    )
    for _ in range(60):
        shown = everything(sim, look)
        new = digests(shown)
        if before is not None:
            html = render_delta(list(compare(shown, new, before)))
            assert len(orjson.dumps(html)) < 50_000
        before = new
        sim.step(Grain.PLUGIN)


@pytest.mark.parametrize(("nodes", "pods", "milliseconds"), [(50, 100, 5), (1523, 4000, 25)])
def test_presenting_a_step_takes_few_milliseconds(nodes: int, pods: int, milliseconds: int) -> None:
    sim = many_nodes(nodes, pods)
    for _ in range(25):
        sim.step(Grain.PLUGIN)
    taken = []
    for _ in range(15):
        started = time.thread_time()
        everything(sim, Look())
        taken.append(1000 * (time.thread_time() - started))
    assert min(taken) < milliseconds
