"""The hook before a commit: it checks the style of what is staged, and of nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GOOD = {"a.py": "x = 1\n", "templates/a.html": "<p>a</p>\n", "static/playground/a.css": "a {\n  color: red;\n}\n"}
BAD = {"a.py": "x = 1 \n", "templates/a.html": "<p   >a</p>\n", "static/playground/a.css": "a {color: red}\n"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    for name in ("pyproject.toml", "deno.json"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def run_hook(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "scripts/hooks/pre-commit"], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", BAD)
def test_a_staged_file_out_of_style_stops_the_commit(repository: Path, name: str) -> None:
    write(repository, GOOD | {name: BAD[name]})
    git(repository, "add", *GOOD)
    ended = run_hook(repository)
    assert ended.returncode == 1
    assert "run make style" in ended.stderr


def test_files_that_are_not_staged_stop_no_commit(repository: Path) -> None:
    write(repository, GOOD)
    git(repository, "add", *GOOD)
    write(repository, {"other.py": BAD["a.py"]})
    ended = run_hook(repository)
    assert (ended.returncode, ended.stderr) == (0, "")
