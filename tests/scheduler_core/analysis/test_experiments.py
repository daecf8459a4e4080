"""Experiments: the same rows wherever they are made, what variants change, and what a run measures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from scheduler_core.analysis.experiments import Experiment, list_runs, make_run
from scheduler_core.formats.export.tables import write_csv
from tests.scheduler_core.worlds import configuration, node, pod

MOST = {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}}
PACKED = configuration(profiles=[{"pluginConfig": [{"name": "NodeResourcesFit", "args": MOST}]}])
WORLD = {"name": "w", "nodes": {"m": 4}, "pods": [{"count": 12, "cpu": ["500m", "1"]}], "shuffle": True}
DATA = {
    "nodeTypes": [{"name": "m", "capacity": {"cpu": 4, "memory": "8Gi"}, "price": 0.5}],
    "worlds": [WORLD, {**WORLD, "name": "timed", "arrivals": {"mean": "10s"}, "durations": {"mean": "60s"}}],
    "variants": [{"name": "spread"}, {"name": "packed", "configuration": PACKED}, {"name": "more", "nodes": {"m": 2}}],
    "seeds": 2,
}


def rows(data: dict[str, Any], folder: str = "") -> dict[tuple[str, str, int], dict[str, Any]]:
    made = map(make_run, list_runs(msgspec.convert(data, Experiment), folder))
    return {(row["world"], row["variant"], row["seed"]): row for row in made}


def test_variants_differ_where_they_should_and_a_run_is_the_same_each_time() -> None:
    found = rows(DATA)
    assert found == rows(DATA)
    assert len(found) == 12
    spread, packed, more = (found["w", name, 0] for name in ("spread", "packed", "more"))
    assert (spread["placed"], spread["nodes_used"], spread["cost_per_hour"]) == (12, 4, 2.0)
    assert (packed["placed"], packed["nodes_used"] < 4, more["nodes_used"]) == (12, True, 6)
    assert spread["cpu_used"] == packed["cpu_used"] == pytest.approx(more["cpu_used"] * 1.5, abs=1e-5)


def test_pods_come_and_go_in_time_and_pods_that_wait_have_waited() -> None:
    tight = {**WORLD, "nodes": {"m": 1}, "arrivals": {"mean": "1s", "distribution": "fixed"}}
    timed = {**tight, "durations": {"mean": "100s", "distribution": "fixed"}}
    found = rows(
        {
            **DATA,
            "worlds": [{**tight, "name": "stay"}, {**timed, "name": "go"}],
            "variants": [{"name": "a"}],
            "seeds": 1,
        }
    )
    stay, go = found["stay", "a", 0], found["go", "a", 0]
    assert (stay["placed"] + stay["pending"], stay["pending"] > 0) == (12, True)
    assert (go["placed"], go["pending"], go["wait_p99_s"] > 80) == (12, 0, True)


def test_the_hash_of_a_run_goes_by_all_that_decides_about_it(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(yaml.safe_dump_all([node("n"), pod("p"), pod("q", "64")]))
    data = {**DATA, "worlds": [{"name": "w", "files": [file.name]}], "seeds": 1}
    found = rows(data, str(tmp_path))
    assert (found["w", "spread", 0]["placed"], found["w", "spread", 0]["pending"]) == (1, 1)
    runs = list_runs(msgspec.convert(data, Experiment), str(tmp_path))
    before = [run.digest() for run in runs]
    assert len(set(before)) == 3
    file.write_text(yaml.safe_dump_all([node("n", "2"), pod("p")]))
    assert set(before) & {run.digest() for run in runs} == set()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"worlds": []}, r"length >= 1 - at `\$\.worlds`"),
        ({"variants": [{"name": "x", "weight": 1}]}, r"unknown field `weight` - at `\$\.variants\[0\]`"),
        ({"seeds": 5_000}, r"<= 1000 - at `\$\.seeds`"),
    ],
)
def test_a_mistake_in_the_file_is_said_with_its_place(change: dict[str, Any], said: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=said):
        msgspec.convert({**DATA, **change}, Experiment)


def test_no_cell_of_results_is_a_formula() -> None:
    assert write_csv([{"variant": "=1+1", "placed": -3}]) == "variant,placed\n'=1+1,-3\n"
