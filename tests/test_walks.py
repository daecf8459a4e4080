"""docs/walks.md: its files have the functions that it names, and the ways stay short."""

import ast
import re

import pytest

from tests.walks import ROOT, Hop, walks

HOPS = [pytest.param(hop, id=f"{title}-{hop.number}") for title, walk in walks().items() for hop in walk.hops]


def defined(hop: Hop) -> bool:
    source = (ROOT / hop.file).read_text()
    if not hop.file.endswith(".py"):
        return re.search(rf"\b{hop.function}\([^)]*\) \{{", source) is not None
    body: list[ast.stmt] = ast.parse(source).body
    for name in hop.function.split("."):
        found = [node for node in body if getattr(node, "name", None) == name]
        if not found:
            return False
        body = getattr(found[0], "body", [])
    return True


@pytest.mark.parametrize("hop", HOPS)
def test_every_hop_is_there(hop: Hop) -> None:
    assert defined(hop)


def test_what_is_not_there_is_missed() -> None:
    assert not defined(Hop(1, "playground/consumers.py", "SessionConsumer._poste"))
    assert not defined(Hop(1, "static/playground/js/studio/stream.js", "connected"))


@pytest.mark.parametrize(
    ("title", "calls", "crossings"), [("A pod's creation", 37, 4), ("A step back", 30, 3)]
)
def test_a_walk_stays_short(title: str, calls: int, crossings: int) -> None:
    walk = walks()[title]
    assert [hop.number for hop in walk.hops] == list(range(1, len(walk.hops) + 1))
    assert 20 < len(walk.hops) <= calls
    assert 0 < walk.crossings <= crossings
