"""Numbers in the documents are those of the sources, and README leads to every document."""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from playground.lessons import TRACKS, read_lessons
from tests.test_coverage import ENTRIES

ROOT = Path(__file__).resolve().parents[1]
STATES = Counter(entry.state for entry in ENTRIES)


@cache
def corpus(family: str) -> list[Any]:
    """Return the scenarios and timelines of a part of the corpus."""
    files = [json.loads(lzma.decompress(path.read_bytes())) for path in (ROOT / "tests/corpus" / family).glob("*.xz")]
    assert files
    return [one for file in files for one in (*file.get("scenarios", ()), *file.get("timelines", ()))]


def scenarios(family: str) -> Callable[[], int]:
    return lambda: len(corpus(family))


def attempts(family: str) -> Callable[[], int]:
    return lambda: sum(len(scenario["expect"]["attempts"]) for scenario in corpus(family))


def steps(family: str) -> Callable[[], int]:
    return lambda: sum(len(scenario["steps"]) for scenario in corpus(family))


def state(name: str) -> Callable[[], int]:
    return lambda: STATES[name]


# A document, a pattern whose groups are numbers in it, and what each is a number of.
COUNTS: list[tuple[str, str, tuple[Callable[[], int], ...]]] = [
    (
        "README.md",
        r"(\d+) scenarios of scheduling cycles, (\d+) timelines .*, (\d+) scenarios of devices, (\d+) of HTTP extenders",
        tuple(map(scenarios, ("cycle", "queue", "dra", "extenders"))),
    ),
    ("README.md", r"a real cluster's ([\d,]+) attempts", (attempts("large"),)),
    ("README.md", r"so do (\d+) scenarios of what happens around the scheduler", (scenarios("worlds"),)),
    ("README.md", r"More than (\d+) lessons in (\d+) tracks", (lambda: len(read_lessons()) // 10 * 10, lambda: len(TRACKS))),
    ("docs/coverage.md", r"reference documents describe \((\d+)\)", (lambda: len(ENTRIES),)),
    (
        "docs/coverage.md",
        r"\*state\*: here \((\d+)\), in part \((\d+)\), differs \((\d+):.*, no \((\d+)\), prose \((\d+):",
        tuple(map(state, ("here", "in part", "differs", "no", "prose"))),
    ),
    ("tests/corpus/README.md", r"\| cycle/ \| (\d+) scenarios, ([\d,]+) scheduling attempts", (scenarios("cycle"), attempts("cycle"))),
    ("tests/corpus/README.md", r"\| queue/ \| (\d+) timelines, ([\d,]+) steps", (scenarios("queue"), steps("queue"))),
    ("tests/corpus/README.md", r"\| dra/ \| (\d+) scenarios, ([\d,]+) attempts", (scenarios("dra"), attempts("dra"))),
    ("tests/corpus/README.md", r"\| extenders/ \| (\d+) scenarios, (\d+) attempts", (scenarios("extenders"), attempts("extenders"))),
]  # fmt: skip


@pytest.mark.parametrize(("document", "pattern", "counts"), COUNTS)
def test_a_number_in_a_document_is_that_of_the_sources(
    document: str, pattern: str, counts: tuple[Callable[[], int], ...]
) -> None:
    text = " ".join((ROOT / document).read_text().split())
    found = re.search(pattern, text)
    assert found is not None, f"{document} has no sentence like {pattern}"
    assert [int(number.replace(",", "")) for number in found.groups()] == [count() for count in counts]


def test_every_lesson_s_track_is_one_of_those_that_are_counted() -> None:
    assert {lesson.plan.track for lesson in read_lessons()} == set(TRACKS)


def test_readme_leads_to_every_document() -> None:
    linked = set(re.findall(r"\]\((docs/[\w/-]+\.md)\)", (ROOT / "README.md").read_text()))
    assert linked == {
        f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md") if not path.name.endswith(".zh-CN.md")
    }


def test_the_page_about_the_cluster_leads_to_its_parts() -> None:
    linked = set(re.findall(r"\]\((cluster/[\w-]+\.md)\)", (ROOT / "docs/cluster.md").read_text()))
    assert linked == {f"cluster/{path.name}" for path in (ROOT / "docs/cluster").glob("*.md")}


def test_readme_says_that_devices_and_extenders_are_modeled() -> None:
    text = " ".join((ROOT / "README.md").read_text().split())
    assert "Devices (DRA) and HTTP extenders are modeled" in text and "not modelled" not in text
