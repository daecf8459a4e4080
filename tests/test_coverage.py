"""docs/coverage.md keeps up with the code: what has no effect is the list that the product reads, and every mechanism has its entry.

mechanisms.txt lists the mechanisms of the five reference documents: document, section, mechanism.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.coverage_tables import kubelet_fields, without_effect

TESTS = Path(__file__).resolve().parent
TEXT = (TESTS.parent / "docs" / "coverage.md").read_text()
INTRODUCTION = TEXT.partition("## Mechanisms of the reference documents")[2].partition("###")[0]
STATES = {"here", "in part", "differs", "no", "prose"}
PANELS = {
    "API calls",
    "Cluster: budgets",
    "Cluster: controllers",
    "Cluster: nodes",
    "Cluster: replicas",
    "Cluster: rollouts",
    "Configuration",
    "CycleState",
    "Extenders",
    "Fix",
    "Internals",
    "Journey",
    "Metrics",
    "Node",
    "Own plugins",
    "Pod",
    "Preemption",
    "Scores",
    "Sequence",
    "Why",
    "YAML",
    "docs",
    "map",
    "pipeline",
    "queues",
    "timeline",
}


class Entry(NamedTuple):
    """One row."""

    document: str
    section: str
    mechanism: str
    state: str
    shown_by: str
    panel: str
    note: str


def entries() -> list[Entry]:
    found, document = [], ""
    for line in TEXT.partition("## Mechanisms of the reference documents")[2].splitlines():
        if line.startswith("### "):
            document = "ABCDE"[int(line.removeprefix("### ")[:3])]
        if line.startswith("| ") and not line.startswith(("| section", "| ---")):
            found.append(Entry(document, *(cell.strip() for cell in line.strip().strip("|").split("|"))))
    return found


ENTRIES = entries()


@cache
def names_in(path: Path) -> set[str]:
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def exists(reference: str) -> bool:
    """Whether a test, or a family of a corpus, is there."""
    path, colons, name = reference.partition("::")
    if not colons:
        return (TESTS / "corpus" / f"{path}.json.xz").is_file()
    return (TESTS / path).is_file() and name in names_in(TESTS / path)


def test_what_has_no_effect_is_the_list_that_the_product_reads() -> None:
    assert without_effect() in TEXT, "python -m tests.coverage_tables prints the table"
    assert kubelet_fields() in TEXT, "python -m tests.coverage_tables prints the fields"


def test_every_mechanism_of_the_reference_documents_has_its_entry() -> None:
    listed = (TESTS / "mechanisms.txt").read_text().splitlines()
    told = [f"{entry.document} | {entry.section} | {entry.mechanism}" for entry in ENTRIES]
    assert [line for line in listed if line not in told] == []
    assert [line for line in told if line not in listed] == []
    assert len(told) == len(set(told))


@pytest.mark.parametrize("document", "ABCDE")
def test_what_shows_a_mechanism_exists(document: str) -> None:
    missing = [
        (entry.mechanism, reference)
        for entry in ENTRIES
        if entry.document == document
        for reference in entry.shown_by.replace("`", "").split(", ")
        if reference and not exists(reference)
    ]
    assert missing == []


def test_an_entry_says_its_state_and_what_shows_it() -> None:
    wrong = [
        entry
        for entry in ENTRIES
        if entry.state not in STATES
        or not {*entry.panel.split(", ")} <= PANELS
        or (entry.state in ("here", "in part", "differs") and not entry.shown_by)
        or (entry.state in ("in part", "no") and not entry.note)
    ]
    assert wrong == []


def test_where_a_document_is_older_both_behaviours_are_told() -> None:
    one_sided = [e for e in ENTRIES if e.state == "differs" and not ("document: " in e.note and "v1.34" in e.note)]
    assert one_sided == []


def test_the_states_are_counted() -> None:
    counted = Counter(entry.state for entry in ENTRIES)
    told = {
        state: int(number) for state, number in re.findall(rf"\b({'|'.join(sorted(STATES))}) \((\d+)", INTRODUCTION)
    }
    assert told == counted
    assert f"documents describe ({counted.total()})" in INTRODUCTION
