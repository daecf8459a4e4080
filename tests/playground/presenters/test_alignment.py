"""Two attempts laid side by side: what both did is level, and steps of every grain lead on and back."""

from __future__ import annotations

import pytest

from playground.features.lockstep.presenter import Row, back, forward, place_of
from playground.features.lockstep.presenter import align_rows as rows
from playground.features.lockstep.query import StretchSteps, TakenStep


def made(start: int, prints: str) -> StretchSteps:
    """A stretch with a step for each letter; a small one is a plugin of the point of that letter, another one no plugin."""
    steps = enumerate(prints, start + 1)
    return StretchSteps(start, [TakenStep(at, letter if letter.islower() else "", "", letter) for at, letter in steps])


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ("ab", "ab", [(0, 10), (1, 11), (2, 12)]),
        ("ab", "Xab", [(0, 10), (0, 11), (1, 12), (2, 13)]),
        ("axb", "ayb", [(0, 10), (1, 11), (2, 12), (3, 13)]),
        ("ab", "", [(0, 10), (1, 10), (2, 10)]),
    ],
)
def test_what_both_did_is_level_and_the_rest_goes_beside_it(
    ours: str, theirs: str, expected: list[tuple[int, int]]
) -> None:
    assert [row.at for row in rows(made(0, ours), made(10, theirs))] == expected


def line(prints: str, start: int = 0) -> list[Row]:
    return rows(made(start, prints), made(start, prints))


@pytest.mark.parametrize(("grain", "at"), [("plugin", 2), ("point", 3), ("pod", 5), ("event", 4)])
def test_a_step_goes_as_far_as_its_grain_says(grain: str, at: int) -> None:
    steps = line("aabXc")
    assert forward(steps, 1, line("a", 5), grain) == (at, at)


def test_from_the_end_of_an_attempt_a_step_leads_into_the_next() -> None:
    assert forward(line("ab"), 2, line("cd", 2), "plugin") == (3, 3)
    assert forward(line("ab"), 2, line("cd", 2), "pod") == (4, 4)


@pytest.mark.parametrize(("grain", "at"), [("plugin", 4), ("point", 3), ("pod", 0), ("event", 4)])
def test_back_by_a_grain(grain: str, at: int) -> None:
    assert back(line("aabXc"), 5, grain) == (at, at)


def test_without_a_second_position_the_first_one_says_where_both_stand() -> None:
    steps = rows(made(0, "ab"), made(10, "Xab"))
    assert steps[place_of(steps, (1, None))].at == (1, 12)
    assert steps[place_of(steps, (0, 10))].at == (0, 10)
