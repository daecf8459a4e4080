"""`manage.py conformance`: what it prints and how it leaves."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from scheduler_core.testing.conformance.corpus import Scenario, read_corpus
from tests.support.schemas import require_schema

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "cycle"


def run(*args: Any) -> tuple[int, list[str]]:
    """Exit status and lines of the output."""
    out = io.StringIO()
    try:
        call_command("conformance", *map(str, args), stdout=out)
    except SystemExit as left:
        return int(left.code or 0), out.getvalue().splitlines()
    return 0, out.getvalue().splitlines()


def write(folder: Path, family: str, scenarios: list[Scenario]) -> Path:
    path = folder / f"{family}.json"
    path.write_text(json.dumps({"family": family, "scenarios": [dict(s.data) for s in scenarios]}))
    return path


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A corpus with two scenarios, the first of which expects another node to be chosen."""
    scenarios = list(read_corpus(CORPUS / "gates.json.xz"))
    mine = next(s for s in scenarios if any(a.get("chosen") for a in s.attempts))
    attempt = next(a for a in mine.attempts if a.get("chosen"))
    attempt["chosen"] = "nowhere"  # type: ignore[index]
    rest = next(s for s in scenarios if s is not mine)
    return write(tmp_path, "wrong", [mine, rest])


def test_a_family_that_passes_leaves_with_0() -> None:
    status, lines = run(CORPUS / "taints.json.xz")
    assert status == 0
    assert lines[-1] == "conformance: 33 of 33 scenarios pass, 0 not supported yet"


def test_what_is_not_supported_yet_leaves_with_2_and_says_what_it_waits_for(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"family": "other", "scenarios": [{"name": "a song", "lines": []}]}))
    status, lines = run(CORPUS / "taints.json.xz", other)
    assert status == 2
    assert lines[-3].split()[:5] == ["taints", "33", "33", "0", "0"]
    assert lines[-2].split() == ["other", "1", "0", "0", "1", "(another", "kind", "of", "corpus:", "1)"]
    assert lines[-1] == "conformance: 33 of 34 scenarios pass, 1 not supported yet"


def test_a_difference_leaves_with_1_and_is_told_first(wrong: Path) -> None:
    status, lines = run(wrong)
    assert status == 1
    assert lines[0].startswith("wrong / ")
    assert 'attempts[1].chosen: expected "nowhere", received "' in lines[0]
    assert lines[-1] == "conformance: 1 of 2 scenarios pass, 0 not supported yet"


def test_json_holds_everything_for_machines(wrong: Path) -> None:
    status, lines = run("--json", wrong)
    data = json.loads("\n".join(lines))
    require_schema(data, "conformance/v1")
    assert status == 1
    assert (data["scenarios"], data["pass"], data["differ"], data["notSupported"]) == (2, 1, 1, 0)
    counts = {"scenarios": 2, "attempts": 4, "pass": 1, "differ": 1, "notSupported": 0}
    assert data["families"] == [{"family": "wrong", **counts, "plugins": {"SchedulingGates": 1}}]
    assert data["differences"][0]["where"] == "chosen"
    assert data["differences"][0]["path"] == "attempts[1].chosen"
    assert data["differences"][0]["expected"] == "nowhere"


def test_a_path_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(CommandError, match="no such file or folder"):
        run("/does/not/exist")
