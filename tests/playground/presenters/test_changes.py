"""What changed between two steps."""

from __future__ import annotations

from typing import Any

from playground.features.diff.presenter import compare, walk
from scheduler_core.world.commands import command_from_json
from scheduler_core.world.simulation import Grain, Simulation
from tests.playground.presenters.worlds import empty_world
from tests.playground.sessions.worlds import applying, node, pod


def world(*objects: dict[str, Any]) -> Simulation:
    sim = empty_world()
    sim.apply(command_from_json(applying(*objects)))
    return sim


def row(found: dict[str, Any], key: str) -> dict[str, tuple[str, str]]:
    """The lines of one object: path -> (before, after)."""
    one = next(one for one in found["rows"] if one["key"] == key)
    return {line["path"]: (line["before"], line["after"]) for line in one["lines"]}


def test_a_placement_shows_at_the_pod_and_at_its_node() -> None:
    after = world(node("n0"), node("n1", cpu="1"), pod("p", cpu="2"))
    before = after.fork()
    after.run()
    found = compare(before, after)
    values = row(found, "default/p")
    assert values["spec.nodeName"] == ("", "n0")
    assert values["place"] == ("active", "running")
    assert values["status.phase"] == ("Pending", "Running")
    assert row(found, "n0") == {"requested cpu": ("0", "2"), "pods": ("0", "1")}
    assert [one["key"] for one in found["rows"]] == ["default/p", "n0"]


def test_an_assumed_pod_is_told_before_the_api_server_knows() -> None:
    after = world(node("n0"), pod("p"))
    before = after.fork()
    while not after.schedulers[0].cache.assumed:
        after.step(Grain.CALL)
    assert row(compare(before, after), "default/p")["assumed on"] == ("", "n0")


def test_a_condition_is_told_by_its_type_with_status_reason_and_message() -> None:
    after = world(node("n0"), pod("huge", cpu="64"))
    before = after.fork()
    after.run()
    was, now = row(compare(before, after), "default/huge")["status.conditions[PodScheduled]"]
    assert was == "" and now.startswith("False Unschedulable 0/1 nodes are available")


def test_created_and_deleted_objects_are_named_without_their_contents() -> None:
    before, after = world(node("n0"), pod("gone")), world(node("n0"), pod("come"))
    what = {one["key"]: (one["what"], one["lines"]) for one in compare(before, after)["rows"]}
    assert what["default/gone"][0] == "deleted" and what["default/come"][0] == "created"


def test_queues_tell_who_came_who_left_and_a_new_order() -> None:
    after = world(node("n0"), pod("a"), pod("b"))
    before = after.fork()
    first = pod("urgent")
    first["spec"]["priority"] = 1000
    after.apply(command_from_json(applying(first)))
    [active] = compare(before, after)["queues"]
    assert (active["place"], active["was"], active["now"], active["came"]) == ("active", 2, 3, ["default/urgent"])
    assert active["order"] is None
    empty = compare(after, before)["queues"][0]
    assert empty["left"] == ["default/urgent"]


def test_a_taint_is_told_by_its_key() -> None:
    old = {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}
    new = {"spec": {"taints": [{"key": "a", "effect": "NoExecute"}, {"key": "b", "effect": "NoSchedule"}]}}
    values = {line["path"]: (line["before"], line["after"]) for line in walk("", old, new)}
    assert values == {
        "spec.taints[a].effect": ("NoSchedule", "NoExecute"),
        "spec.taints[b]": ("", "{key: b, effect: NoSchedule}"),
    }


def test_of_two_taints_with_one_key_none_is_lost() -> None:
    execute, schedule = ({"key": "a", "effect": effect} for effect in ("NoExecute", "NoSchedule"))
    [line] = walk("", {"taints": [execute, schedule]}, {"taints": [schedule]})
    assert line == {
        "path": "taints",
        "before": "[{key: a, effect: NoExecute}, {key: a, effect: NoSchedule}]",
        "after": "[{key: a, effect: NoSchedule}]",
    }


def test_a_kind_and_a_part_of_the_name_choose_rows_and_the_kinds_are_counted_all() -> None:
    after = world(node("n0"), pod("a"), pod("b"))
    before = after.fork()
    after.run()
    found = compare(before, after, kind="Pod", q="/a")
    assert [one["key"] for one in found["rows"]] == ["default/a"]
    assert found["kinds"] == {"Pod": 2, "Node": 1}


def test_nothing_differs_between_a_world_and_itself() -> None:
    sim = world(node("n0"), pod("a"))
    found = compare(sim, sim.fork())
    assert (found["rows"], found["queues"], found["settings"]) == ([], [], [])
