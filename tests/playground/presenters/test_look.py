"""Look: from what a stranger's URL says to what is shown."""

from __future__ import annotations

from typing import Any

import pytest

from playground.presenters import Look


def test_a_look_survives_the_way_through_a_query() -> None:
    look = Look(
        at=12, tab="scores", pod="default/web-1", node="n1", group="rack", mode="score", page=2, q="cpu"
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
    assert Look(at=3, tab="why").href(tab="scores") == "?at=3&tab=scores"
