"""The queue stage: pools, groups, hints, the table; and that what is kept of groups is what grouping anew would give."""

from __future__ import annotations

import time
from typing import Any

import orjson
import pytest

from playground.presenters import Look, present
from playground.presenters.queues import groups
from playground.presenters.queues.groups import BY, PodGrouping, group_pods
from playground.presenters.scene import scheduler_of
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, FailCall, PatchObject, Ref
from scheduler_core.world.simulation import Grain, Simulation
from tests.playground.presenters.worlds import (
    begun,
    decided,
    many_nodes,
    node,
    pod,
    shown,
    tainted,
    three_nodes,
    until,
    world,
)


def stage(sim: Simulation, **look: Any) -> dict[str, Any]:
    return shown("stage", sim, **{"stage": "queue", **look})


def pool(sim: Simulation, name: str, **look: Any) -> dict[str, Any]:
    card: dict[str, Any] = stage(sim, **look)["cards"][f"pool-{name}"]
    return card


def sleepers(sim: Simulation, **look: Any) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = pool(sim, "unschedulable", **look)["groups"]
    return groups


def said(text: dict[str, Any]) -> str:
    return text.get("exact") or text["text"] % text.get("values", {})


def refused_world(*more: dict[str, Any]) -> Simulation:
    """Two pods that are too big, and one that no untainted node wants."""
    sim = three_nodes(pod("big-1", cpu="64"), pod("big-2", cpu="64"), pod("picky", nodeSelector={"gpu": "yes"}), *more)
    return until(sim, decided(3 + len(more)))


def test_active_pods_are_numbered_in_pop_order_with_priority_and_time() -> None:
    rows = pool(three_nodes(pod("low"), pod("high", priority=100)), "active")["rows"]
    assert [(row["number"], row["name"], row["priority"]) for row in rows] == [(1, "high", 100), (2, "low", 0)]


def test_behind_the_first_pods_of_a_crowd_stand_groups_by_priority() -> None:
    sim = world(node("a"), *(pod(f"api-{i}", priority=100) for i in range(6)), *(pod(f"etl-{i}") for i in range(40)))
    card = pool(sim, "active")
    behind = [(group["count"], said(group["title"]), group["families"]) for group in card["groups"]]
    assert (len(card["rows"]), behind) == (4, [(2, "priority 100", ["api"]), (40, "priority 0", ["etl"])])


@pytest.mark.parametrize(
    ("pods", "why"),
    [
        ((pod("one"),), "No other pod is in the active queue."),
        ((pod("one"), pod("two", priority=9)), "two is ahead of one: its priority is higher, 9 over 0."),
        (
            (pod("one"), pod("two")),
            "one and two have priority 0 and were queued at the same time. one was added first.",
        ),
    ],
)
def test_the_popped_pod_says_why_it_goes_before_the_next(pods: tuple[dict[str, Any], ...], why: str) -> None:
    sim = until(three_nodes(*pods), begun)
    assert said(pool(sim, "flight")["popped"]["first"]) == why


def test_a_pod_of_higher_priority_goes_first_however_late_it_was_queued() -> None:
    sim = until(three_nodes(pod("a"), pod("b"), pod("c")), decided())
    sim.apply(ApplyObjects((pod("urgent", priority=1000),)))
    until(sim, lambda w: w.journal.place("default/urgent") == "in flight")
    assert said(pool(sim, "flight")["popped"]["first"]).endswith("but is ahead: priority counts before time.")


def test_unschedulable_pods_are_grouped_by_kubes_reasons_with_plugins_and_events() -> None:
    found = sleepers(refused_world())
    assert [(group["count"], said(group["title"]), group["plugins"]) for group in found] == [
        (
            2,
            "Insufficient cpu, node(s) had untolerated taint {dedicated: infra}",
            ["NodeResourcesFit", "TaintToleration"],
        ),
        (
            1,
            "node(s) didn't match Pod's node affinity/selector, node(s) had untolerated taint {dedicated: infra}",
            ["NodeAffinity", "TaintToleration"],
        ),
    ]
    assert found[0]["events"] == [
        "PodDelete",
        "PodUpdatePodScaleDown",
        "NodeAdd",
        "NodeUpdateNodeAllocatable",
        "NodeUpdateNodeTaint",
        "PodUpdatePodToleration",
    ]


def test_they_can_be_grouped_by_owner_and_by_priority() -> None:
    sim = refused_world()
    assert [said(group["title"]) for group in sleepers(sim, by="owner")] == ["no owner"]
    assert [(group["count"], said(group["title"])) for group in sleepers(sim, by="priority")] == [(3, "priority 0")]


