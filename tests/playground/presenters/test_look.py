"""Look: from what a stranger's URL says to what is shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from playground.presenters import Look
from playground.presenters.look import FIELDS, declaration

STREAM = Path(__file__).resolve().parents[3] / "docs/stream.md"


def test_a_look_survives_the_way_through_a_query() -> None:
    look = Look(
        at=12, stage="score", tab="yaml", pod="default/web-1", node="n1", group="rack", mode="score", page=2, q="cpu"
    )
    assert Look.from_query(look.to_query()) == look


def test_the_default_look_needs_no_query() -> None:
    assert Look().to_query() == {}


@pytest.mark.parametrize(
    "query",
    [
        {"at": "-1"},
        {"at": "x"},
        {"at": True},
        {"at": str(2**60)},
        {"at": "9" * 5000},
        {"tab": "nonsense"},
        {"mode": ["score"]},
        {"pod": {"a": 1}},
        {"page": "-3"},
    ],
)
def test_nonsense_becomes_the_default(query: dict[str, Any]) -> None:
    assert Look.from_query(query) == Look()


def test_a_long_text_is_cut() -> None:
    assert len(Look.from_query({"q": "x" * 10_000}).q) == 253


def test_a_link_keeps_the_rest_of_the_look() -> None:
    assert Look(at=3, tab="fix").href(tab="yaml") == "?at=3&tab=yaml"


def test_what_the_page_is_told_of_a_field_names_fields_and_tabs_that_there_are() -> None:
    declared = declaration()
    assert list(declared) == list(FIELDS)
    assert {field["resets"] for field in declared.values() if "resets" in field} <= set(FIELDS)
    for rule in (rule for field in declared.values() for rule in field.get("sets", ())):
        assert getattr(Look.from_query({rule["name"]: rule["value"]}), rule["name"]) == rule["value"]


@pytest.mark.parametrize(
    ("tab", "now"),
    [("why", Look(stage="filter")), ("preemption", Look(stage="preemption")), ("node", Look(about="node"))],
)
def test_a_link_from_before_to_a_tab_that_moved_shows_the_same(tab: str, now: Look) -> None:
    assert Look.from_query({"tab": tab}) == now


@pytest.mark.parametrize(
    ("query", "about"),
    [("node=n1", "node"), ("pod=ns/p&node=n1", "pod"), ("node=n1&about=pod", "pod"), ("claim=ns/c", "claim")],
)
def test_an_address_of_one_object_is_about_it_unless_it_says_otherwise(query: str, about: str) -> None:
    look = Look.from_query(dict(parse_qsl(query)))
    assert look.about == about
    assert Look.from_query(look.to_query()) == look


def test_the_stream_is_documented_with_every_field() -> None:
    documented = re.search(r"`look`: \{([^}]+)\}", STREAM.read_text())
    assert documented
    assert documented[1].split(", ") == list(FIELDS)
