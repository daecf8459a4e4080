"""The score stage: totals, points, ties and the draw, formulas behind the numbers, and other weights."""

from __future__ import annotations

from typing import Any

import pytest

from playground.presenters import Look, present
from playground.presenters.stage.score.why import lines, number
from scheduler_core.analysis.inspection import Formula, Line, Value
from scheduler_core.scheduler.framework import formula as f
from scheduler_core.world.simulation import Simulation
from tests.playground.presenters.worlds import decided, many_nodes, node, pod, ran, three_nodes, until, world


def body(sim: Simulation, **look: Any) -> dict[str, Any]:
    return dict(present("stage", sim, Look(stage="score", **look)).context["body"])


def growing(count: int = 4, **spec: Any) -> Simulation:
    """Nodes n0, n1 ... each with more cpu than the one before, and a pod that was just scheduled."""
    nodes = [node(f"n{i}", cpu=str(4 + i)) for i in range(count)]
    return until(world(*nodes, pod("web-1", cpu="2", **spec)), decided())


def test_scores_add_up_from_raw_to_total() -> None:
    found = body(growing())
    weights = [plugin["weight"] for plugin in found["plugins"]]
    for row in found["rows"]:
        weighted = [cell["norm"] * weight for cell, weight in zip(row["cells"], weights, strict=True)]
        assert [cell["points"] for cell in row["cells"]] == weighted
        assert row["total"] == sum(weighted) == sum(segment["points"] for segment in row["segments"])
    totals = [row["total"] for row in found["rows"]]
    assert totals == sorted(totals, reverse=True)


def test_bars_are_as_long_as_their_points_of_what_there_could_be() -> None:
    found = body(growing())
    possible = 100 * sum(plugin["weight"] for plugin in found["plugins"])
    for row in found["rows"]:
        last = row["segments"][-1]
        assert last["x"] + last["width"] == pytest.approx(100 * row["total"] / possible, abs=0.01)


def test_totals_of_zero_have_no_bars_and_no_axis_of_their_own() -> None:
    nodes = [node("a"), node("b")]
    for each in nodes:
        each["spec"] = {"taints": [{"key": "k", "effect": "PreferNoSchedule"}]}
    sim = until(world(*nodes, pod("web-1", cpu="0")), ran("Score", "TaintToleration"))
    assert [row["segments"] for row in body(sim)["rows"]] == [[]]


def test_nodes_that_tie_are_one_row_with_their_names_and_the_pick() -> None:
    sim = until(world(node("a"), node("b"), node("c", cpu="64"), pod("web-1", cpu="2")), decided())
    found = body(sim)
    groups = [[peer["node"] for peer in row["peers"]] or [row["node"]] for row in found["rows"]]
    assert sorted(groups) == [["a", "b"], ["c"]]
    assert sum(row["count"] for row in found["rows"]) == found["nodes"] == 3
    pick = [peer["node"] for row in found["rows"] for peer in row["peers"] or [row] if peer["drawn"]]
    assert pick == [found["node"]]
    assert [len(body(sim, form="table")["rows"]), found["sentence"]] == [3, None]


def test_the_other_draws_of_a_tie_are_told_with_their_chance() -> None:
    found = body(until(world(node("a"), node("b"), pod("web-1", cpu="2")), decided()))
    other = next(name for name in ("a", "b") if name != found["node"])
    assert found["draws"]["values"] == {"nodes": other, "count": "2"}
    assert found["rows"][0]["tied"]


def test_before_any_score_plugin_has_answered_it_is_told_so() -> None:
    sim = until(world(node("a"), node("b"), pod("web-1", cpu="2")), ran("PreScore", "TaintToleration"))
    told = body(sim)["sentence"]
    assert (told["text"], told["values"]["all"]) == (
        "None of the %(all)s Score plugins has scored the nodes yet.",
        len(body(sim)["plugins"]),
    )


def test_while_plugins_score_it_is_told_who_has_answered() -> None:
    sim = until(world(node("a"), node("b"), pod("web-1", cpu="2")), ran("Score", "NodeResourcesFit"))
    found = body(sim)
    states = {plugin["name"]: plugin["state"] for plugin in found["plugins"]}
    assert (states["TaintToleration"], states["NodeResourcesFit"], states["ImageLocality"]) == ("raw", "done", "todo")
    assert found["sentence"]["values"]["names"] == "TaintToleration, NodeResourcesFit"
    assert found["what_if"] is None


@pytest.mark.parametrize(("cpu", "kind"), [("2", "one feasible"), ("64", "none feasible")])
def test_without_scores_the_stage_says_why_there_are_none(cpu: str, kind: str) -> None:
    assert body(until(three_nodes(pod("web-1", cpu=cpu)), decided()))["kind"] == kind


def test_twelve_nodes_are_shown_and_the_others_counted_and_the_chosen_one_is_among_them() -> None:
    sim = until(many_nodes(60), decided())
    found = body(sim, node="node-0059", page=1, form="table")
    assert (len(found["rows"]), found["rows"][-1]["node"], found["page"]) == (13, "node-0059", 1)
    assert found["more"] == found["nodes"] - 24


