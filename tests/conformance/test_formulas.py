"""Every formula that people are shown is computed again over the corpus: it comes to the plugin's raw, normalised and weighted score."""

import os
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.framework.plugin import Plugin, Point, takes_part
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.plugins.registry import registry
from scheduler_core.testing.conformance.corpus import Scenario, Verdict, read_corpus, run_scenario

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
ALL = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"  # make test-long
ROWS = 10_000 if ALL else 4  # nodes of a cycle
ROWS_OF_MANY = 8 if ALL else ROWS  # of the cluster of 1,523
CYCLES = 10**9 if ALL else 40  # of a family


class Enough(Exception):
    """So many cycles were looked at."""


class Recomputed:
    """Watches cycles and collects the formulas that come to another number than the plugin did."""

    def __init__(self, rows: int = ROWS, cycles: int = CYCLES) -> None:
        self.rows, self.cycles = rows, cycles
        self.plugins: Counter[str] = Counter()
        self.wrong: list[str] = []

    def __call__(self, framework: Framework, cycle: SchedulingCycle) -> None:
        board = cycle.scores
        if self.cycles <= 0:
            raise Enough
        if board is None or board.total is None:
            return
        self.cycles -= 1
        places = range(0, len(board.rows), max(1, len(board.rows) // self.rows))
        for column, name in enumerate(board.plugins):
            plugin = next(each for each in framework.at(Point.SCORE) if each.name == name)
            for i in places:
                self._compare(cycle, plugin, column, i)

    def _compare(self, cycle: SchedulingCycle, plugin: Plugin, column: int, i: int) -> None:
        board = cycle.scores
        assert board is not None
        assert board.total is not None
        row, about = int(board.rows[i]), (cycle.state, cycle.pod, cycle.nodes)
        raw, normalized = int(board.raw[column][i]), int(board.normalized[column][i])
        formula = plugin.formula(*about, row)
        came = None if formula is None else formula.result
        brought = came
        if takes_part(type(plugin), Point.NORMALIZE_SCORE):
            scaled = plugin.normalization(*about, board.rows, board.raw[column], i)
            brought = None if scaled is None else scaled.result
        weighted = None if brought is None else brought * board.weights[column]
        self.plugins[plugin.name] += 1
        if (came, brought, weighted) != (raw, normalized, int(board.weighted[column][i])):
            node = cycle.nodes.names[row]
            self.wrong.append(f"{plugin.name} on {node} for {cycle.pod.key}: {came}, {brought}; {raw}, {normalized}")


FAMILIES = sorted((CORPUS / "cycle").glob("*.json.xz")) + sorted((CORPUS / "extenders").glob("*.json.xz"))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda path: path.name.removesuffix(".json.xz"))
def test_every_formula_comes_to_the_score(family: Path) -> None:
    assert recomputed(read_corpus(family)).wrong == []


def test_every_formula_comes_to_the_score_in_a_large_cluster() -> None:
    assert recomputed(read_corpus(CORPUS / "large"), ROWS_OF_MANY).wrong == []


def recomputed(scenarios: Iterable[Scenario], rows: int = ROWS) -> Recomputed:
    watch = Recomputed(rows)
    with suppress(Enough):
        for scenario in scenarios:
            assert run_scenario(scenario, watch).verdict is Verdict.PASSES
    assert watch.plugins
    return watch


def test_every_plugin_that_scores_says_how() -> None:
    for plugin in registry().values():
        for point, method in ((Point.SCORE, "formula"), (Point.NORMALIZE_SCORE, "normalization")):
            if takes_part(plugin, point):
                assert getattr(plugin, method) is not getattr(Plugin, method), (plugin.name, method)
