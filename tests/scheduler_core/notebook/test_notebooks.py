"""The example notebooks run, and what they show in print is what they give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.notebooks import NOTEBOOKS, ROOT, codes, outputs


def test_there_are_four_and_the_document_names_them() -> None:
    document = (ROOT / "docs/notebooks.md").read_text()
    assert len(NOTEBOOKS) == 4
    assert [path.name for path in NOTEBOOKS if path.name not in document] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebooks_outputs_are_what_it_gives(path: Path) -> None:
    stored = [cell["outputs"] for cell in codes(path)]
    assert stored == outputs(path), "python -m tests.notebooks writes them anew"
    shown = {"text/html", "application/vnd.plotly.v1+json"}
    assert sum(bool(shown & output["data"].keys()) for cell in stored for output in cell) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_jupyters_form(path: Path) -> None:
    notebook = json.loads(path.read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len({*ids}) == len(ids) and all(0 < len(name) <= 64 for name in ids)
    assert {cell["cell_type"] for cell in notebook["cells"]} == {"code", "markdown"}
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
