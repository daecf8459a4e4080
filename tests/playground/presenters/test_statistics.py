"""The statistics page as data: what worlds made by hand amount to."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from playground.features.metrics.statistics import present
from playground.features.metrics.worker import by_plugin, statistics_of
from scheduler_core.world.simulation import Simulation
from tests.playground.presenters.worlds import world
from tests.scheduler_core.worlds import node, pod, settle


def shown(sim: Simulation) -> dict[str, Any]:
    """The page, from data as it comes from a worker."""
    return present(orjson.loads(orjson.dumps(statistics_of(sim, ""))))


def run_world() -> Simulation:
    """Thirty pods that fit on one of two nodes, and one that is too large for it; the other node is tainted."""
    tainted = node("b", cpu="2")
    tainted["spec"] = {"taints": [{"key": "k", "effect": "NoSchedule"}]}
    sim = world(node("a"), tainted, *(pod(f"p{i}", cpu="100m") for i in range(30)), pod("big", cpu="9"))
    settle(sim)
    return sim


def chart(page: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [one for one in page["charts"] if one["id"] == name]
    return found


def lines(drawn: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each["y"] for each in drawn["figure"]["data"]}


def test_a_world_without_nodes_and_pods_has_nothing_to_draw() -> None:
    page = shown(world())
    assert page["empty"]
    assert page["amounts"] == []
    assert not any(one["figure"] or one["rows"] for one in page["charts"])


def test_utilisation_is_what_is_requested_of_what_is_allocatable() -> None:
    drawn = chart(shown(run_world()), "use")
    assert lines(drawn)["cpu"][0] == 0
    assert lines(drawn)["cpu"][-1] == 50.0  # 3 of 6 cpus
    assert drawn["csv"][0] == ["virtual_time_ns", "resource", "requested", "allocatable"]
    assert drawn["csv"][1][-3][1:] == ["cpu", 3000, 6000]


def test_a_resource_with_a_long_name_is_drawn_too() -> None:
    gpus = node("a")
    gpus["status"]["allocatable"] = {**gpus["status"]["allocatable"], "nvidia.com/gpu": "8"}
    wants = pod("p")
    wants["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "2"}}
    sim = world(gpus, wants)
    settle(sim)
    assert lines(chart(shown(sim), "use"))["nvidia.com/gpu"][-1] == 25.0


def test_fragmentation_is_what_no_average_pod_can_use_of_what_is_free() -> None:
    sim = world(node("a", cpu="2"), node("b", cpu="8"), pod("p", cpu="2", nodeName="a"))
    page = shown(sim)
    assert lines(chart(page, "stranded"))["memory"][-1] == 50.0
    (memory,) = [row for row in page["amounts"] if row["resource"] == "memory"]
    assert (memory["free"], memory["stranded"], memory["share"]) == ("16Gi", "8Gi", "50 %")


def test_a_curve_ends_soon_after_its_last_change() -> None:
    drawn = chart(shown(run_world()), "attempts")
    xs = drawn["figure"]["data"][0]["x"]
    assert xs[-1] < 60  # ms; the world goes on for seconds, until the pods run


def test_queues_and_attempts_end_at_the_present() -> None:
    page = shown(run_world())
    assert [line["y"][-1] for line in chart(page, "attempts")["figure"]["data"]] == [30, 1, 0]
    assert chart(page, "pending")["rows"][-1][1:] == ["0", "0", "1", "0"]


def test_refusals_are_counted_by_plugin_and_by_kubes_reason() -> None:
    page = shown(run_world())
    assert {name: counts[-1] for name, counts in lines(chart(page, "refused")).items()} == {
        "NodeResourcesFit": 1,
        "TaintToleration": 1,
    }
    assert chart(page, "reasons")["rows"] == [["Insufficient cpu", "1"], ["node(s) had untolerated taint {k: }", "1"]]


def test_the_refusals_of_a_plugin_add_up_over_time() -> None:
    class Ended:
        def __init__(self, ended: int, *plugins: str) -> None:
            self.ended, self.plugins = ended, plugins

    attempts = [Ended(1, "A"), Ended(5, "A", "B"), Ended(9, "B"), Ended(20, "A")]
    assert by_plugin(attempts, [0, 5, 10]) == {"A": [0, 2, 3], "B": [0, 1, 2]}


def test_plugins_have_their_calls_answers_and_virtual_time() -> None:
    answers = chart(shown(run_world()), "answers")
    assert ["NodeResourcesFit", "Filter", "UnschedulableAndUnresolvable", "1", "0 s"] in answers["rows"]
    assert ["DefaultBinder", "Bind", "Success", "30", "150 ms"] in answers["rows"]
    assert [line["name"] for line in answers["figure"]["data"]]


def test_a_long_curves_table_is_short_and_its_csv_has_all() -> None:
    drawn = chart(shown(run_world()), "attempts")
    assert len(drawn["rows"]) <= 20 < len(drawn["csv"][1])


@pytest.mark.parametrize("name", ["use", "stranded", "pending", "attempts", "refused", "evaluations", "times"])
def test_every_chart_that_is_drawn_has_a_table_of_the_same_series(name: str) -> None:
    drawn = chart(shown(run_world()), name)
    assert all(len(row) == len(drawn["head"]) for row in drawn["rows"])
    assert len(drawn["figure"]["data"]) == len(drawn["head"]) - 1
    assert all(len(row) == len(drawn["csv"][0]) for row in drawn["csv"][1])
