"""Budgets of memory: a job that takes too much ends in words, and the others go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from playground.sessions.protocol.comparing import AttemptDigests, OpenTrace, Outline
from playground.sessions.protocol.errors import LimitReached
from playground.sessions.worker import memory
from playground.sessions.worker.answers.rerun import Rerun
from playground.sessions.worker.engines import Engines
from playground.sessions.worker.memory import GROWTH, MUCH, SHARED, SOME, Budget, Clearing, within
from playground.sessions.worker.process import start
from playground.sessions.worker.time_sharing import Steps, TimeSlice
from playground.sessions.worker.traces import Export
from tests.playground.sessions.worker.test_rerun import MOST_OBJECTS, MOST_STEPS, Story, finish
from tests.playground.sessions.worlds import applying, node, pod

MIB = 1 << 20


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Pretend that the process may take so much, has so much, and grows by so much each time that it is looked at."""

    def pretend(limit: float, taken: float, grows: float) -> None:
        def sizes() -> Iterator[int]:
            size = taken
            while True:
                yield int(size)
                size += grows

        seen = sizes()
        monkeypatch.setattr(memory, "limit", lambda: limit)
        monkeypatch.setattr(memory, "resident", lambda: next(seen))
        monkeypatch.setattr(memory, "release_memory", lambda: None)

    return pretend


def story() -> Story:
    """Attempts, and a command to leave out; each turn is one step."""
    made = Story()
    made.apply(applying(node("a"), pod("p")))
    made.apply(applying(node("b"), pod("q")))
    made.rest()
    made.slice.end = 0
    return made


def forever() -> Steps[None]:
    while True:
        yield


def growing(by: int, kept: list[bytes]) -> Steps[str]:
    for _ in range(16):
        kept.append(b"x" * by)
        yield
    return "done"


@pytest.mark.parametrize(("by", "ends"), [(8 * MIB, True), (MIB // 64, False)])
def test_what_a_job_takes_counts(monkeypatch: pytest.MonkeyPatch, by: int, ends: bool) -> None:
    kept: list[bytes] = []
    monkeypatch.setattr(memory, "resident", lambda: 100 * MIB + sum(map(len, kept)))
    monkeypatch.setattr(memory, "limit", lambda: 4096 * MIB)
    budget = Budget(32 * MIB / memory.limit(), "It took too much.")
    if not ends:
        assert finish(within(budget, growing(by, kept))) == "done"
        return
    with pytest.raises(LimitReached, match="It took too much"):
        finish(within(budget, growing(by, kept)))
    assert len(kept) == 5


def test_what_others_take_between_its_turns_does_not_count(process: Callable[..., None]) -> None:
    process(2000, 0, 1)
    budget = Budget(SHARED, "")
    for _ in range(200):
        with budget:
            pass
        for _others in range(3):
            memory.resident()
    with pytest.raises(LimitReached):
        finish(within(budget, forever()))


def test_in_a_process_that_is_about_full_a_job_ends_that_takes_more(process: Callable[..., None]) -> None:
    process(1000, 900, 0)
    with Budget(SHARED, ""):
        pass
    process(1000, 900, 1)
    with pytest.raises(LimitReached), Budget(SHARED, ""):
        pass


def test_a_rerun_ends_where_it_takes_too_much(process: Callable[..., None]) -> None:
    made = story()
    process(100, 0, 1)
    going = Rerun(made.engine, made.engine.world.position, [1], MOST_OBJECTS, MOST_STEPS)
    with pytest.raises(LimitReached, match="The re-run needs more memory than the limit"):
        finish(going.work(60))


@pytest.mark.parametrize(
    "request_", [Outline(at=5, since=0), AttemptDigests(at=5, first=0, most=9)], ids=["outline", "digests"]
)
def test_a_comparison_ends_where_it_takes_too_much(
    process: Callable[..., None], request_: Outline | AttemptDigests
) -> None:
    made, engines = story(), Engines(TimeSlice())
    engines.put(7, made.engine)
    process(100, 0, 30)
    _handler, work = start(engines, 7, request_)
    with pytest.raises(LimitReached, match="The comparison needs more memory than the limit"):
        finish(work)


def test_an_export_ends_where_it_takes_too_much(process: Callable[..., None]) -> None:
    process(100, 0, 80)
    request = OpenTrace(seed=0, rows=[], head=0, detail=(0, -1), created="2026-01-01T00:00:00Z")
    with pytest.raises(LimitReached, match="The trace needs more memory than the limit"):
        Export(request).next()


class Cleared:
    """Worlds that were dropped, and what a clearing has gone through for them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.dropped, self.taken, self.gone_through = 0, 0, list[str]()
        monkeypatch.setattr(memory, "resident", lambda: self.taken)
        monkeypatch.setattr(memory, "release_memory", lambda: self.gone_through.append("all"))
        monkeypatch.setattr(memory.gc, "collect", lambda generation: self.gone_through.append("young"))
        self.clearing = Clearing(lambda: self.dropped)

    def clear_up(self, *, dropped: int, busy: bool) -> list[str]:
        """What is gone through when so many more were dropped."""
        self.dropped += dropped
        self.gone_through = []
        self.clearing.clear_up(busy=busy)
        return self.gone_through


def test_a_clearing_with_nothing_else_to_do_goes_through_all(monkeypatch: pytest.MonkeyPatch) -> None:
    cleared = Cleared(monkeypatch)
    assert cleared.clear_up(dropped=SOME, busy=False) == []
    assert not cleared.clearing.due
    assert cleared.clear_up(dropped=1, busy=False) == ["all"]
    assert cleared.clear_up(dropped=0, busy=False) == []


def test_a_clearing_under_way_goes_through_what_is_young(monkeypatch: pytest.MonkeyPatch) -> None:
    cleared = Cleared(monkeypatch)
    assert cleared.clear_up(dropped=MUCH, busy=True) == []
    assert cleared.clear_up(dropped=1, busy=True) == ["young"]
    assert cleared.clear_up(dropped=MUCH, busy=True) == []
    assert cleared.clear_up(dropped=1, busy=True) == ["young"]
    assert cleared.clearing.due, "the older ones wait for a rest"
    assert cleared.clear_up(dropped=0, busy=False) == ["all"]


def test_a_clearing_under_way_goes_through_all_where_the_process_grew(monkeypatch: pytest.MonkeyPatch) -> None:
    cleared = Cleared(monkeypatch)
    cleared.taken = GROWTH
    assert cleared.clear_up(dropped=MUCH + 1, busy=True) == ["all"]
    assert cleared.clear_up(dropped=MUCH + 1, busy=True) == ["young"], "it grew no further"
