"""The preemption stage: the ladder, the cursor over the dry run, and why there is nothing to see."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.playground.preemption_world import objects, priority_class, running
from tests.playground.presenters.worlds import decided, node, pod, ran, shown, three_nodes, until, world

KEY = "default/ml-train-0"


def preempted() -> Simulation:
    return until(world(*objects()), decided())


def tab(sim: Simulation, **look: Any) -> dict[str, Any]:
    body: dict[str, Any] = shown("stage", sim, stage="preemption", **look)["context"]["body"]
    return body


def cells(body: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    return {row["node"]: [(c["state"], c["text"]) for c in row["cells"]] for row in body["rows"]}


def test_each_candidate_falls_at_the_criterion_where_it_lost() -> None:
    body = tab(preempted())
    rows = cells(body)
    assert body["rows"][0]["node"] == "node-b2" and body["rows"][0]["best"]
    assert rows["node-b2"] == [("kept", "0"), ("kept", "0"), ("kept", "0"), ("kept", "2"), ("kept", "00:00:00")]
    assert rows["node-a1"][:3] == [("kept", "0"), ("lost", "100"), ("", "")]
    assert rows["node-c3"][:2] == [("lost", "1"), ("", "")]


def test_the_dry_run_tells_who_is_kept_and_which_plugin_makes_a_victim() -> None:
    run = tab(preempted())["shown"]
    assert run["node"] == "node-b2"
    texts = [event["line"]["text"].partition(" ")[0] for event in run["events"]]
    assert texts[:2] == ["remove", "filter:"] and set(texts[2:]) == {"reprieve"}
    events = [(e["mark"], e["line"]["values"].get("pod"), e.get("by")) for e in run["events"]]
    assert ("yes", "web-2", "") in events
    assert ("no", "batch-7", "NodeResourcesFit") in events


def test_another_candidate_is_shown_where_its_node_is_chosen() -> None:
    run = tab(preempted(), node="node-c3")["shown"]
    assert (run["node"], run["violations"]) == ("node-c3", 1)
    assert run["events"][-1]["budget"] is True


def test_the_cursor_builds_the_table_up_record_by_record() -> None:
    sim = preempted()
    last = tab(sim)["cursor"]["of"]
    known: list[int] = []
    for at in range(1, last + 1):
        body = tab(sim, dry=at)
        known.append(len(body["rows"]))
        assert sum(event["now"] for event in body["shown"]["events"]) == (body["now"] is None)
        assert any(row["best"] for row in body["rows"]) == (at == last)
    assert known == sorted(known) and known[0] == 1 and known[-1] == 3
    assert cells(tab(sim, dry=last)) == cells(tab(sim))


def test_the_cursor_goes_from_candidate_to_candidate_and_on_to_the_choice() -> None:
    sim, at, stations = preempted(), 1, [1]
    while (at := tab(sim, dry=at)["cursor"]["candidate_on"]) > 0:
        stations.append(at)
    assert len(stations) == 4
    assert tab(sim, dry=stations[1])["cursor"]["candidate_back"] == 1
    assert tab(sim, dry=stations[3])["now"]["line"]["values"].keys() == {"best", "k", "n"}


def test_a_cursor_beyond_the_end_stands_at_the_end() -> None:
    body = tab(preempted(), dry=10_000)
    assert body["cursor"]["at"] == body["cursor"]["of"]


def test_the_bar_shows_what_stays_what_comes_and_who_goes() -> None:
    bar = tab(preempted())["shown"]["room"]
    assert (bar["resource"], bar["needs"], bar["has"]) == ("cpu", "6", "8")
    assert [(s["kind"], s["text"]) for s in bar["segments"]] == [
        ("stays", "2"),
        ("pod", "6"),
        ("gone", "3"),
        ("gone", "3"),
    ]


def test_nodes_that_are_no_candidates_say_why() -> None:
    more = [node("node-x", cpu="8"), running("boss", "node-x", "8", 3000)]
    body = tab(until(world(*objects(), *more), decided()))
    assert body["helpless"] == 2  # the tainted one, and the one that is too small even when empty
    assert [(g["text"], g["count"]) for g in body["rejected"]] == [("No preemption victims found for incoming pod", 1)]


def test_who_is_nominated_where_is_listed_for_every_pod() -> None:
    sim = preempted()
    assert [(n["key"], n["node"]) for n in tab(sim, pod="default/web-1")["nominations"]] == [(KEY, "node-b2")]


@pytest.mark.parametrize(("cpu", "kind"), [("2", "not needed"), ("64", "useless")])
def test_a_pod_that_has_a_node_needs_no_preemption(cpu: str, kind: str) -> None:
    assert tab(until(three_nodes(pod("p", cpu=cpu)), decided()))["kind"] == kind


def test_at_the_first_post_filter_plugin_victims_are_still_to_be_looked_for() -> None:
    assert tab(until(world(*objects()), ran("PostFilter", "DynamicResources")))["kind"] == "at hand"


def test_the_records_of_a_dry_run_are_steps_only_while_its_plugin_has_just_run() -> None:
    sim = until(world(*objects()), ran("PostFilter", "DefaultPreemption"))
    assert tab(sim)["cursor"]["here"]
    sim.advance()
    assert not tab(sim)["cursor"]["here"]


def test_another_pods_last_attempt_is_one_link_away() -> None:
    sim = preempted()
    goto = sim.journal.attempts[0].last_position
    sim.apply(_more("late"))
    until(sim, decided(2))
    body = tab(sim, pod=KEY)
    assert (body["kind"], body["goto"]) == ("elsewhere", goto)


def _more(name: str) -> ApplyObjects:
    return ApplyObjects((pod(name, cpu="100m"),))


def test_the_map_shows_candidates_victims_and_the_nominated_pod_as_a_ghost() -> None:
    cards = shown("map", preempted())["cards"]
    assert {n for n in cards if cards[n].get("state") == "cand"} == {"node-node-a1", "node-node-b2", "node-node-c3"}
    best = cards["node-node-b2"]
    assert [p["key"] for p in best["chips"] if p["victim"]] == ["default/batch-7", "default/batch-8"]
    assert [p["key"] for p in best["ghosts"]] == [KEY]
    assert not any(p["victim"] for p in cards["node-node-a1"]["chips"])


def test_the_ghost_goes_when_the_pod_has_come() -> None:
    sim = until(preempted(), lambda w: bool(w.store.pod_at(KEY).node_name), most=2000)
    assert all(not card.get("ghosts") for card in shown("map", sim)["cards"].values())


def columns(sim: Simulation, **look: Any) -> dict[str, dict[str, Any]]:
    return {column["node"]: column for column in tab(sim, **look)["theatre"]["columns"]}


def states(column: dict[str, Any]) -> list[str]:
    return [cell["state"] for cell in column["rungs"]]


def test_a_column_of_the_theatre_ends_where_its_candidate_drops_out() -> None:
    found = columns(preempted())
    assert [node for node, column in found.items() if column["best"]] == ["node-b2"]
    assert states(found["node-a1"]) == ["kept", "lost", "", "", ""]
    assert states(found["node-c3"]) == ["lost", "", "", "", ""]
    assert states(found["node-b2"]) == ["kept", "kept", "alone", "alone", "alone"]


def test_the_theatre_reprieves_one_by_one_and_says_who_cannot_stay_and_why() -> None:
    pods = columns(preempted())["node-b2"]["reprieves"]
    assert [(p["key"], p["kept"], p["priority"], p["amount"]) for p in pods] == [
        ("default/web-2", True, 1000, "2"),
        ("default/batch-7", False, 0, "3"),
        ("default/batch-8", False, 0, "3"),
    ]
    assert (pods[1]["plugin"], pods[1]["reason"]) == ("NodeResourcesFit", "Insufficient cpu")
    assert columns(preempted())["node-c3"]["reprieves"][0]["budget"] is True


def test_the_bar_of_a_column_fills_as_its_pods_are_put_back() -> None:
    sim = preempted()

    def bar(dry: int) -> list[tuple[str, str]]:
        return [(part["kind"], part["text"]) for part in columns(sim, dry=dry)["node-b2"]["bar"]]

    first = columns(sim)["node-b2"]["removed"]["number"]
    assert bar(first) == []
    assert bar(first + 1) == [("pod", "6")]
    assert bar(first + 2) == [("pod", "6"), ("kept", "2")]


def test_each_number_of_the_theatre_leads_to_where_it_comes_from() -> None:
    column = next(column for column in columns(preempted()).values() if column["best"])
    leads = [{name: cell[name] for name in ("pod", "field", "sum") if name in cell} for cell in column["rungs"]]
    victims = [victim["key"] for victim in column["victims"]]
    assert leads[1] == {"pod": victims[0], "field": "spec.priority"}
    assert leads[2]["sum"].count(" + ") == len(victims) - 1
    assert leads[4]["field"] == "status.startTime" and leads[4]["pod"] in victims


def test_a_cursor_leaves_later_columns_and_criteria_ahead() -> None:
    found = columns(preempted(), dry=1)
    assert [column["ahead"] for column in found.values()] == [False, True, True]
    assert {state for column in found.values() for state in states(column)} == {"ahead"}


def crowd(count: int) -> Simulation:
    """So many nodes alike but for the priority of the one pod that would have to go."""
    nodes = [node(f"node-{i:02}", cpu="4") for i in range(count)]
    pods = [running(f"low-{i:02}", f"node-{i:02}", "4", i) for i in range(count)]
    sim = world(*nodes, *pods, priority_class("high", 2000), pod("p", cpu="4", priorityClassName="high"))
    return until(sim, decided())


def test_of_many_candidates_four_are_shown_and_the_others_counted_where_they_drop_out() -> None:
    theatre = tab(crowd(20))["theatre"]
    assert len(theatre["columns"]) == 4
    assert [rung["more"] for rung in theatre["rungs"]] == [0, 16, 0, 0, 0]
    assert sum(column["best"] for column in theatre["columns"]) == 1


def test_the_candidate_at_the_cursor_is_always_among_those_shown() -> None:
    sim = crowd(20)
    for dry in (1, 20, 40, 60):
        body = tab(sim, dry=dry)
        assert body["shown"]["node"] in columns(sim, dry=dry)


def test_a_node_on_which_even_removing_all_does_not_help_ends_at_once() -> None:
    more = [node("node-x", cpu="8"), running("boss", "node-x", "4", 3000), running("tiny", "node-x", "1")]
    column = columns(until(world(*objects(), *more), decided()))["node-x"]
    assert (column["kind"], column["removed"]["count"]) == ("rejected", 1)
    assert column["reason"] == "Insufficient cpu"


def test_the_budgets_of_pods_that_might_go_are_told() -> None:
    found = tab(preempted())["budgets"]
    assert [(row["name"], row["allowed"]) for row in found["rows"]] == [("db", 0)]
    assert (found["without"], found["pods"]) == (4, 5)


def test_until_it_lands_the_grace_periods_count_down_and_the_nomination_is_kept() -> None:
    sim = preempted()
    lands = tab(sim)["lands"]
    assert (lands["node"], lands["nominated"], lands["on"]) == ("node-b2", True, "")
    assert [victim["state"] for victim in lands["victims"]] == ["waits", "waits"]
    until(sim, lambda w: all(p.deleting for p in w.store.pods() if p.name.startswith("batch")))
    lands = tab(sim)["lands"]
    assert [(v["state"], v["grace"]) for v in lands["victims"]] == [("ends", "30 s")] * 2
    assert (lands["evicted"]["state"], lands["ended"]["state"]) == ("done", "now")
    until(sim, lambda w: bool(w.store.pod_at(KEY).node_name), most=2000)
    lands = tab(sim, pod=KEY)["lands"]
    assert (lands["on"], lands["nominated"]) == ("node-b2", False)
    assert [v["state"] for v in lands["victims"]] == ["gone", "gone"]
    assert [lands[part]["state"] for part in ("evicted", "ended", "queued")] == ["done"] * 3


def test_the_map_follows_the_cursor_through_the_dry_run() -> None:
    sim = preempted()
    first = columns(sim)["node-c3"]["removed"]["number"]
    cards = shown("map", sim, dry=first)["cards"]
    assert [name for name, card in cards.items() if card.get("state") == "cand"] == ["node-node-c3"]
    assert [p["key"] for p in cards["node-node-c3"]["chips"] if p["victim"]] == ["default/db-3"]
    assert [p["key"] for p in cards["node-node-c3"]["ghosts"]] == [KEY]
