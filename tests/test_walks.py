"""docs/walks.md: its files have the functions that it names, and the ways stay short."""

import ast
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from playground.presenters import Look, present
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Grain, Simulation
from tests.scheduler_core.worlds import node, pod
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
    ("title", "calls", "crossings"),
    [("A pod's creation", 37, 4), ("A filter verdict", 19, 0), ("A step back", 30, 3)],
)
def test_a_walk_stays_short(title: str, calls: int, crossings: int) -> None:
    walk = walks()[title]
    assert [hop.number for hop in walk.hops] == list(range(1, len(walk.hops) + 1))
    assert calls / 2 < len(walk.hops) <= calls
    assert crossings / 2 <= walk.crossings <= crossings


def called(work: Callable[[], object]) -> list[tuple[str, str]]:
    """The functions that were called, by file and name, in order."""
    calls: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            calls.append((frame.f_code.co_filename.removeprefix(f"{ROOT}/"), frame.f_code.co_qualname))

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def test_the_way_of_a_filter_verdict_is_taken() -> None:
    sim = Simulation()
    tainted = {**node("n"), "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}
    sim.apply(ApplyObjects((tainted, pod("p"))))
    calls: list[tuple[str, str]] = []
    while ("scheduler_core/scheduler/plugins/taint_toleration.py", "TaintToleration.filter") not in calls:
        calls = called(lambda: sim.step(Grain.PLUGIN))
    rest = iter([*calls, *called(lambda: present("stage", sim, Look(stage="filter", node="n")))])
    hops = [(hop.file, hop.function) for hop in walks()["A filter verdict"].hops]
    assert [hop for hop in hops if hop not in rest] == []
