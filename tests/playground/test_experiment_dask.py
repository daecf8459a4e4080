"""An experiment on a Dask cluster of this machine: the same bytes as in processes, also where a worker is killed in the middle."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import yaml

from playground.management.commands.experiment import on_dask
from playground.management.commands.experiment import write_tables as write
from scheduler_core.analysis.experiments import list_runs, make_run, read_experiment
from tests.scheduler_core.analysis.test_experiments import DATA

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"  # make test-long


@pytest.mark.skipif(not LONG, reason="starts and kills processes for a minute: make test-long")
@pytest.mark.timeout(600)
def test_a_worker_that_is_killed_in_the_middle_changes_no_byte(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="pip install 'scheduler-playground[experiments]'")
    worlds = [{**world, "pods": [{"count": 60, "cpu": ["500m", "1"]}]} for world in DATA["worlds"]]
    runs = list_runs(read_experiment(yaml.safe_dump({**DATA, "worlds": worlds, "seeds": 6})), "")
    places = [tmp_path / str(number) for number in range(len(runs))]
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit="1GB", dashboard_address=None
    ) as cluster:
        rows, killed = {}, 0
        for place, row in on_dask(list(zip(runs, places, strict=True)), cluster.scheduler_address):
            rows[place] = row
            if len(rows) == len(runs) // 3 and not killed:
                killed = next(iter(cluster.workers.values())).process.process.pid
                os.kill(killed, signal.SIGKILL)
    assert killed
    for name, made in (("dask", [rows[place] for place in places]), ("here", [make_run(run) for run in runs])):
        (tmp_path / name).mkdir()
        write(tmp_path / name, made, print)
    for file in (tmp_path / "here").iterdir():
        assert (tmp_path / "dask" / file.name).read_bytes() == file.read_bytes()
