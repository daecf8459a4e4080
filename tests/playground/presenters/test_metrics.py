"""The metrics page as data: tiles, charts with their tables, the list and its filter."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from playground.common.catalogs import read_yaml
from playground.features.metrics.presenter import HINTS, present
from playground.features.metrics.worker import metrics_of
from scheduler_core.scheduler.metrics.catalogue import BY_NAME
from scheduler_core.world.commands import SetSettings
from scheduler_core.world.simulation import Simulation
from tests.playground.presenters.worlds import world
from tests.scheduler_core.worlds import node, pod, settle


def shown(sim: Simulation, q: str = "") -> dict[str, Any]:
    """The page, from data as it comes from a worker."""
    return present(orjson.loads(orjson.dumps(metrics_of(sim, ""))), q)


def run_world() -> Simulation:
    sim = world(node("a"), node("b"), *(pod(f"p{i}", cpu="100m") for i in range(30)), pod("big", cpu="9"))
    settle(sim)
    return sim


def chart(page: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [one for one in page["charts"] if one["id"] == name]
    return found


def test_a_world_in_which_nothing_was_tried_says_so_and_draws_nothing() -> None:
    page = shown(world(node("a")))
    assert page["empty"]
    assert not any(one["figure"] for one in page["charts"])


def test_tiles_tell_what_happened() -> None:
    tiles = {tile["title"]: tile["value"] for tile in shown(run_world())["tiles"]}
    assert tiles["pods bound"] == "30"
    assert tiles["attempts"] == "31"
    assert tiles["pods pending"] == "1"


@pytest.mark.parametrize("name", ["incoming", "attempt-duration", "sli", "tries"])
def test_every_chart_that_is_drawn_has_a_table_of_the_same_series(name: str) -> None:
    drawn = chart(shown(run_world()), name)
    assert drawn["rows"]
    assert all(len(row) == len(drawn["head"]) for row in drawn["rows"])
    assert len(drawn["figure"]["data"]) == len(drawn["head"]) - 1


def test_a_histogram_is_drawn_from_its_first_to_its_last_bucket() -> None:
    drawn = chart(shown(run_world()), "attempt-duration")
    assert drawn["figure"]["data"][0]["x"] == ["≤ 1 ms", "≤ 2 ms", "≤ 4 ms", "≤ 8 ms", "≤ 16 ms"]


@pytest.mark.parametrize(("q", "count"), [("", 35), ("preemption", 5), ("QUEUE gauge", 2), ("no such word", 0)])
def test_the_filter_looks_for_every_word_in_name_labels_and_help(q: str, count: int) -> None:
    assert len(shown(world(node("a")), q)["metrics"]) == count


def test_a_metric_whose_gate_is_off_says_so() -> None:
    sim = world(node("a"))
    sim.apply(SetSettings({"async_api_calls": False}))
    off = {one["metric"].name for one in shown(sim)["metrics"] if not one["registered"]}
    newer = {name for name, metric in BY_NAME.items() if metric.behavior is not None}
    assert off - newer == {name for name, metric in BY_NAME.items() if metric.gate == "async_api_calls"}


def test_hints_are_about_metrics_that_exist() -> None:
    hints = read_yaml(HINTS)
    assert hints and set(hints) <= set(BY_NAME)
    assert all(name in query for name, queries in hints.items() for query in queries)
