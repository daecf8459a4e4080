"""The effective configuration beside the editor: defaults filled in, differences marked, plugins by extension point."""

from __future__ import annotations

from typing import Any

import pytest

from playground.sessions.worker.answers.configurations import effective, mark_differing_lines
from scheduler_core.scheduler.config.load import load_configuration
from tests.playground.workbench.conftest import page_text
from tests.scheduler_core.worlds import configuration

PLUGINS = {"score": {"enabled": [{"name": "NodeResourcesFit", "weight": 7}], "disabled": [{"name": "ImageLocality"}]}}
CHANGED = configuration(podMaxBackoffSeconds=20, profiles=[{"schedulerName": "default-scheduler", "plugins": PLUGINS}])


def shown(manifest: dict[str, Any] | None) -> dict[str, Any]:
    return effective(load_configuration(manifest).manifest)


def test_kubes_own_default_differs_nowhere() -> None:
    assert shown(None)["differing"] == 0
    assert not any(p["differs"] for row in shown(None)["profiles"][0]["rows"] for p in row["plugins"])


def test_what_was_set_is_marked_and_defaults_are_there_unmarked() -> None:
    lines = {line["text"].strip(): line["differs"] for line in shown(CHANGED)["lines"]}
    assert lines["podMaxBackoffSeconds: 20"] is True
    assert lines["podInitialBackoffSeconds: 1"] is False


def test_a_profile_shows_weights_what_differs_and_what_is_gone() -> None:
    rows = {row["point"]: row for row in shown(CHANGED)["profiles"][0]["rows"]}
    weights = {p["name"]: (p["weight"], p["differs"]) for p in rows["Score"]["plugins"]}
    assert weights["NodeResourcesFit"] == (7, True)
    assert weights["TaintToleration"] == (3, False)
    assert rows["Score"]["gone"] == ["ImageLocality"]
    assert {p["weight"] for p in rows["Filter"]["plugins"]} == {None}


def test_a_line_that_only_moved_on_is_not_marked() -> None:
    assert [line["differs"] for line in mark_differing_lines("a\nnew\nb", "a\nb")] == [False, True, False]


@pytest.fixture
def begun(visitor):
    return visitor("cluster:small")


def test_the_page_shows_it_beside_the_editor(begun) -> None:
    text = page_text(begun.get("configuration"))
    assert "The effective configuration" in text
    assert "NodeResourcesBalancedAllocation ×1" in text


def test_a_very_long_configuration_is_shown_without_marks() -> None:
    profiles = [{"schedulerName": f"scheduler-{i}"} for i in range(80)]
    found = shown(configuration(profiles=profiles))
    assert (found["lines"], found["differing"], len(found["profiles"])) == ([], 0, 80)
    assert "scheduler-79" in found["text"]
