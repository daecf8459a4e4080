"""The order in which equal pods stand when more than twelve are sorted by importance."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scheduler_core.scheduler.framework.preemption.go_sort import go_sorted

# What sort.Slice made of these keys (go 1.24).
SEEN: list[tuple[int, Callable[[int], int], str]] = [
    (13, lambda i: 0, "0 1 2 3 4 5 6 7 8 9 10 11 12"),
    (16, lambda i: i * 7 % 3, "6 15 12 3 0 9 4 7 10 13 1 8 5 11 2 14"),
    (20, lambda i: i * i % 5, "10 5 15 0 1 11 6 19 9 16 14 4 3 13 12 2 8 17 18 7"),
    (14, lambda i: -(i // 2), "13 12 11 10 8 9 6 7 5 4 3 2 0 1"),
    (
        60,
        lambda i: i * 11 % 4,
        "52 48 56 32 4 24 28 8 16 36 0 20 12 40 44 7 15 43 47 19 11 39 51 23 55 35 3 27 59 31 "
        "30 6 26 58 34 2 22 54 38 50 18 10 42 46 14 45 17 13 41 49 21 9 29 53 37 5 25 57 33 1",
    ),
]


@pytest.mark.parametrize(("count", "key", "order"), SEEN)
def test_equals_stand_as_go_leaves_them(count: int, key: Callable[[int], int], order: str) -> None:
    assert go_sorted(list(range(count)), key) == [int(i) for i in order.split()]


def test_up_to_twelve_equals_keep_their_order() -> None:
    assert go_sorted(list(range(12)), lambda i: i % 2) == [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11]


@pytest.mark.parametrize("count", [13, 49, 50, 200, 1000])
@pytest.mark.parametrize("kinds", [2, 7, 40])
def test_long_lists_come_out_sorted(count: int, kinds: int) -> None:
    keys = [i * i * 7919 % 101 % kinds for i in range(count)]
    found = go_sorted(list(range(count)), keys.__getitem__)
    assert [keys[i] for i in found] == sorted(keys)
    assert sorted(found) == list(range(count))
