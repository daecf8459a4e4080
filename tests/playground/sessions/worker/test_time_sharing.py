"""Whose slice is next in a worker."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from playground.sessions.worker.time_sharing import CALM, EIGHTH, PUT_OFF, QUICK, Job, TimeSharing, TimeSlice


def counted(name: str, slices: int, said: list[str], seconds: float = 0.0) -> Iterator[Any]:
    for _ in range(slices):
        time.sleep(seconds)
        said.append(name)
        yield
    return name


def turns_of(*jobs: tuple[Iterator[Any], bool]) -> tuple[TimeSharing, list[Any]]:
    turns, ended = TimeSharing(TimeSlice()), []
    for steps, slow in jobs:
        turns.add(Job(steps, lambda value, error: ended.append(error or value), slow=slow))  # type: ignore[arg-type]
    return turns, ended


def test_quick_jobs_come_before_slow_ones() -> None:
    said: list[str] = []
    turns, ended = turns_of((counted("run", 2, said), True), (counted("step", 2, said), False))
    while turns:
        turns.turn()
    assert said == ["step", "step", "run", "run"]
    assert ended == ["step", "run"]


def test_slow_jobs_take_turns() -> None:
    said: list[str] = []
    turns, _ = turns_of((counted("a", 2, said), True), (counted("b", 2, said), True))
    while turns:
        turns.turn()
    assert said == ["a", "b", "a", "b"]


def test_a_quick_job_that_takes_long_becomes_a_slow_one() -> None:
    said: list[str] = []
    turns, _ = turns_of((counted("long", 4, said, QUICK / 2), False))
    turns.turn(), turns.turn(), turns.turn()
    turns.add(Job(counted("step", 1, said), lambda value, error: None))  # type: ignore[arg-type]
    turns.turn()
    assert said[-1] == "step"


def test_what_nobody_waits_for_works_in_the_gaps() -> None:
    said: list[str] = []
    turns, _ = turns_of((counted("run", 3, said), True))
    turns.add(Job(counted("save", 2, said), lambda value, error: None, unhurried=True))  # type: ignore[arg-type]
    turns.add(Job(counted("step", 1, said), lambda value, error: None))  # type: ignore[arg-type]
    while turns:
        turns.turn()
    assert said == ["step", "run", "run", "run", "save", "save"]


def test_what_nobody_waits_for_is_not_put_off_for_ever() -> None:
    said: list[str] = []
    turns, _ = turns_of((counted("run", 40, said), True))
    turns.add(Job(counted("save", 2, said), lambda value, error: None, unhurried=True))  # type: ignore[arg-type]
    for _ in range(2 * EIGHTH):
        turns.turn()
    assert [at for at, name in enumerate(said) if name == "save"] == [EIGHTH - 1, 2 * EIGHTH - 1]


def test_what_nobody_waits_for_waits_while_somebody_steps_on_in_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    said: list[str] = []
    turns = TimeSharing(TimeSlice())

    def add(name: str, session: int, unhurried: bool = False) -> None:
        turns.add(Job(counted(name, 0, said), lambda value, error: None, session, unhurried=unhurried))  # type: ignore[arg-type]

    def patience_after_a_step(session: int, after: float) -> float:
        nonlocal now
        add("step", session)
        assert turns.patience == 0
        turns.turn()
        now += after
        return turns.patience

    add("save", 1, unhurried=True)
    assert turns.patience == 0
    assert patience_after_a_step(1, 0.05) == pytest.approx(CALM - 0.05)
    assert patience_after_a_step(1, CALM) == 0
    assert patience_after_a_step(2, 0.0) == 0
    assert patience_after_a_step(1, 0.0) == pytest.approx(CALM)
    now = 100.0 + PUT_OFF
    assert patience_after_a_step(1, 0.0) == 0


def test_an_error_ends_only_its_own_job() -> None:
    def broken() -> Iterator[Any]:
        yield
        raise ValueError("broken")

    said: list[str] = []
    turns, ended = turns_of((broken(), False), (counted("step", 2, said), False))
    while turns:
        turns.turn()
    assert [str(one) for one in ended] == ["broken", "step"]
