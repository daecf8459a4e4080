"""The preemption stage: the ladder, the cursor over the dry run, and why there is nothing to see."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.commands import ApplyObjects
from scheduler_core.simulation import Simulation
from tests.playground.preemption_world import objects, priority_class, running
from tests.playground.presenters.worlds import decided, node, pod, shown, three_nodes, until, world

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
    assert rows["node-b2"] == [
        ("kept", "0"),
        ("kept", "0"),
        ("kept", "0"),
        ("kept", "2"),
        ("kept", "00:00:00"),
    ]
    assert rows["node-a1"][:3] == [("kept", "0"), ("lost", "100"), ("", "")]
    assert rows["node-c3"][:2] == [("lost", "1"), ("", "")]


def test_the_dry_run_tells_who_is_kept_and_which_plugin_makes_a_victim() -> None:
    run = tab(preempted())["shown"]
    assert run["node"] == "node-b2"
    events = [(e["kind"], e.get("pod"), e.get("by")) for e in run["events"]]
    assert events[0][0] == "remove" and events[1][0] == "filter"
    assert ("kept", "default/web-2", "") in events
    assert ("victim", "default/batch-7", "NodeResourcesFit") in events


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
        known.append(body["looked_at"])
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
    assert tab(sim, dry=stations[3])["now"]["kind"] == "criterion"


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
    assert [(g["text"], g["count"]) for g in body["rejected"]] == [
        ("No preemption victims found for incoming pod", 1)
    ]


def test_who_is_nominated_where_is_listed_for_every_pod() -> None:
    sim = preempted()
    assert [(n["key"], n["node"]) for n in tab(sim, pod="default/web-1")["nominations"]] == [(KEY, "node-b2")]


def test_a_pod_that_must_not_preempt_is_told_so() -> None:
    polite = priority_class("polite", 10, preemptionPolicy="Never")
    sim = until(world(node("a", cpu="1"), polite, pod("p", cpu="2", priorityClassName="polite")), decided())
    body = tab(sim)
    assert body["kind"] == "not eligible"
    assert "preemptionPolicy=Never" in body["message"]


def test_where_nobody_could_make_room_it_is_not_helpful() -> None:
    assert tab(until(three_nodes(pod("huge", cpu="64")), decided()))["kind"] == "not helpful"


@pytest.mark.parametrize(("cpu", "kind"), [("2", "not needed"), ("64", "not helpful")])
def test_a_pod_that_has_a_node_needs_no_preemption(cpu: str, kind: str) -> None:
    assert tab(until(three_nodes(pod("p", cpu=cpu)), decided()))["kind"] == kind


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
    assert {n for n in cards if cards[n].get("state") == "cand"} == {
        "node-node-a1",
        "node-node-b2",
        "node-node-c3",
    }
    best = cards["node-node-b2"]
    assert [p["key"] for p in best["chips"] if p["victim"]] == ["default/batch-7", "default/batch-8"]
    assert [p["key"] for p in best["ghosts"]] == [KEY]
    assert not any(p["victim"] for p in cards["node-node-a1"]["chips"])


def test_the_ghost_goes_when_the_pod_has_come() -> None:
    sim = until(preempted(), lambda w: bool(w.store.pod_at(KEY).node_name), most=2000)
    assert all(not card.get("ghosts") for card in shown("map", sim)["cards"].values())
