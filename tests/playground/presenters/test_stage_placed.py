"""The stage of a placed pod: what the filters left, the scores that differ, what decided, and whether it would be placed there again."""

from __future__ import annotations

from typing import Any

from playground.presenters import Look, present
from playground.presenters.stage.aim import aim_of
from playground.presenters.words import in_english
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.playground.presenters.worlds import node, pod, tainted, until, world

WEB = Look(pod="default/web-1", stage="aim")


def placed(*nodes: dict[str, Any]) -> Simulation:
    sim = world(*nodes, pod("web-1", cpu="2"))
    return until(sim, lambda one: one.idle)


def body_of(sim: Simulation) -> dict[str, Any]:
    panel = present("stage", sim, WEB)
    assert panel.context["stage"] == "placed"
    return panel.context["body"]


def test_a_placed_pod_is_explained_beside_the_nodes_that_it_is_not_on() -> None:
    sim = placed(node("free", cpu="8"), node("less", cpu="4"), node("small", cpu="1"), tainted("infra", cpu="8"))
    body = body_of(sim)
    assert (body["left"], body["nodes"]) == (2, 4)
    assert [(each["plugin"], each["left"]) for each in body["filters"]] == [
        ("TaintToleration", 3), ("NodeResourcesFit", 2),
    ]  # fmt: skip
    here, other = body["totals"]
    assert (here["node"], here["here"], other["node"], other["here"]) == ("free", True, "less", False)
    parts = [sum(part["points"] for part in each["parts"]) for each in (here, other)]
    assert [each["total"] for each in (here, other)] == [each + body["same"] for each in parts]
    leads = here["total"] - other["total"]
    assert in_english(body["again"]) == f"Yes: free is still feasible and leads by {leads} points."


def test_a_taint_that_came_later_is_a_trap_and_the_pod_would_not_be_placed_there_again() -> None:
    sim = placed(node("free", cpu="8"), node("less", cpu="4"))
    sim.apply(ApplyObjects((tainted("free", cpu="8"),)))
    body = body_of(until(sim, lambda one: one.idle))
    assert "TaintToleration would refuse free" in in_english(body["traps"][0])
    assert in_english(body["again"]) == "No: a plugin would refuse free now."


def test_a_pod_that_is_gone_is_said_to_be() -> None:
    sim = placed(node("free", cpu="8"))
    assert aim_of(sim, WEB).stage == "placed"
    gone = present("stage", sim, Look(pod="default/never", stage="placed")).context["body"]
    assert (gone["nodes"], gone["filters"], gone["again"]) == (0, [], None)


def test_the_line_is_about_the_placed_pod_that_is_chosen_and_long_lists_of_nodes_are_named() -> None:
    sim = world(
        node("free", cpu="8"),
        *(node(f"small-{at}", cpu="1") for at in range(9)),
        pod("web-1", cpu="2"),
        pod("web-2", cpu="2"),
    )
    until(sim, lambda one: one.idle)
    look = Look(pod="default/web-1", stage="placed")
    assert present("pipeline", sim, look).context["pod"] == "default/web-1"
    (row,) = present("stage", sim, look).context["body"]["filters"]
    assert (row["names"], row["more"]) == ([f"small-{at}" for at in range(8)], 1)