def test_an_event_tells_of_each_group_what_its_hints_said() -> None:
    sim = until(world(node("a"), pod("big", cpu="64"), pod("picky", nodeSelector={"gpu": "yes"})), decided(2))
    sim.apply(ApplyObjects((node("vast", cpu="128"),)))
    hints = {said(group["title"])[:12]: group["said"] for group in sleepers(sim)}
    queued, skipped = hints["Insufficient"][0], hints["node(s) didn"][0]
    assert (queued["answer"], queued["event"], queued["hint"]) == ("Queue", "NodeAdd", "isSchedulableAfterNodeChange")
    assert (skipped["answer"], skipped["plugin"]) == ("Skip", "NodeAffinity")


def test_a_group_leads_to_its_first_pod_and_is_marked_when_that_is_chosen() -> None:
    sim = refused_world()
    first = sleepers(sim)[0]["first"]
    assert first == "default/big-1"
    assert [group["chosen"] for group in sleepers(sim, pod=first)] == [True, False]


def test_the_table_stands_in_the_order_of_a_column_one_window_at_a_time() -> None:
    sim = many_nodes(3, pods=60)
    table = stage(sim, form="table", sort="-pod", page=1)["context"]["body"]["table"]
    assert (table["first"], table["last"], table["total"], table["rows"][-1]["name"]) == (51, 60, 60, "web-0")
    heads = {column["name"]: (column["sort"], column["order"]) for column in table["columns"]}
    assert heads["pod"] == ("pod", "descending") and heads["priority"] == ("priority", "")


def test_the_table_shows_the_pods_that_are_searched_for() -> None:
    table = stage(three_nodes(pod("one"), pod("two")), form="table", q="tw")["context"]["body"]["table"]
    assert [row["name"] for row in table["rows"]] == ["two"]


def test_what_is_kept_of_groups_is_what_grouping_anew_would_give() -> None:
    sim = world(
        node("free", cpu="4"),
        tainted("infra", cpu="8"),
        *(pod(f"p{i}", cpu="1", priority=i % 3) for i in range(12)),
        *(pod(f"big-{i}", cpu=str(10 * (i % 2 + 1))) for i in range(5)),
        *(pod(f"gated-{i}", schedulingGates=[{"name": "a"}, {"name": "b"}]) for i in range(3)),
    )
    sim.apply(FailCall("bind", "default/p1", 409))
    gate = Ref("Pod", "default", "gated-1")
    changes = {
        30: PatchObject(gate, {"spec": {"schedulingGates": [{"name": "b"}]}}),
        60: ApplyObjects((node("more", cpu="10"),)),
        80: DeleteObjects((Ref("Pod", "default", "big-1"),)),
        90: PatchObject(gate, {"spec": {"schedulingGates": None}}),
    }
    for step in range(160):
        if step in changes:
            sim.apply(changes[step])
        sim.advance()
        assert_as_anew(sim)


def test_groups_of_another_step_begin_with_those_that_were_looked_at_last() -> None:
    crowd = [pod(f"p{i}", priority=i % 3) for i in range(20)]
    sim = three_nodes(*crowd, *(pod(f"big-{i}", cpu="64") for i in range(9)))
    past = []
    while not sim.idle:
        past.append(sim.fork())
        sim.step(Grain.POD)
    for i in range(3 * len(past)):
        assert_as_anew(past[i * 7 % len(past)])
    assert_as_anew(three_nodes(*crowd))


def assert_as_anew(sim: Simulation) -> None:
    for place, by in (("active", "priority"), ("unschedulable", "reason"), ("gated", "gate")):
        scheduler = scheduler_of(sim)
        kept, anew = plain(group_pods(sim, scheduler, place, by)), PodGrouping()
        entries = groups._PLACES[place](scheduler.queue)
        anew.update(entries, lambda entry, by=by: BY[by](sim, entry), [])
        assert kept == plain(anew), sim.position


def plain(found: PodGrouping) -> list[tuple[Any, ...]]:
    return [(group.label, list(group.pods), dict(group.families)) for group in found]


def test_a_crowd_is_shown_by_few_cards() -> None:
    sim = many_nodes(3, pods=3000)
    sim.step(Grain.CALL)
    present("stage", sim, Look(stage="queue"))
    sim.step(Grain.POD)
    began = time.perf_counter()
    panel = present("stage", sim, Look(stage="queue"))
    assert time.perf_counter() - began < 0.1
    assert len(orjson.dumps(panel.to_json())) < 10_000
