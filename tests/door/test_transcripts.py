"""Recorded conversations of kubectl with the unmodified kube-apiserver, played by a real kubectl against live sessions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.server import PlaygroundServer
from tests.door.transcripts import Difference, find_kubectl, play

RECORDED = Path(__file__).parent / "recorded"
LONG = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"  # make test-long plays all of them
# Those that take the least time and do not depend on when controllers act.
SHORT = ("api-resources", "apply-prune", "diff", "edit", "get-empty", "get-tables-nodes-pods", "patch")
DOC = Path(__file__).parents[2] / "docs" / "api-door.md"
KUBECTL = find_kubectl()
pytestmark = pytest.mark.skipif(not KUBECTL, reason="there is no kubectl on this machine; KUBECTL may name one")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlaygroundServer]:
    """One server for all transcripts."""
    server = PlaygroundServer(tmp_path_factory.mktemp("door"), ENGINE_WORKERS="1", ENGINE_HEAVY_WORKERS="1")
    server.start()
    yield server
    server.stop()


def commands_that_differ() -> set[str]:
    """The commands that docs/api-door.md lists as answered differently."""
    section = DOC.read_text().partition("## Different on purpose")[2].partition("\n## ")[0]
    return set(re.findall(r"`(kubectl [^`]+)`", section))


@pytest.mark.parametrize("name", sorted(path.stem for path in RECORDED.glob("*.json")) if LONG else SHORT)
def test_a_transcript_comes_to_what_kube_answered(server: PlaygroundServer, name: str) -> None:
    known = commands_that_differ()
    differ: set[str] | None = None
    for _ in range(2):  # controllers act by the clock on the wall, which a busy machine delays
        _, found = play(server.url, RECORDED / f"{name}.json", KUBECTL)
        now = {each.command for each in found} - known
        differ = now if differ is None else differ & now
        if not differ:
            return
    assert not differ, found


def test_the_comparison_finds_a_difference(server: PlaygroundServer, tmp_path: Path) -> None:
    text = (RECORDED / "get-empty.json").read_text().replace("No resources found", "Nothing found")
    changed = tmp_path / "get-empty.json"
    changed.write_text(text)
    _, found = play(server.url, changed, KUBECTL)
    assert found and all(isinstance(each, Difference) for each in found)
