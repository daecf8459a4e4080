"""Run to and run back to: where a breakpoint held, found in the past of an engine."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import orjson
import pytest
from msgspec import structs

from playground.features.breakpoints.query import Hits
from playground.features.breakpoints.worker import hits
from playground.sessions.protocol.breakpoints import Breakpoint, Hit, from_form
from playground.sessions.protocol.until import SearchProgress
from playground.sessions.worker.answers.outlines import Search
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import TimeSlice
from tests.playground.sessions.worlds import cluster

MOST = 10**6


def finish(steps: Any) -> Any:
    """What a generator returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


@pytest.fixture
def engine() -> Engine:
    """Forty pods, scheduled to the end."""
    slice_ = TimeSlice()
    slice_.start(1000)
    made = Engine(0, slice_)
    made.apply_data(orjson.dumps({"command": cluster(3, 40)}), 1000)
    finish(made.run(60))
    return made


def breakpoint_(point: dict[str, Any], number: int = 0) -> Breakpoint:
    return structs.replace(from_form(point), id=number)


def marks(engine: Engine, points: list[Breakpoint], upto: int) -> list[Hit]:
    found = finish(hits(engine, Hits(at=upto, points=points, first=0, most=1000, seconds=60)))
    assert found.upto == upto
    return found.hits


def search(engine: Engine, point: dict[str, Any], at: int, back: bool, most: int = MOST) -> SearchProgress:
    going = Search(engine, [from_form(point)], at, back, engine.world.position, most)
    while True:
        progress: SearchProgress = finish(going.work(0.01))
        if progress.done:
            return progress


def place(found: SearchProgress) -> int | None:
    return None if found.hit is None else found.hit.position


def ends(engine: Engine) -> list[int]:
    return [attempt.last_position for attempt in engine.world.journal.attempts]


def test_back_finds_the_last_position_before_the_cursor(engine: Engine) -> None:
    known = ends(engine)
    for at in (known[5] + 1, known[5], known[30] + 3, engine.world.position):
        found = search(engine, {"kind": "attempt_ended"}, at, back=True)
        assert place(found) == max(one for one in known if one < at)


def test_forward_finds_the_next_position_after_the_cursor(engine: Engine) -> None:
    known = ends(engine)
    for at in (0, known[5] - 1, known[5]):
        found = search(engine, {"kind": "attempt_ended"}, at, back=False)
        assert place(found) == min(one for one in known if one > at)


CHANGES = {"watch": True, "changes": True, "kind": "node_selected", "cel": "record.data.node"}


@pytest.mark.parametrize("piece", [3, 40, 10**6])
def test_back_finds_the_last_change_of_a_value_however_history_is_cut(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    known = [hit.position for hit in marks(engine, [from_form(CHANGES)], engine.world.position)]
    nearest = engine.history.nearest

    def cut(position: int) -> Any:
        world = nearest(position - position % piece)
        while world.position < position - position % piece:
            engine.replay(world)
        return world

    monkeypatch.setattr(engine.history, "nearest", cut)
    for at in (known[3] + 1, known[7], known[-1] + 9):
        found = search(engine, CHANGES, at, back=True)
        assert place(found) == max(one for one in known if one < at)
    assert search(engine, CHANGES, known[0], back=True).hit is None


def test_a_search_finds_nothing_where_it_never_held_and_says_how_far_it_looked(engine: Engine) -> None:
    head = engine.world.position
    back = search(engine, {"pod": "default/nobody"}, head, back=True)
    assert (back.hit, back.scanned, back.spent) == (None, head - 1, False)
    forward = search(engine, {"pod": "default/nobody"}, 10, back=False)
    assert (forward.hit, forward.scanned) == (None, head - 10)


def test_a_search_stops_at_its_limit(engine: Engine) -> None:
    found = search(engine, {"pod": "default/nobody"}, 0, back=False, most=50)
    assert (found.hit, found.scanned, found.spent) == (None, 50, True)


def test_the_command_itself_is_found(engine: Engine) -> None:
    assert place(search(engine, {"kind": "command"}, engine.world.position, back=True)) == 1


def test_a_search_leaves_the_head_where_it_is(engine: Engine) -> None:
    before = (engine.world.position, engine.world.now)
    search(engine, {"kind": "attempt_ended", "cel": "attempt == 3"}, engine.world.position, back=True)
    assert (engine.world.position, engine.world.now) == before


def test_marks_are_where_breakpoints_and_watches_held_in_a_window(engine: Engine) -> None:
    watch = {"watch": True, "kind": "node_selected", "cel": "record.data.node"}
    found = marks(engine, [breakpoint_({"kind": "attempt_ended"}, 1), breakpoint_(watch, 2)], 400)
    assert [hit.position for hit in found if hit.id == 1] == [p for p in ends(engine) if p <= 400]
    values = [hit.value for hit in found if hit.id == 2]
    assert values and all(a != b for a, b in pairwise(values))


def test_marks_are_looked_for_as_far_as_the_time_reaches(engine: Engine) -> None:
    end = engine.world.position
    point = from_form({"kind": "queue_moved"})
    asked = Hits(at=end, points=[point], first=0, most=1000, seconds=60)
    every = finish(hits(engine, asked))
    assert every.upto == end and every.hits
    none = finish(hits(engine, structs.replace(asked, seconds=0.0)))
    assert (none.hits, none.upto) == ([], 0)
