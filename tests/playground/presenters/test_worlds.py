"""The worlds of these tests: presenters are tested in the worlds that users have."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from scheduler_core.scheduler.config.settings import WorldSettings
from tests.playground.presenters.worlds import empty_world

HERE = Path(__file__).parent
HELPERS = HERE / "worlds.py"


@pytest.mark.parametrize("path", sorted(set(HERE.glob("*.py")) - {HELPERS}), ids=lambda path: path.name)
def test_a_presenter_is_tested_in_a_world_that_a_user_has(path: Path) -> None:
    tree = ast.parse(path.read_text())
    calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    imported = {
        (node.module, alias.name) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert "Simulation" not in calls, "make it with empty_world or world of tests/playground/presenters/worlds.py"
    assert ("tests.scheduler_core.worlds", "world") not in imported


def test_the_worlds_of_these_tests_begin_as_a_new_session_does() -> None:
    assert empty_world().settings == WorldSettings()
