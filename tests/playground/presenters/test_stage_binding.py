"""The binding stage: a lane for each pod from assume to PostBind, rollback, and what the cache believes."""

from __future__ import annotations

from typing import Any

from scheduler_core.world.commands import ApplyObjects, FailCall
from scheduler_core.world.simulation import Simulation
from tests.playground.presenters.worlds import begun, empty_world, node, pod, ran, shown, three_nodes, until, world


def lanes(sim: Simulation, **look: Any) -> dict[str, dict[str, Any]]:
    cards = shown("stage", sim, stage="binding", **look)["cards"].values()
    return {card["name"]: card for card in cards}


def states(lane: dict[str, Any]) -> list[str]:
    return [cell["state"] for cell in lane["cells"]]


def body(sim: Simulation, **look: Any) -> dict[str, Any]:
    found: dict[str, Any] = shown("stage", sim, stage="binding", **look)["context"]["body"]
    return found


def binding(sim: Simulation) -> bool:
    return bool(sim.schedulers[0].bindings)


def over(sim: Simulation) -> bool:
    return bool(sim.journal.attempts) and not binding(sim)


def test_before_a_node_is_chosen_there_is_no_lane() -> None:
    assert lanes(until(three_nodes(), ran("Filter", "NodeResourcesFit"))) == {}


def test_the_scheduling_cycles_pod_has_a_lane_from_reserve_on() -> None:
    sim = until(three_nodes(), ran("Reserve", "VolumeBinding"))
    lane = lanes(sim)["web-1"]
    assert (lane["node"], lane["state"]) == ("free", "cycle")
    assert states(lane)[:2] == ["held", "now"] and set(states(lane)[2:]) == {"ahead"}
    assert lane["cells"][0]["sub"]["values"] == {"amount": "2 cpu"}


def test_a_binding_cycle_says_where_it_stands_and_what_time_is_left() -> None:
    def at_bind(sim: Simulation) -> bool:
        return any(str(b.phase) == "Bind" for b in sim.schedulers[0].bindings.values())

    lane = lanes(until(three_nodes(), at_bind))["web-1"]
    assert states(lane) == ["held", "skip", "now", "ahead"]
    assert lane["cells"][2]["sub"]["values"]["whole"] == "5 ms"


def test_a_lane_stays_after_its_binding_cycle_has_ended() -> None:
    lane = lanes(until(three_nodes(), over))["web-1"]
    assert lane["state"] == "bound"
    assert states(lane) == ["ok", "ok", "ok", "ok"]


def test_a_refused_bind_runs_back() -> None:
    sim = three_nodes()
    sim.apply(FailCall("bind", "default/web-1", code=403))
    lane = lanes(until(sim, over))["web-1"]
    assert lane["state"] == "back"
    assert states(lane) == ["held", "ok", "no", "none"]
    assert "forbidden" in lane["cells"][2]["full"]
    assert shown("stage", sim, stage="binding", pod="default/web-1")["context"]["map"]  # where it can go next


def test_points_with_nothing_to_do_are_one_block_that_says_so() -> None:
    lane = lanes(until(three_nodes(), lambda w: any(str(b.phase) == "Bind" for b in w.schedulers[0].bindings.values())))
    block = lane["web-1"]["cells"][1]
    assert (block["span"], block["head"]["values"]) == (4, {"n": 4})
    assert block["full"] == "Reserve, Permit, WaitOnPermit, PreBind"


def test_a_rejection_at_permit_runs_back_through_unreserve_last_plugin_first() -> None:
    sim = empty_world(demonstration=True)
    sim.apply(ApplyObjects((node("a"), pod("web-1", annotations={"playground.dev/permit": "reject"}))))
    until(sim, lambda w: any(step.point == "Unreserve" for step in w.schedulers[0].cycle.steps) if begun(w) else False)
    for position in range(2):  # as Permit rejects it, and as its attempt ends
        panel = shown("stage", sim)
        lane = next(iter(panel["cards"].values()))
        assert (panel["context"]["stage"], panel["context"]["question"]["text"]) == (
            "binding",
            "Why did %(pod)s return to the queue?",
        )
        assert states(lane) == ["held", "skip", "no", "none", "none", "none", "none"]
        assert lane["back"]["plugins"] == ["Demonstration", "DynamicResources", "VolumeBinding"]
        assert (lane["back"]["span"], panel["context"]["body"]["next"]["text"]) == (2, lane["cells"][2]["full"])
        if not position:
            sim.advance()


def test_what_was_asked_of_the_next_call_is_told() -> None:
    sim = until(three_nodes(), binding)
    sim.apply(FailCall("bind", "default/web-1", code=409))
    assert lanes(sim)["web-1"]["faults"] == ["bind 409"]


def test_the_cache_counts_what_the_api_server_does_not_know_yet() -> None:
    cache = body(until(three_nodes(), binding))["cache"]
    assert (cache["node"], cache["running"], cache["assumed"], cache["free"]) == ("free", "0", "2", "6")
    assert (cache["known"], [p["name"] for p in cache["pods"]]) == ("0", ["web-1"])


def test_the_bar_is_of_the_chosen_node() -> None:
    assert body(until(three_nodes(), binding), node="small", about="node")["cache"]["node"] == "small"


def test_of_many_binding_cycles_some_have_lanes_and_the_others_are_counted_where_they_stand() -> None:
    pods = [pod(f"web-{i:02}", cpu="100m") for i in range(14)]
    sim = world(node("big", cpu="64"), *pods)
    for each in pods:
        sim.apply(FailCall("bind", f"default/{each['metadata']['name']}", latency=10**12))
    until(sim, lambda w: len(w.schedulers[0].bindings) == 14, most=2000)
    assert len(lanes(sim)) == 7
    assert [(g["phase"], g["count"]) for g in body(sim)["groups"]] == [("Bind", 7)]
    assert "web-03" in lanes(sim, pod="default/web-03")


def test_the_question_is_about_the_pod_whose_lane_is_explained() -> None:
    sim = until(world(node("a"), pod("fits"), pod("huge", cpu="64")), lambda one: one.idle)
    panel = shown("stage", sim, stage="binding", pod="default/huge")["context"]
    assert panel["body"]["pod"]["name"] == panel["question"]["values"]["pod"] == "fits"
