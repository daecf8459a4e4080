"""QuietNodes: what it decides, and that everybody finds what its room declares."""

from __future__ import annotations

from typing import Any

import pytest
from django.template.loader import get_template
from scheduler_core.scheduler.plugins.quiet_nodes import NAME, REFUSED, Noise

from scheduler_core.analysis.fixes import find_fixes
from scheduler_core.apiserver.status import Refused
from scheduler_core.testing.builders import make_node, make_pod, make_table
from scheduler_core.world.checkpoint import Archive, decode, encode
from scheduler_core.world.commands import ApplyObjects, SetConfiguration
from scheduler_core.world.simulation import Simulation
from tests.playground.presenters.worlds import decided, shown, until
from tests.scheduler_core.worlds import configuration, node, nodes_of, pod, scheduler_of, settle
from tests.support.drive import filter_nodes, make_plugin

LOUD = {"noise": "loud"}


def profile(**args: Any) -> dict[str, Any]:
    config = [{"name": NAME, "args": args}] if args else []
    return configuration(profiles=[{"plugins": {"multiPoint": {"enabled": [{"name": NAME}]}}, "pluginConfig": config}])


def world(**args: Any) -> Simulation:
    sim = Simulation()
    sim.apply(SetConfiguration(profile(**args)))
    sim.apply(ApplyObjects((node("a", labels=LOUD), pod("p"))))
    return sim


def test_it_refuses_loud_nodes() -> None:
    nodes = make_table([make_node("a").label("noise", "loud"), make_node("b")])
    assert filter_nodes(make_plugin(NAME), make_pod("p").pod(), nodes) == {"a": REFUSED, "b": None}


def test_the_configuration_fills_in_its_arguments() -> None:
    (written,) = [
        config["args"]
        for config in world().schedulers[0].configuration.manifest["profiles"][0]["pluginConfig"]
        if config["name"] == NAME
    ]
    assert written["label"] == "noise"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"label": 7}, "profiles[0].pluginConfig[0].args.label: 7 is a number, expected a string"),
        ({"volume": "up"}, 'profiles[0].pluginConfig[0].args.volume: unknown field "volume"'),
        ({"label": "no good"}, 'profiles[0].pluginConfig[0].args.label: Invalid value: "no good": name part must'),
    ],
)
def test_the_configuration_refuses_arguments_that_it_does_not_have(args: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused) as refused:
        world(**args)
    assert said in str(refused.value)


def test_the_queue_asks_its_hint() -> None:
    sim = world()
    settle(sim)
    queue = scheduler_of(sim).queue
    sim.apply(ApplyObjects((node("a", labels={"noise": "loud", "rack": "1"}),)))
    assert [entry.key for entry in queue.unschedulable()] == ["default/p"]
    sim.apply(ApplyObjects((node("a", labels={"noise": "quiet"}),)))
    assert [entry.key for entry in queue.unschedulable()] == []
    (why,) = [move.why for move in sim.journal.moves if NAME in move.why]
    assert "after_node_quietened" in why


def test_a_checkpoint_holds_its_state() -> None:
    sim, archive = until(world(), decided()), Archive()
    read = decode(encode(sim, archive), archive)
    cycle = read.schedulers[0].cycle
    assert cycle is not None
    assert cycle.state.get(NAME) == Noise("noise")


def test_the_inspector_shows_what_it_sees() -> None:
    body = shown("inspector", until(world(), decided()), about="node", node="a")["context"]["body"]
    html = get_template("inspector_figures.html", using="panels").render({"figures": body["figures"]})
    assert NAME in [section["plugin"] for section in body["figures"]]
    assert '<tr class="bad"><th scope="row"><code>noise</code></th><td>loud</td></tr>' in html


def test_fix_tries_what_it_proposes() -> None:
    sim = world()
    settle(sim)
    fixes = find_fixes(sim, "default/p")
    fix = next(fix for fix in fixes if [change.kind for change in fix.changes] == ["label"])
    for command in fix.commands:
        sim.apply(command)
    settle(sim)
    assert nodes_of(sim) == {"default/p": "a"}
