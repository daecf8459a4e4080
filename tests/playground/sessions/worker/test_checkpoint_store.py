"""Checkpoints as bytes: few, about equally far apart in work, and found again. The world is a real one, its work is made up."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from playground.sessions.worker import checkpoint_store
from playground.sessions.worker.checkpoint_store import CheckpointStore, SaveResult
from playground.sessions.worker.past import Checkpoint, History
from playground.sessions.worker.time_sharing import TimeSlice
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.playground.sessions.worlds import node, pod


def finish(steps: Iterator[Any]) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def checkpoints(count: int, work: float = 0.1) -> list[Checkpoint]:
    """Copies of a world after each of some transitions."""
    world = Simulation()
    world.apply(ApplyObjects((node("n"), pod("p"), pod("q"))))
    made = []
    for number in range(1, count + 1):
        world.advance()
        made.append(Checkpoint(world.position, number * work, world.fork()))
    return made


def save(store: CheckpointStore, some: list[Checkpoint]) -> list[SaveResult]:
    """Everything that there is to save, turn by turn."""
    saved = [finish(store.save(some))]
    while saved[-1].more:
        saved.append(finish(store.save(some)))
    return saved


@pytest.fixture(autouse=True)
def quick_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_store, "WORTH", 0.0)


def test_a_longer_history_has_no_more_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_store, "MOST", 8)
    store, some = CheckpointStore(), checkpoints(60)
    for upto in range(1, 61):
        save(store, some[:upto])
        assert len(store.positions) <= 9
    gaps = [after - before for before, after in itertools.pairwise([2, *store.positions])]
    assert max(gaps) <= 2 * 60 / 8 + 1


def test_the_head_is_kept_until_the_next_time() -> None:
    store, some = CheckpointStore(), checkpoints(12, work=0.001)
    save(store, some[:5])
    assert store.positions == [some[0].position, some[4].position]
    (saved,) = save(store, some)
    assert saved.dropped == [some[4].position]
    assert [kept.position for kept in saved.new] == [some[11].position]


def test_not_everything_is_written_at_once() -> None:
    store = CheckpointStore()
    turns = save(store, checkpoints(30))
    assert [len(saved.new) for saved in turns] == [8, 8, 8, 6]
    assert turns[0].new[-1].position == 31  # the head comes with the first turn


def test_many_bytes_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    store, some = CheckpointStore(), checkpoints(30)
    monkeypatch.setattr(checkpoint_store, "MOST_BYTES", 40_000)
    save(store, some)
    assert len(store.positions) < 15
    assert store.positions[-1] == some[-1].position


def test_any_position_is_found_from_bytes_alone() -> None:
    store, some = CheckpointStore(), checkpoints(30, work=10.0)
    save(store, some)
    past = History(Simulation(), lambda world: world.advance() and None, TimeSlice())
    past.store = store
    assert past.positions() == [0, *(checkpoint.position for checkpoint in some)]
    for checkpoint in some[::4]:
        found = past.nearest(checkpoint.position)
        assert found.position == checkpoint.position
        assert found.journal.moves == checkpoint.world.journal.moves


def test_a_checkpoint_is_read_once() -> None:
    store, some = CheckpointStore(), checkpoints(30, work=10.0)
    save(store, some)
    past = History(Simulation(), lambda world: None, TimeSlice())
    past.store = store
    past.nearest(some[9].position)
    store.forget()
    assert past.nearest(some[9].position).position == some[9].position


def test_bytes_are_not_read_where_the_replay_is_shorter() -> None:
    store, some = CheckpointStore(), checkpoints(10, work=0.001)
    save(store, some)
    store.pace = 5.0
    past = History(Simulation(), lambda world: None, TimeSlice())
    past.store = store
    assert past.nearest(some[-1].position).position == 0


def test_what_was_never_read_is_taken_to_cost_what_it_took_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count()
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_store.time, "thread_time", lambda: next(clock))  # everything takes seconds
        store, some = CheckpointStore(), checkpoints(10, work=0.001)
        save(store, some)
    past = History(Simulation(), lambda world: None, TimeSlice())
    past.store = store
    assert past.nearest(some[-1].position).position == 0


def test_a_world_that_cannot_be_written_stops_the_saving_not_the_session(capsys: Any) -> None:
    store, (checkpoint,) = CheckpointStore(), checkpoints(1)
    checkpoint.world.faults["bind", "x"] = object()
    (saved,) = save(store, [checkpoint])
    assert (saved.new, saved.more) == ([], False)
    assert "declare it as scheduler_core/base/state.py says" in capsys.readouterr().err


def test_a_cut_of_what_is_stored_begins_anew() -> None:
    store, some = CheckpointStore(), checkpoints(10)
    save(store, some)
    volume = store.volume
    store.cut(some[-1].position)
    assert store.volume == volume
    store.cut(some[3].position)
    assert (store.positions, store.volume != volume) == ([], True)


def test_what_was_being_written_when_all_is_begun_anew_is_dropped() -> None:
    store, some = CheckpointStore(), checkpoints(3)
    turns = len(list(CheckpointStore().save(some)))
    for turn in range(1, turns):
        steps = store.save(some)
        for _ in range(turn):
            next(steps)
        store.forget()
        assert finish(steps) == SaveResult([], [], None, more=True)
        assert (store.positions, store.archive.count) == ([], 0)
    assert save(store, some)[-1].new
    for checkpoint in some:
        assert store.read(store.before(checkpoint.position)).position <= checkpoint.position
