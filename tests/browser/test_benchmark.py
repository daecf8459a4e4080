"""The benchmark of the page: what it measures and what it tells. How fast it is, no test says."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

from benchmarks.browser.__main__ import table, told
from benchmarks.browser.rig import SETTINGS, Figure, Rig, at_percent, figure
from tests.browser.conftest import running_server


def test_a_figure_is_the_median_of_its_runs_and_knows_whether_it_meets_its_goal() -> None:
    assert figure("step", "ms", [70, 40, 45], 50).ok
    assert figure("step", "ms", [70, 60, 45], 50).ok is False
    assert Figure("told", "ms", 1).ok is None
    assert at_percent([5, 1, 4, 2, 3], 95) == 5


def test_goals_are_measured_and_told(browser: Browser, tmp_path: Path) -> None:
    for server in running_server(tmp_path, **SETTINGS):
        found = told(Rig(server, browser, quick=True, runs=1), ["load"])
    names = [each["name"] for each in found["figures"]]
    assert [name.partition(";")[0] for name in names] == [
        "first paint",
        "weight without Plotly",
        "longest task of the load",
    ]
    assert found["figures"][0]["value"] > 0
    assert found["figures"][1]["ok"]  # bytes do not depend on the machine
    assert all(f"| {name} |" in table(found) for name in names)
