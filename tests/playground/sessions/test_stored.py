"""Checkpoints as bytes: few, about equally far apart in work, and found again. The world is a real one, its work is made up."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from playground.sessions import stored
from playground.sessions.history import History, Mark
from playground.sessions.stored import Saved, Stored
from playground.sessions.turns import Slice
from scheduler_core.commands import ApplyObjects
from scheduler_core.simulation import Simulation
from tests.playground.sessions.worlds import node, pod


def finish(steps: Iterator[Any]) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def marks(count: int, work: float = 0.1) -> list[Mark]:
    """Copies of a world after each of some transitions."""
    world = Simulation()
    world.apply(ApplyObjects((node("n"), pod("p"), pod("q"))))
    made = []
    for number in range(1, count + 1):
        world.advance()
        made.append(Mark(world.position, number * work, world.fork()))
    return made


def save(shelf: Stored, some: list[Mark]) -> list[Saved]:
    """Everything that there is to save, turn by turn."""
    saved = [finish(shelf.save(some))]
    while saved[-1].more:
        saved.append(finish(shelf.save(some)))
    return saved


@pytest.fixture(autouse=True)
def quick_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "WORTH", 0.0)


def test_a_longer_history_has_no_more_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MOST", 8)
    shelf, some = Stored(), marks(60)
    for upto in range(1, 61):
        save(shelf, some[:upto])
        assert len(shelf.positions) <= 9
    gaps = [after - before for before, after in itertools.pairwise([2, *shelf.positions])]
    assert max(gaps) <= 2 * 60 / 8 + 1


def test_the_head_is_kept_until_the_next_time() -> None:
    shelf, some = Stored(), marks(12, work=0.001)
    save(shelf, some[:5])
    assert shelf.positions == [some[0].position, some[4].position]
    (saved,) = save(shelf, some)
    assert saved.dropped == [some[4].position]
    assert [kept.position for kept in saved.new] == [some[11].position]


def test_not_everything_is_written_at_once() -> None:
    shelf = Stored()
    turns = save(shelf, marks(30))
    assert [len(saved.new) for saved in turns] == [8, 8, 8, 6]
    assert turns[0].new[-1].position == 31  # the head comes with the first turn


def test_many_bytes_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, some = Stored(), marks(30)
    monkeypatch.setattr(stored, "MOST_BYTES", 40_000)
    save(shelf, some)
    assert len(shelf.positions) < 15
    assert shelf.positions[-1] == some[-1].position


def test_any_position_is_found_from_bytes_alone() -> None:
    shelf, some = Stored(), marks(30, work=10.0)
    save(shelf, some)
    past = History(Simulation(), lambda world: world.advance() and None, Slice())
    past.stored = shelf
    assert past.positions() == [0, *(mark.position for mark in some)]
    for mark in some[::4]:
        found = past.nearest(mark.position)
        assert found.position == mark.position
        assert found.journal.moves == mark.world.journal.moves


def test_a_checkpoint_is_read_once() -> None:
    shelf, some = Stored(), marks(30, work=10.0)
    save(shelf, some)
    past = History(Simulation(), lambda world: None, Slice())
    past.stored = shelf
    past.nearest(some[9].position)
    shelf.forget()
    assert past.nearest(some[9].position).position == some[9].position


def test_bytes_are_not_read_where_the_replay_is_shorter() -> None:
    shelf, some = Stored(), marks(10, work=0.001)
    save(shelf, some)
    shelf.pace = 5.0
    past = History(Simulation(), lambda world: None, Slice())
    past.stored = shelf
    assert past.nearest(some[-1].position).position == 0


def test_a_world_that_cannot_be_written_stops_the_saving_not_the_session(capsys: Any) -> None:
    shelf, (mark,) = Stored(), marks(1)
    mark.world.faults["bind", "x"] = object()
    (saved,) = save(shelf, [mark])
    assert (saved.new, saved.more) == ([], False)
    assert "declare it as scheduler_core/state.py says" in capsys.readouterr().err


def test_a_cut_of_what_is_stored_begins_anew() -> None:
    shelf, some = Stored(), marks(10)
    save(shelf, some)
    volume = shelf.volume
    shelf.cut(some[-1].position)
    assert shelf.volume == volume
    shelf.cut(some[3].position)
    assert (shelf.positions, shelf.volume != volume) == ([], True)
