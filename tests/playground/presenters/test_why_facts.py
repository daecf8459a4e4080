"""Every fact of an explanation has a sentence, and docs/explain.md lists it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from playground.common.catalogs import read_yaml
from playground.presenters.why.facts import HEADLINES, WORDS, describe_fact, format_span
from playground.presenters.words import in_english
from scheduler_core.analysis.explain import Fact, Role

TEXTS = read_yaml(WORDS)["facts"]
ROOT = Path(__file__).parents[3]
_CODE = re.compile(r'(?:note|_fact|Fact)\(\s*(?:Role\.\w+,\s*)?"([A-Z]\w+)"')
_CHOSEN = re.compile(r'"([A-Z]\w+)" if .{1,80}? else "([A-Z]\w+)"')


def read_codes() -> set[str]:
    found: set[str] = set()
    for file in (ROOT / "scheduler_core/analysis/explain").glob("*.py"):
        text = file.read_text()
        found |= set(_CODE.findall(text))
        for line in text.splitlines():
            if "code = " in line or "note(" in line:
                found |= {code for pair in _CHOSEN.findall(line) for code in pair}
    return found


def test_every_code_has_a_sentence_and_is_documented() -> None:
    codes = read_codes()
    assert len(codes) > 60
    assert codes - TEXTS.keys() == set()
    documented = set(
        re.findall(r"^\| `(\w+)` \| (?:provenance|holders|notes) \|", (ROOT / "docs/explain.md").read_text(), re.M)
    )
    assert documented == TEXTS.keys()


def test_headlines_are_facts_that_there_are_and_stand_once() -> None:
    assert set(HEADLINES) <= TEXTS.keys()
    assert len(set(HEADLINES)) == len(HEADLINES)


def test_the_parts_of_a_sum_read_as_one_sentence() -> None:
    parts = [
        {"kind": "sidecar", "name": "proxy", "amount": 100},
        {"kind": "init", "name": "migrate", "amount": 200},
        {"kind": "overhead", "name": "", "amount": 50},
    ]
    fact = Fact(Role.PROVENANCE, "Containers", {"pod": "default/web", "resource": "cpu", "amount": 350, "parts": parts})
    said = "web requests a total of 350m cpu: 100m of sidecar proxy + 200m of init container migrate + 50m of overhead."
    assert in_english(describe_fact(fact)) == said


def test_nodes_are_named_one_by_one_with_the_number_of_the_others() -> None:
    fact = Fact(Role.NOTES, "Tie", {"node": "a-1", "score": 416, "nodes": ["b-1", "b-2"], "count": 5})
    said = describe_fact(fact)
    assert in_english(said).startswith("a-1 and b-1, b-2 +3 have the same score of 416")
    assert said["values"]["nodes"] == {
        "text": "%(node_0)s, %(node_1)s +3",
        "values": {"node_0": "b-1", "node_1": "b-2"},
    }


@pytest.mark.parametrize(("seconds", "said"), [(172_800, "48 h"), (600, "10 min"), (30, "30 s")])
def test_lengths_of_time_are_said_in_the_largest_unit(seconds: int, said: str) -> None:
    assert format_span(seconds * 10**9) == said
