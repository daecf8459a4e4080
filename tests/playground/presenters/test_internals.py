"""What is otherwise unseen: cache, in-flight events, nominator, CycleState."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from playground.features.journey.presenter import brief
from playground.presenters.words import in_english
from scheduler_core.scheduler.framework.status import Code
from scheduler_core.world.commands import ApplyObjects, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.playground.presenters.worlds import node, pod, shown, three_nodes, until, world
from tests.scheduler_core.worlds import settle


def body(sim: Simulation, part: str) -> Any:
    return shown("inspector", sim, tab="journey")["context"]["body"]["internals"][part]


def at(place: str, key: str = "default/web-1") -> Any:
    return lambda sim: sim.journal.place(key) == place


def test_an_assumed_pod_tells_since_when_and_that_it_never_expires() -> None:
    sim = until(three_nodes(), at("binding"))
    assumed = body(sim, "cache")["assumed"][0]
    assert (assumed["name"], assumed["node"], assumed["phase"]) == ("web-1", "free", "PreBind")
    assert (assumed["since"], assumed["deadline"], assumed["finished"]) == ("00:00:00.001", "", False)


def test_the_snapshot_copies_only_the_rows_that_changed() -> None:
    sim = three_nodes(pod("web-1"), pod("web-2"))
    assert body(until(sim, at("in flight")), "cache")["whole"] is True
    cache = body(until(sim, at("in flight", "default/web-2")), "cache")
    assert [(row["node"], row["pod"]) for row in cache["rows"]] == [("free", "web-1")]
    assert cache["generation"] >= cache["copied"] > 0


def test_what_changed_after_the_snapshot_waits_for_the_next_one() -> None:
    sim = until(three_nodes(), at("binding"))
    cache = body(sim, "cache")
    assert [(row["node"], row["change"]) for row in cache["pending"]] == [("free", "pod added")]
    assert cache["generation"] == cache["copied"] + 1


def test_an_event_stands_behind_the_markers_of_the_pods_that_it_is_kept_for() -> None:
    sim = world(node("n"))
    sim.apply(SetSettings({"demonstration": True}))
    sim.apply(ApplyObjects((pod("waits", annotations={"playground.dev/permit": "wait:1m"}),)))
    until(sim, at("waiting on permit", "default/waits"))
    sim.apply(ApplyObjects((node("late"),)))
    rows = body(sim, "flight")["rows"]
    assert rows[0]["pod"] == "default/waits"
    assert (rows[-1]["event"], rows[-1]["object"], rows[-1]["waiting"]) == ("NodeAdd", "late", 1)


def test_the_nominator_tells_whom_it_has_promised_which_node() -> None:
    sim = world(node("n", cpu="2"), pod("low", cpu="2"))
    settle(sim)
    sim.apply(ApplyObjects((pod("high", cpu="2", priority=7),)))
    sim.run(until=lambda w: bool(w.schedulers[0].queue.nominator.nodes()))
    found = body(sim, "nominator")["nodes"][0]
    assert found["node"] == "n"
    assert [(p["name"], p["priority"]) for p in found["pods"]] == [("high", 7)]


def test_what_kube_leaves_under_no_node_is_listed() -> None:
    sim = three_nodes(pod("huge", cpu="64"))
    until(sim, at("unschedulable", "default/huge"))
    assert body(sim, "nominator")["left"] == ["huge"]


def test_cycle_state_is_asked_for_the_present_cycle() -> None:
    assert body(three_nodes(), "state") is None
    assert body(until(three_nodes(), at("in flight")), "state")["key"] == "default/web-1"


@dataclass
class Kept:
    """Something that a plugin might keep."""

    names: tuple[str, ...]
    counts: Any


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "none"),
        (True, "yes"),
        (3, "3"),
        ("text", '"text"'),
        (np.zeros((5, 2), np.int64), "5 entries"),
        ({"a": 1}, "1 entry"),
        ((), "none"),
        (Code.UNSCHEDULABLE, "unschedulable"),
        (Kept(("a", "b"), np.zeros(4, np.int32)), "names: 2 entries; counts: 4 entries"),
        (Kept((), Kept((), 1)), "names: none; counts: 2 fields"),
    ],
)
def test_a_value_is_summarized_in_words(value: Any, said: str) -> None:
    assert in_english(brief(value)) == said
