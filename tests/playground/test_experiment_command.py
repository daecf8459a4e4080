"""`manage.py experiment`: runs in processes, what is there already, the tables, and what is wrong in a file."""

from __future__ import annotations

import csv
import gc
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from django.core.management import CommandError

from playground.management.commands import experiment as command
from playground.management.commands.experiment import build_report
from scheduler_core.analysis.experiments import Run, compare_pairs, list_figures, list_runs, make_run, read_experiment
from scheduler_core.analysis.experiments.figures import SHOWN
from scheduler_core.world.simulation import Simulation
from tests.playground.test_whatif_commands import run
from tests.scheduler_core.analysis.test_experiments import DATA
from tests.support.schemas import FOLDER


def test_results_are_the_same_bytes_in_any_number_of_processes_and_are_not_made_again(tmp_path: Path) -> None:
    file = tmp_path / "e.yaml"
    file.write_text(yaml.safe_dump({**DATA, "worlds": DATA["worlds"][:1]}))
    status, text = run("experiment", "run", str(file), "--workers", "2")
    table = tmp_path / "e" / "results.csv"
    first = table.read_bytes()
    assert (status, len(list(csv.DictReader(first.decode().splitlines())))) == (0, 6)
    assert text.splitlines()[0].split()[:3] == ["WORLD", "VARIANT", "PLACED"]
    run("experiment", "run", str(file), "--workers", "1", "--out", str(tmp_path / "other"))
    assert (tmp_path / "other" / "results.csv").read_bytes() == first
    kept = sorted((tmp_path / "e" / "runs").iterdir())
    row = json.loads(kept[0].read_bytes())
    kept[0].write_text(json.dumps({**row, "placed": 99}))
    kept[1].unlink()  # as if it had been ended here
    printed = json.loads(run("experiment", "run", str(file), "-o", "json")[1])
    assert [each["placed"] for each in printed["rows"]].count(99) == 1


def test_without_a_file_the_experiment_is_read_from_a_pipe_or_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "piped").open("wb+") as piped:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(piped))
        with pytest.raises(CommandError, match="received no FILE; expected the experiment as YAML"):
            run("experiment", "run")
        piped.write(yaml.safe_dump({**DATA, "worlds": DATA["worlds"][:1], "seeds": 1}).encode())
        piped.seek(0)
        assert run("experiment", "run", "--workers", "1")[0] == 0
    assert (tmp_path / "experiment" / "results.csv").exists()


def test_parquet_and_dask_name_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    file = tmp_path / "e.yaml"
    file.write_text(yaml.safe_dump({**DATA, "worlds": DATA["worlds"][:1], "seeds": 1}))
    with pytest.raises(
        CommandError, match=r"--dask needs the extra: pip install 'scheduler-playground\[experiments\]'"
    ):
        run("experiment", "run", str(file), "--dask", "tcp://127.0.0.1:1")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seeds": "x"}, r"Expected `int`, got `str` - at `\$.seeds`"),
        ({"worlds": [{"name": "w", "files": ["no.yaml"]}]}, "worlds: .*no.yaml"),
        ({"worlds": [{"name": "w", "nodes": {"x": 1}}]}, "received the node type x; expected one of m"),
    ],
)
def test_a_mistake_is_an_error_with_the_file_and_its_place(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    file = tmp_path / "e.yaml"
    file.write_text(yaml.safe_dump({**DATA, **change}))
    with pytest.raises(CommandError, match=rf"e\.yaml: .*{said}"):
        run("experiment", "run", str(file), "--workers", "1")


def test_editors_have_the_schema_of_such_files() -> None:
    schema = json.loads(run("experiment", "schema")[1])
    assert json.loads((FOLDER / "input/experiment.json").read_text()) == schema, "experiment schema prints it anew"
    example = Path("examples/openb/experiment.yaml")
    named = example.read_text().splitlines()[0].removeprefix("# yaml-language-server: $schema=")
    assert (example.parent / named).resolve() == FOLDER.resolve() / "input/experiment.json"
    jsonschema.validate({**DATA, "sweep": {"NodeResourcesFit": [2]}}, schema)
    jsonschema.validate(yaml.safe_load(example.read_text()), schema)


def die_once(given: Run) -> dict[str, Any]:
    """Make a run; end the process at the first time."""
    if given.seed == 1 and not (marker := Path(given.folder) / "died").exists():
        marker.touch()
        os._exit(1)
    return make_run(given)


def test_runs_of_a_process_that_is_lost_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command.experiments, "make_run", die_once)
    runs = list_runs(read_experiment(yaml.safe_dump({**DATA, "worlds": DATA["worlds"][:1]})), str(tmp_path))
    rows = dict(command.in_processes([(each, tmp_path / str(i)) for i, each in enumerate(runs)], 2))
    assert (tmp_path / "died").exists()
    assert [rows[tmp_path / str(i)] for i in range(len(runs))] == [make_run(each) for each in runs]


def test_a_process_keeps_no_world_of_its_runs(tmp_path: Path) -> None:
    first = list_runs(read_experiment(yaml.safe_dump({**DATA, "worlds": DATA["worlds"][:1]})), str(tmp_path))[0]
    gc.collect()
    gc.disable()
    try:
        before = sum(type(each) is Simulation for each in gc.get_objects())
        command.make_in_process(first)
        assert sum(type(each) is Simulation for each in gc.get_objects()) == before
    finally:
        gc.enable()


def test_the_report_has_a_chart_of_each_measure_that_varies_and_of_paired_differences(tmp_path: Path) -> None:
    rows = [
        {"world": "w", "variant": name, "seed": seed, **dict.fromkeys(SHOWN, 1.0), "nodes_used": 10 + seed + less}
        for name, less in (("a", 0), ("b", -2))
        for seed in range(4)
    ]
    assert compare_pairs(rows[:4], rows[4:], "nodes_used") == (-2.0, 0.0)
    mean, half = compare_pairs(rows[:4], [{**row, "nodes_used": row["seed"]} for row in rows[4:]], "nodes_used")
    assert (mean, half) == (-10.0, 0.0)
    shown = [(figure.kind, *figure.words.values()) for figure in list_figures(rows)]
    assert shown == [("distribution", "nodes_used"), ("differences", "a"), ("front", "cost_per_hour", "wait_p99_s")]
    page = build_report("<b>", rows)
    assert (page.count("plotly-graph-div") >= 3, "<title>&lt;b&gt;" in page) == (True, True)
