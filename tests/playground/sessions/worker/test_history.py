"""Any position of a world from checkpoints and replay; here the world is a list of numbers."""

from __future__ import annotations

import gc
import itertools
import random
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from playground.sessions.worker import past
from playground.sessions.worker.past import WORLDS, DroppedWorlds, History
from playground.sessions.worker.time_sharing import TimeSlice


class Numbers:
    """A world whose state says whether each transition was made once and in order."""

    def __init__(self, made: tuple[int, ...] = ()) -> None:
        self.made = made
        self.connect()

    @property
    def position(self) -> int:
        return len(self.made)

    def advance(self) -> None:
        self.made = (*self.made, self.position * self.position)

    def fork(self) -> Numbers:
        return Numbers(self.made)

    def connect(self) -> None:
        """Refers to itself, as a world does."""
        self.itself = self

    def disconnect(self) -> None:
        del self.itself


def walked(length: int, seconds: float = 0.05) -> History:
    world = Numbers()
    history = History(world, Numbers.advance, TimeSlice())
    for _ in range(length):
        world.advance()
        history.worked(world, seconds)
    return history


def finish(steps: Iterator[Any]) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def test_every_position_is_found_as_it_was() -> None:
    history = walked(300)
    order = list(range(301))
    random.Random(1).shuffle(order)
    for position in order:
        assert finish(history.at(position)).made == tuple(i * i for i in range(position))


@pytest.mark.parametrize("copy", [0.1, 5, 40])
def test_who_walks_back_waits_for_a_few_transitions_at_each_step(monkeypatch, copy) -> None:
    clock = [0.0]
    monkeypatch.setattr(past.time, "thread_time", lambda: clock[0])

    class Slow(Numbers):
        def advance(self) -> None:
            super().advance()
            clock[0] += 1

        def fork(self) -> Slow:
            clock[0] += copy
            return Slow(self.made)

    history = History(Slow(), Slow.advance, TimeSlice())
    finish(history.at(1000))
    begun = clock[0]
    for position in range(999, 600, -1):
        assert finish(history.at(position)).position == position
    assert (clock[0] - begun) / 399 < 2 * copy + 12  # of 800 transitions from the beginning to each of them
    assert len(history._near) <= past.LOCAL_CHECKPOINTS


def test_looking_at_a_position_does_not_change_it() -> None:
    history = walked(50)
    finish(history.at(20)).fork().advance()
    assert finish(history.at(20)).position == 20


def test_checkpoints_stay_few_and_about_equally_far_apart_in_work() -> None:
    history = walked(3000)
    marks = history._checkpoints
    assert len(marks) <= past.MOST_CHECKPOINTS
    gaps = [after.work - before.work for before, after in itertools.pairwise(marks)]
    assert max(gaps) <= 4 * 3000 * 0.05 / past.MOST_CHECKPOINTS


def test_a_large_world_has_fewer_checkpoints() -> None:
    world = Numbers()
    history = History(world, Numbers.advance, TimeSlice(), lambda world: past.OBJECTS // 20)
    for _ in range(3000):
        world.advance()
        history.worked(world, 0.05)
    assert past.FEWEST_CHECKPOINTS <= len(history._checkpoints) <= 20


def test_a_transition_that_took_long_keeps_a_checkpoint_on_either_side() -> None:
    world = Numbers()
    history = History(world, Numbers.advance, TimeSlice())
    for seconds in [5.0] + [0.05] * 2000:
        world.advance()
        history.worked(world, seconds)
    assert [checkpoint.position for checkpoint in history._checkpoints[:2]] == [0, 1]


def test_a_short_step_back_after_a_long_replay_replays_little(monkeypatch: pytest.MonkeyPatch) -> None:
    history = walked(100, seconds=0.0)
    replayed, spent = 0, 0.0
    monkeypatch.setattr(past.time, "thread_time", lambda: spent)

    def slowly(world: Numbers) -> None:
        nonlocal replayed, spent
        replayed, spent = replayed + 1, spent + 0.002
        world.advance()

    history.replay = slowly
    finish(history.at(100))
    replayed = 0
    finish(history.at(99))
    assert replayed <= 2


def test_what_comes_after_a_cut_is_forgotten() -> None:
    history = walked(200)
    finish(history.at(150))
    history.cut(100)
    assert finish(history.at(100)).position == 100
    assert all(checkpoint.position <= 100 for checkpoint in history._checkpoints)
    assert all(position <= 100 for position in history._worlds)


def test_the_memory_of_worlds_that_nobody_looks_at_any_more_is_free_at_once() -> None:
    history = walked(400)
    gc.disable()
    try:
        worlds = [weakref.ref(finish(history.at(position))) for position in range(100, 60, -1)]
        assert [ref() is None for ref in worlds] == [True] * (40 - WORLDS) + [False] * WORLDS
        history.cut(10)
        assert all(ref() is None for ref in worlds)
    finally:
        gc.enable()


def test_a_world_that_somebody_looks_at_stays_as_it_is() -> None:
    history = walked(400)
    before, mine = DroppedWorlds.dropped, finish(history.at(100))
    for position in range(99, 60, -1):
        finish(history.at(position))
    assert mine.itself is mine
    assert DroppedWorlds.dropped == before + 1
