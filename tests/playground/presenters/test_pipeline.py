"""The pipeline: which point and which plugin is done, now, skipped, refused or still to come."""

from __future__ import annotations

from typing import Any

from playground.presenters.scene import present_step, subject
from scheduler_core.world.simulation import Grain, Simulation
from tests.playground.presenters.worlds import decided, node, pod, ran, shown, three_nodes, until, world


def cards(sim: Simulation) -> dict[str, Any]:
    return shown("pipeline", sim)["cards"]


def station(sim: Simulation, point: str, plugin: str) -> dict[str, Any]:
    return next(s for s in cards(sim)[f"point-{point}"]["stations"] if s["name"] == plugin)


def test_before_any_cycle_every_point_is_still_to_come() -> None:
    assert {card["state"] for card in cards(three_nodes()).values()} == {"todo"}


def test_the_plugin_that_ran_last_is_marked() -> None:
    sim = until(three_nodes(), ran("Filter", "TaintToleration"))
    assert cards(sim)["point-Filter"]["state"] == "now"
    assert station(sim, "Filter", "TaintToleration")["now"]
    assert not station(sim, "Filter", "NodeResourcesFit")["now"]


def test_a_plugin_that_refused_some_nodes_is_told_from_one_that_refused_all() -> None:
    sim = until(three_nodes(pod("web-1", cpu="16")), ran("Filter", "NodeResourcesFit"))
    assert station(sim, "Filter", "TaintToleration")["state"] == "part"
    assert station(sim, "Filter", "NodeResourcesFit")["state"] == "no"


def test_a_plugin_with_nothing_to_do_is_skipped_at_filter_too() -> None:
    sim = until(three_nodes(), ran("Filter", "NodeResourcesFit"))
    assert station(sim, "PreFilter", "NodePorts")["state"] == "skip"
    assert station(sim, "Filter", "NodePorts")["state"] == "skip"


def test_filter_says_how_many_nodes_are_feasible() -> None:
    sim = until(three_nodes(), decided())
    assert cards(sim)["point-Filter"]["note"]["values"] == {"k": "1", "n": "3"}


def test_a_cycle_without_a_feasible_node_ends_in_red_at_filter() -> None:
    sim = until(three_nodes(pod("web-1", cpu="16")), decided())
    assert cards(sim)["point-Filter"]["state"] == "refused"
    assert cards(sim)["point-Score"]["state"] == "unused"


def test_a_binding_cycle_that_has_ended_is_shown_as_it_ended() -> None:
    sim = until(three_nodes(), lambda s: s.idle)
    branch = [card for card in cards(sim).values() if card["branch"]]
    assert {card["state"] for card in branch} == {"done"}
    assert station(sim, "Bind", "DefaultBinder")["state"] == "done"


def test_the_binding_cycle_is_a_branch_that_goes_on_beside_the_next_cycle() -> None:
    sim = three_nodes(pod("web-1", cpu="1"), pod("web-2", cpu="1"))
    until(sim, lambda s: s.schedulers[0].cycle is not None and s.schedulers[0].cycle.number == 2)
    branch = {name: card for name, card in cards(sim).items() if card["branch"]}
    assert list(branch) == ["point-WaitOnPermit", "point-PreBind", "point-Bind", "point-PostBind"]
    assert {card["state"] for card in branch.values()} <= {"todo", "next"}  # web-2's: the line is of one pod


def test_the_line_the_narrator_and_next_speak_of_one_pod_and_count_its_own_attempts() -> None:
    sim = three_nodes(pod("web-1", cpu="1"), pod("web-2", cpu="1"), pod("huge", cpu="64"))
    pods = set()
    while sim.position < 150 and sim.step(Grain.PLUGIN):
        line, step = shown("pipeline", sim), present_step(sim)
        head = line["context"]
        if step is None:
            continue
        ran, cycle = step
        pods.add((head["pod"], head["attempt"]["values"]["n"], head["number"]))
        assert head["pod"] == cycle.pod.key == subject(sim, "")
        assert line["cards"][f"point-{ran.point}"]["state"] in ("now", "refused") or ran.point == "Unreserve"
        coming = shown("narrator", sim)["context"]["next"]
        if coming is not None and "pod" in coming["values"]:
            assert coming["values"]["pod"] == head["name"]
    assert {("default/web-1", "1", 1), ("default/web-2", "1", 2), ("default/huge", "1", 3)} <= pods


def test_a_nodes_name_is_never_in_the_line() -> None:
    name = "ip-10-0-1-22.eu-west-1.compute.internal"
    sim = until(world(node(name), pod("web-1")), lambda s: s.idle)
    assert name not in str(shown("pipeline", sim))
