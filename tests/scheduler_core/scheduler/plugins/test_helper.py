"""Go's integer division and kube's default normalisation."""

from collections.abc import Hashable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.scheduler.plugins.helper.memo import MEMO_LIMIT, remember
from scheduler_core.scheduler.plugins.helper.normalize import default_normalize, divide


@given(st.integers(-(2**62), 2**62), st.integers(1, 2**62))
def test_division_truncates_toward_zero_as_in_go(a: int, b: int) -> None:
    expected = abs(a) // b * (1 if a >= 0 else -1)
    assert divide(np.array([a]), b).tolist() == [expected]


@pytest.mark.parametrize(
    ("raw", "reverse", "expected"),
    [
        ([0, 0], False, [0, 0]),
        ([0, 0], True, [100, 100]),
        ([1, 2, 3], False, [33, 66, 100]),
        ([0, 1, 2, 3], True, [100, 67, 34, 0]),
        ([7], False, [100]),
    ],
)
def test_normalising_scales_the_highest_to_a_hundred(raw: list[int], reverse: bool, expected: list[int]) -> None:
    assert default_normalize(np.array(raw, np.int64), reverse=reverse).tolist() == expected


def test_normalising_leaves_the_raw_scores_as_they_are() -> None:
    raw = np.array([1, 2], np.int64)
    default_normalize(raw)
    assert raw.tolist() == [1, 2]


def test_a_full_memo_starts_again() -> None:
    memo: dict[Hashable, int] = {i: i for i in range(MEMO_LIMIT)}
    assert remember(memo, "new", lambda: 7) == 7
    assert memo == {"new": 7}
