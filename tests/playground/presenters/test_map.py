"""The cluster map: cards for few nodes, bytes and a window for many."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from playground.presenters.cluster_map.heat import BEST, HERE, NO, OK, facts
from playground.presenters.stage.aim import at_hand
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
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

DEFAULT = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def cards(sim: Simulation, **look: Any) -> dict[str, Any]:
    return shown("map", sim, **look)["cards"]


def heat(sim: Simulation, key: str, **look: Any) -> list[int]:
    return list(base64.b64decode(cards(sim, **look)["map-heat"][key]))


def test_a_refused_node_says_why_in_kubes_words() -> None:
    sim = until(three_nodes(), ran("Filter", "NodeResourcesFit"))
    assert cards(sim)["node-small"]["why"] == "Insufficient cpu"
    assert cards(sim)["node-infra"]["why"] == "node(s) had untolerated taint {dedicated: infra}"


def test_a_feasible_node_steps_forward() -> None:
    sim = until(three_nodes(), ran("Filter", "TaintToleration"))
    assert (cards(sim)["node-free"]["state"], cards(sim)["node-free"]["why"]) == ("passes", "")
    until(sim, ran("Filter", "NodeResourcesFit"))
    assert cards(sim)["node-free"]["state"] in ("ok", "here")


def test_what_this_step_refused_is_marked_as_changed() -> None:
    sim = until(three_nodes(), ran("Filter", "NodeResourcesFit"))
    assert [name for name, card in cards(sim).items() if card.get("changed")] == ["node-small"]


def test_the_pod_stands_on_its_node_as_soon_as_it_is_assumed() -> None:
    sim = until(three_nodes(), lambda s: any(record.kind == "pod_assumed" for record in s.last))
    card = cards(sim)["node-free"]
    assert card["state"] == "here"
    assert [(chip["name"], chip["assumed"]) for chip in card["chips"]] == [("web-1", True)]
    assert card["changed"]


def test_nodes_stand_by_zone_unless_another_label_is_asked_for() -> None:
    sim = three_nodes()
    zones = shown("map", sim)["context"]["zones"]
    assert {zone["name"]: len(zone["cards"]) for zone in zones} == {"a": 2, "b": 1}
    assert len(shown("map", sim, group="-")["context"]["zones"]) == 1


def test_a_group_that_no_node_has_falls_back_to_the_zone() -> None:
    assert shown("map", three_nodes(), group="no-such-label")["context"]["group"] == ZONE


@pytest.mark.parametrize(("q", "left"), [("sma", 1), (f"{ZONE}=a", 2), ("untolerated taint", 1), ("nothing", 0)])
def test_the_search_dims_what_it_does_not_mean_by_name_label_or_refusal(q: str, left: int) -> None:
    sim = until(three_nodes(), decided())
    found = [card for name, card in cards(sim, q=q).items() if name.startswith("node-")]
    assert (len(found), sum(1 for card in found if not card.get("dim"))) == (3, left)


def test_an_empty_cluster_says_so() -> None:
    assert shown("map", world())["context"]["empty"]


def test_refusals_are_counted_groups() -> None:
    summary = cards(until(three_nodes(), decided()))["map-summary"]
    assert [(chip["kind"], chip["count"], chip["text"]) for chip in summary["chips"]] == [
        ("ok", 1, ""),
        ("un", 1, "Insufficient cpu"),
        ("un", 1, "node(s) had untolerated taint {dedicated: infra}"),
    ]


def test_a_card_says_the_cpu_that_is_requested_exactly_and_the_taints() -> None:
    sim = three_nodes(pod("fixed", cpu="2250m", nodeName="free"))
    assert cards(sim)["node-free"]["cpu"] == "2.25/8"
    assert cards(sim)["node-infra"]["taints"] == ["dedicated=infra:NoSchedule"]


def test_a_plain_map_shows_no_verdict_of_the_last_cycle() -> None:
    sim = until(three_nodes(), decided())
    sim.run()
    card = cards(sim)["node-infra"]
    assert (at_hand(sim), card["state"], card["why"], card["score"]) == ("cluster", "", "", None)
    assert cards(sim, stage="filter")["node-infra"]["state"] == "no"


def test_an_import_marks_no_node_and_a_form_marks_what_it_creates() -> None:
    assert not any(card.get("changed") for card in cards(many_nodes(70)).values())
    sim = many_nodes(3)
    sim.apply(ApplyObjects((node("new"),)))
    assert [name for name, card in cards(sim).items() if card.get("changed")] == ["node-new"]


def test_a_large_cluster_is_bytes_and_a_window_of_cards() -> None:
    found = cards(until(many_nodes(200), decided()))
    assert sum(1 for card in found.values() if card["kind"] == "node") == 12
    assert len(base64.b64decode(found["map-heat"]["state"])) == 200


def test_the_heat_map_tells_feasible_refused_best_and_chosen_nodes_apart() -> None:
    nodes = [node(f"n{i:03}", cpu="1" if i % 5 == 0 else str(4 + i % 3)) for i in range(200)]
    sim = until(world(*nodes, pod("web-1", cpu="2")), decided())
    state = heat(sim, "state")
    cycle = sim.schedulers[0].cycle
    assert state.count(NO) == (cycle.refused_by >= 0).sum() > 0
    assert state.count(HERE) == 1
    assert state.count(BEST) > 0
    assert state.count(OK) + state.count(BEST) + state.count(HERE) == len(cycle.feasible)


def labels(sim: Simulation, mode: str) -> list[str]:
    found: list[str] = cards(sim, mode=mode)["map-heat"]["labels"]
    return found


def test_score_heat_and_its_legend_agree_from_the_lowest_to_the_highest_total() -> None:
    nodes = [node(f"n{i:02}", cpu=str(4 + i)) for i in range(60)]
    sim = until(world(*nodes, pod("web-1", cpu="2")), decided())
    bands, totals = heat(sim, "value", mode="score"), sim.schedulers[0].cycle.scores.total.tolist()
    assert (min(bands), max(bands)) == (0, 6)
    ends = [tuple(int(end) for end in label.split("–")) for label in labels(sim, "score")]
    assert all(ends[band][0] <= total <= ends[band][-1] for band, total in zip(bands, totals, strict=True))


def test_equal_totals_are_one_band_and_no_node_is_the_highest() -> None:
    sim = until(world(*(node(f"n{i:02}") for i in range(60)), pod("web-1", cpu="0")), decided())
    total = sim.schedulers[0].cycle.scores.total
    assert len(set(total.tolist())) == 1
    assert labels(sim, "score") == [str(int(total[0]))]
    assert BEST not in heat(sim, "state", mode="score")


def test_one_plugins_points_are_heat_too() -> None:
    nodes = [node(f"n{i:02}", cpu=str(4 + i)) for i in range(60)]
    sim = until(world(*nodes, pod("web-1", cpu="2")), decided())
    board = sim.schedulers[0].cycle.scores
    found = board.weighted[board.plugins.index("NodeResourcesFit")]
    assert labels(sim, "score:NodeResourcesFit")[0].startswith(str(int(found.min())))
    assert cards(sim, mode="score:NoSuchPlugin")["map-heat"]["mode"] == "filter"


@pytest.mark.parametrize(
    ("mode", "bands"), [("cpu", [3, 0]), ("memory", [0, 0]), ("utilisation", [3, 0]), ("pods", [0, 0])]
)
def test_any_resource_is_heat(mode: str, bands: list[int]) -> None:
    sim = many_nodes(60)
    sim.apply(ApplyObjects((pod("fixed", cpu="8", nodeName="node-0001"),)))
    table = sim.schedulers[0].cache.table()
    values = heat(sim, "value", mode=mode)
    assert [values[table.row(name)] for name in ("node-0001", "node-0002")] == bands
    assert mode == "utilisation" or mode in shown("map", sim)["context"]["choices"]["resources"]


def test_a_resource_that_a_node_has_not_is_no_band_of_its_heat() -> None:
    gpu = {**node("gpu"), "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "9", "example.com/gpu": "8"}}}
    sim = world(gpu, *(node(f"n{i}") for i in range(60)))
    assert sorted(set(heat(sim, "value", mode="example.com/gpu"))) == [0, 255]


def test_cards_of_the_large_map_are_exact_about_what_is_asked() -> None:
    sim = many_nodes(60)
    sim.apply(ApplyObjects((pod("fixed", cpu="2250m", nodeName="node-0001"),)))
    table = sim.schedulers[0].cache.table()
    (found,) = facts(sim, table, [table.row("node-0001"), 10_000], "filter")
    assert (found["value"], found["percent"], found["pods"]) == ("2.25 / 16 cpu", 14, ["fixed"])


def test_the_search_is_a_bit_a_node_and_the_window_shows_what_it_means() -> None:
    sim = until(many_nodes(200), decided())
    found = cards(sim, q="rack=r3")
    bits = list(base64.b64decode(found["map-heat"]["found"]))
    meant = [i for i in range(200) if bits[i >> 3] >> (7 - (i & 7)) & 1]
    names = sim.schedulers[0].cache.table().names
    assert [names[i] for i in meant] == [name for name in names if int(name[-4:]) % 7 == 3]
    assert all(int(name[-4:]) % 7 == 3 for name in found if name.startswith("node-"))


def test_a_large_cluster_is_grouped_by_its_most_telling_label() -> None:
    groups = cards(many_nodes(70))["map-groups"]
    assert groups["values"] == [f"r{i}" for i in range(7)]
    assert [base64.b64decode(groups["codes"]).count(i) for i in range(7)] == [10] * 7


def test_the_pages_of_the_window_show_different_nodes() -> None:
    sim = until(many_nodes(200), decided())
    first, second = ({name for name in cards(sim, page=page) if name.startswith("node-")} for page in (0, 1))
    assert len(first) == len(second) == 12
    assert not first & second


def test_a_node_that_came_after_the_snapshot_has_no_verdict() -> None:
    sim = until(three_nodes(), ran("Filter", "TaintToleration"))
    sim.apply(ApplyObjects((node("newcomer"),)))
    found = cards(sim)
    assert (found["node-newcomer"]["state"], found["node-newcomer"]["why"]) == ("", "")
    assert found["node-infra"]["state"] == "no"