# Why


def test_a_total_leads_to_its_plugins() -> None:
    why = body(growing(), node="n1")["why"]
    assert (why["kind"], why["node"]) == ("total", "n1")
    assert why["total"] == sum(row["points"] for row in why["rows"])


def test_a_plugins_points_lead_to_the_formula_with_the_nodes_values() -> None:
    why = body(growing(), node="n1", plugin="NodeResourcesFit")["why"]
    cpu = why["lines"][0]
    assert "".join(token["text"] for token in cpu["tokens"]) == "(5−(0+2))×100÷5"
    assert (cpu["result"], why["number"]) == ("60", int(why["lines"][-1]["result"]))
    assert [(t["object"], t["key"], t["path"]) for t in cpu["tokens"] if t.get("path")] == [
        ("Node", "n1", "status.allocatable[cpu]"),
        ("Pod", "default/web-1", "spec.containers[0].resources.requests[cpu]"),
        ("Node", "n1", "status.allocatable[cpu]"),
    ]


def test_normalisation_is_told_with_its_highest_score() -> None:
    nodes = [node("a"), node("b")]
    nodes[1]["spec"] = {"taints": [{"key": "k", "effect": "PreferNoSchedule"}]}
    sim = until(world(*nodes, pod("web-1", cpu="2")), decided())
    why = body(sim, node="b", plugin="TaintToleration")["why"]
    assert "".join(token["text"] for token in why["scaled"][-1]["tokens"]) == "100−1×100÷1"
    assert (why["raw"], why["norm"], why["points"]) == (1, 0, 0)


def test_where_the_search_stopped_early_it_is_told_how_many_nodes_were_looked_at() -> None:
    sim = until(many_nodes(600), decided())
    assert body(sim)["why"]["sampled"]["values"]["nodes"] == "600"
    assert body(growing())["why"]["sampled"] is None


@pytest.mark.parametrize(("value", "text"), [(0.5, "0.5"), (1 / 3, "0.333333…"), (2.0, "2"), (2 / 3, "0.666666…")])
def test_a_fraction_is_exact_or_says_that_it_was_cut(value: float, text: str) -> None:
    assert number(value) == text


def test_brackets_stand_where_they_are_needed_and_nowhere_else() -> None:
    a, b, c = (f.constant(n) for n in (6, 3, 2))
    for expression, text in (
        (f.by(f.times(a, b), c), "6×3÷2"),
        (f.times(a, f.by(b, c)), "6×(3÷2)"),
        (f.minus(a, f.minus(b, c)), "6−(3−2)"),
        (f.least(f.total(a, b), c), "min(6+3,2)"),
    ):
        (line,) = lines(Formula((Line(("x",), expression),)))
        assert "".join(token["text"] for token in line["tokens"]) == text


def test_amounts_in_formulas_are_exact() -> None:
    line = Line(("cpu",), f.total(Value(2250, "", "cpu"), Value(3 << 29, "", "memory")))
    assert [t["text"] for t in lines(Formula((line,)))[0]["tokens"]] == ["2.25", "+", "1.5Gi"]


# What if


def test_other_weights_are_told_with_who_leads_by_how_much_and_up_to_where_not() -> None:
    small, large = node("small", cpu="4"), node("large", cpu="16")
    large["spec"] = {"taints": [{"key": "k", "effect": "PreferNoSchedule"}]}
    sim = until(world(small, large, pod("web-1", cpu="2")), decided())
    columns = [plugin["name"] for plugin in body(sim)["plugins"]]
    weights = [
        0 if name == "TaintToleration" else w["weight"] for name, w in zip(columns, body(sim)["plugins"], strict=True)
    ]
    found = body(sim, weights=".".join(map(str, weights)))["what_if"]
    first, *more = found["sentences"]
    assert (first["values"]["node"], found["changed"]) == ("large", True)
    sums = {
        row["node"]: sum(cell["norm"] * weight for cell, weight in zip(row["cells"], weights, strict=True))
        for row in body(sim)["rows"]
    }
    assert first["values"]["total"] == sums["large"]
    assert first["values"]["ahead"] == sums["large"] - sums["small"]
    assert [message["text"] for message in more] == ["Down to ×%(weight)s, the node stays %(behind)s behind."]


def test_weights_that_do_not_fit_the_plugins_are_passed_over() -> None:
    found = body(growing(), weights="1.2")["what_if"]
    assert (found["changed"], [s["weight"] for s in found["sliders"]]) == (False, [s["was"] for s in found["sliders"]])


def test_where_one_weight_alone_would_change_the_winner_that_is_told_before_anything_is_moved() -> None:
    small, large = node("small", cpu="4"), node("large", cpu="16")
    large["spec"] = {"taints": [{"key": "k", "effect": "PreferNoSchedule"}]}
    told = body(until(world(small, large, pod("web-1", cpu="2")), decided()))["what_if"]["sentences"]
    assert "large" in {message.get("values", {}).get("node") for message in told}
