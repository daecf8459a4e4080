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
from tests.walks import ROOT, Counts, Hop, Walk, stated, walks

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
    assert not defined(Hop(1, "playground/sessions/web/consumers.py", "SessionConsumer._poste"))
    assert not defined(Hop(1, "static/playground/js/studio/stream.js", "connecting"))


# Ceilings, which only fall.
MOST = {
    "A pod's creation": Counts(29, 4, 12, 3),
    "A filter verdict": Counts(17, 0, 14, 4),
    "A step back": Counts(22, 3, 10, 5),
}


@pytest.mark.parametrize("title", MOST)
def test_a_walk_stays_short(title: str) -> None:
    walk = walks()[title]
    assert [hop.number for hop in walk.hops] == list(range(1, len(walk.hops) + 1))
    counts = walk.count()
    assert all(count <= most for count, most in zip(counts, MOST[title], strict=True)), counts
    assert counts.calls > MOST[title].calls / 2
    assert counts.crossings >= MOST[title].crossings / 2


def test_the_counts_are_those_that_are_stated() -> None:
    assert stated() == {title: walk.count() for title, walk in walks().items()}


def test_a_folder_that_is_entered_again_is_a_return() -> None:
    files = ["a/x.py", "a/y.py", "b/x.py", "a/x.py", "b/c/x.py", "b/y.py"]
    hops = [Hop(number, file, "f") for number, file in enumerate(files, 1)]
    assert Walk(hops, 1).count() == Counts(6, 1, 4, 2)


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
        calls = called(lambda: sim.step(Grain.CALL))
    rest = iter([*calls, *called(lambda: present("stage", sim, Look(stage="filter", node="n")))])
    hops = [(hop.file, hop.function) for hop in walks()["A filter verdict"].hops]
    assert [hop for hop in hops if hop not in rest] == []
