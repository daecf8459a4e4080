"""The filter stage: tracks, counts and verdicts; what the search leaves out and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest

from playground.presenters import Look, present
from scheduler_core.world.commands import SetConfiguration
from scheduler_core.world.simulation import Grain, Simulation
from tests.playground.presenters.worlds import (
    ZONE,
    decided,
    many_nodes,
    node,
    pod,
    ran,
    shown,
    three_nodes,
    until,
    world,
)
from tests.scheduler_core.worlds import configuration


def stage(sim: Simulation, **look: Any) -> dict[str, Any]:
    return shown("stage", sim, **{"stage": "filter", "form": "plugins", **look})


def cards(sim: Simulation, **look: Any) -> dict[str, Any]:
    return stage(sim, **look)["cards"]


def track(sim: Simulation, name: str, **look: Any) -> dict[str, Any]:
    return cards(sim, **look)[f"track-{name}"]


def heads(sim: Simulation) -> dict[str, dict[str, Any]]:
    return {head["name"]: head for head in cards(sim)["filter-heads"]["heads"]}


def chips(sim: Simulation, **look: Any) -> list[tuple[str, int, str]]:
    return [(c["kind"], c["count"], c["text"]) for c in cards(sim, **look)["filter-chips"]["chips"]]


def notes(sim: Simulation) -> list[str]:
    return [note["text"] % note.get("values", {}) for note in cards(sim)["filter-notes"]["notes"]]


def test_a_track_ends_where_the_node_is_refused_in_kubes_words() -> None:
    sim = until(three_nodes(), decided())
    assert track(sim, "free")["cells"] == "pppp"
    assert (track(sim, "infra")["cells"], track(sim, "infra")["text"]) == (
        "ppu",
        "node(s) had untolerated taint {dedicated: infra}",
    )


def test_a_refusal_that_preemption_could_lift_has_another_mark() -> None:
    sim = world(node("n", cpu="4"), pod("there", cpu="3", nodeName="n"), pod("web-1", cpu="2"))
    assert track(until(sim, decided()), "n")["cells"][-1] == "r"


def test_while_filter_goes_on_no_node_is_feasible_yet() -> None:
    sim = until(three_nodes(), ran("Filter", "TaintToleration"))
    assert (track(sim, "free")["verdict"], track(sim, "free")["cells"]) == ("passes", "pppt")
    assert chips(sim)[0] == ("passes", 2, "")
    until(sim, decided())
    assert chips(sim)[0] == ("ok", 1, "")


def test_before_filter_no_node_is_examined_yet() -> None:
    sim = until(three_nodes(), ran("PreFilter", "NodeResourcesFit"))
    assert (track(sim, "free")["verdict"], track(sim, "free")["cells"]) == ("waits", "")
    assert chips(sim) == [("passes", 0, ""), ("waits", 3, "")]


def test_heads_count_who_came_in_and_who_was_refused_and_lead_to_their_step() -> None:
    sim = until(three_nodes(), decided())
    found = heads(sim)
    assert [(head["came"], head["refused"]) for head in found.values()] == [(3, 0), (3, 0), (3, 1), (2, 1)]
    positions = [step.position for step in sim.schedulers[0].cycle.steps if step.point == "Filter"]
    assert [head["at"] for head in found.values()] == positions


def test_the_plugin_at_hand_and_what_it_refuses_just_now_are_marked() -> None:
    sim = until(three_nodes(), ran("Filter", "TaintToleration"))
    assert [name for name, head in heads(sim).items() if head["now"]] == ["TaintToleration"]
    assert track(sim, "infra")["just"]
    assert (heads(sim)["NodeResourcesFit"]["state"], heads(sim)["NodeResourcesFit"]["at"]) == ("todo", None)


def test_skipped_plugins_are_one_chip_without_columns() -> None:
    sim = until(three_nodes(), decided())
    assert "NodePorts" in cards(sim)["filter-chips"]["skipped"]
    assert "NodePorts" not in heads(sim)


def test_where_no_node_is_chosen_the_one_refused_last_is_explained_if_rows_are_few() -> None:
    sim = until(three_nodes(), decided())
    why = cards(sim)["filter-why"]
    assert (why["node"], why["chosen"], why["text"]) == ("small", False, "Insufficient cpu")
    assert cards(until(many_nodes(20), decided()))["filter-why"]["node"] == ""


def test_long_names_widen_their_column() -> None:
    assert not stage(until(three_nodes(), decided()))["context"]["body"]["long"]
    long = world(node("worker-zone-a"), node("worker-zone-b"), pod("web-1"))
    assert stage(until(long, decided()))["context"]["body"]["long"]


def test_the_chosen_nodes_refusal_is_explained_with_that_plugins_figures() -> None:
    why = cards(until(three_nodes(), decided()), node="small")["filter-why"]
    assert (why["plugin"], why["text"]) == ("NodeResourcesFit", "Insufficient cpu")
    assert [section["plugin"] for section in why["figures"]] == ["NodeResourcesFit"]
    assert why["plain"][0]["values"] == {"resource": "cpu"}


@pytest.mark.parametrize(
    "q", ["sma", "zone=a", f"{ZONE}=a", "Insufficient", "is:unresolvable", "is:refused", "IS:FEASIBLE", "web"]
)
def test_the_search_means_the_same_nodes_on_the_map_and_here(q: str) -> None:
    sim = until(three_nodes(), decided())
    mine = {name.removeprefix("track-") for name, card in cards(sim, q=q).items() if card.get("dim")}
    map_cards = shown("map", sim, q=q)["cards"]
    assert mine == {card["name"] for card in map_cards.values() if card.get("dim")}
    assert len(mine) < 3


def test_a_chip_searches_for_its_nodes_and_lets_go_of_them() -> None:
    sim = until(three_nodes(), decided())
    first, second = (cards(sim, q=q)["filter-chips"]["chips"][1] for q in ("", "Insufficient cpu"))
    assert (first["search"], first["on"]) == ("Insufficient cpu", False)
    assert (second["search"], second["on"]) == ("", True)


def test_what_the_pod_asks_stands_beside_the_question() -> None:
    anti = {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "api"}}, "topologyKey": "kubernetes.io/hostname"}
        ]
    }
    asks = pod("api-4", cpu="1500m", nodeSelector={"pool": "general"}, affinity={"podAntiAffinity": anti})
    facts = stage(until(world(node("n"), asks), decided()))["context"]["facts"]
    assert [fact.get("exact") or fact["text"] % fact["values"] for fact in facts] == [
        "1.5 cpu",
        "pool=general",
        "not beside app=api by hostname",
    ]


def test_sampling_says_where_it_began_how_many_end_it_and_who_was_not_examined() -> None:
    sim = until(many_nodes(400), decided())
    assert notes(sim) == [
        "Filter starts at index 0, where the last search ended, and stops at 188 feasible nodes of 400.",
        "percentageOfNodesToScore is 0, so it adapts: 50 − 400 ÷ 125 is 47 %, and at least 100 nodes.",
        "Filter has examined 236 nodes. 164 nodes are not examined.",
    ]
    assert ("unseen", 164, "") in chips(sim)
    assert stage(sim)["context"]["body"]["sampled"]


def test_nodes_of_the_next_block_do_not_pass_before_a_plugin_is_asked_about_them() -> None:
    nodes = [node(f"node-{i:03}", cpu="1" if i < 100 else "16") for i in range(400)]
    sim = until(world(*nodes, pod("web-1", cpu="2")), ran("Filter", "NodeResourcesFit"))
    step = sim.schedulers[0].cycle.steps[-1]
    found = {kind: count for kind, count, _ in chips(sim)}
    assert step.refused == 100 and found["passes"] == step.evaluated - step.refused
    assert found["waits"] == 400 - step.evaluated


def test_a_percentage_that_is_set_is_told() -> None:
    sim = many_nodes(400)
    sim.apply(SetConfiguration(configuration(percentageOfNodesToScore=30)))
    assert "percentageOfNodesToScore is 30 %, and at least 100 nodes." in notes(until(sim, decided()))


def test_a_few_nodes_are_all_examined() -> None:
    assert notes(until(three_nodes(), decided())) == [
        "Filter examines every node (fewer than 100), starting at index 0."
    ]


def test_nodes_outside_prefilters_result_end_at_prefilter() -> None:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["free"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    sim = until(three_nodes(pod("web-1", affinity={"nodeAffinity": required})), decided())
    assert heads(sim)["PreFilter"]["refused"] == 2
    assert track(sim, "small")["cells"] == "u"
    assert "NodeAffinity" in track(sim, "small")["text"]
    assert "PreFilterResult leaves 1 of 3 nodes. NodeAffinity excludes the others." in notes(sim)


def test_prefilters_refusal_ends_every_track_before_filter() -> None:
    claim = {"name": "v", "persistentVolumeClaim": {"claimName": "missing"}}
    sim = until(three_nodes(pod("web-1", volumes=[claim])), decided())
    assert {track(sim, name)["cells"] for name in ("free", "small", "infra")} == {"u"}
    assert "PreFilter refuses the pod before Filter checks any node." in notes(sim)


def test_the_second_pass_with_nominated_pods_is_told() -> None:
    sim = world(
        node("n", cpu="4"),
        pod("old", cpu="4", nodeName="n", terminationGracePeriodSeconds=60),
        pod("urgent", cpu="3", priority=10),
        pod("late", cpu="2"),
    )
    until(sim, decided(2))
    if sim.schedulers[0].cycle.pod.name == "late":
        assert any("Filter runs twice" in note for note in notes(sim))


def test_many_nodes_are_a_window_with_the_chosen_one_in_it() -> None:
    sim = until(many_nodes(200), decided())
    tracks = [card for card in cards(sim, node="node-0000").values() if card["kind"] == "track"]
    assert (len(tracks), tracks[0]["node"]) == (21, "node-0000")
    refused = [card for card in cards(sim, q="is:refused").values() if card["kind"] == "track"]
    assert {card["verdict"] for card in refused} == {"no"}


def test_from_sixty_nodes_on_the_map_is_shown_first() -> None:
    large = stage(until(many_nodes(60), decided()), form="")
    assert (large["context"]["form"], list(large["cards"])) == ("nodes", ["filter-chips", "filter-notes"])
    assert stage(until(many_nodes(59), decided()), form="")["context"]["form"] == "plugins"


def test_an_attempt_that_ended_without_a_node_is_told_in_kubes_words() -> None:
    sim = until(three_nodes(), decided())
    assert cards(sim)["filter-notes"]["message"] == ""
    sim = world(node("n", cpu="1"), pod("web-1", cpu="2"))
    sim.step(Grain.POD)
    said = cards(sim)["filter-notes"]["message"]
    assert said.startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_a_pod_whose_cycle_is_over_is_told_by_its_last_attempt() -> None:
    sim = three_nodes(pod("huge", cpu="64", priority=10), pod("web-1"))
    until(sim, decided(2))
    found = stage(sim, pod="default/huge")["context"]["body"]
    attempt = sim.journal.attempts[0]
    assert (found["kind"], found["number"], found["goto"]) == ("past", 1, attempt.last_position)
    assert found["message"] == attempt.message
    assert found["groups"][0]["plain"]


def test_a_gated_pod_says_which_gate_holds_it() -> None:
    sim = three_nodes(pod("gated", schedulingGates=[{"name": "example.com/quota"}]))
    assert stage(sim, pod="default/gated")["context"]["body"]["gates"] == ["example.com/quota"]


@pytest.mark.parametrize(
    ("name", "pod_says", "node_says"),
    [
        ("infra", "tolerations:", "  - key: dedicated\n    value: infra\n    effect: NoSchedule\n"),
        ("small", "      cpu: '2'\n", "  cpu: '1'\n"),
    ],
)
def test_what_pod_and_node_say_stands_side_by_side_with_the_lines_that_clash(
    name: str, pod_says: str, node_says: str
) -> None:
    sim = until(three_nodes(pod("web-1", cpu="2", tolerations=[{"key": "x", "operator": "Exists"}])), decided())
    look = Look(stage="filter", form="plugins", about="node", node=name)
    mine, theirs = present("stage", sim, look).cards["filter-why"]["evidence"]
    assert (mine["object"], theirs["object"], theirs["excerpt"]["mark"]) == ("Pod", "Node", node_says)
    assert pod_says in (mine["excerpt"]["mark"] or mine["excerpt"]["text"])
