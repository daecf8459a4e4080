"""What several plugins share: Go's integer division, the default normalisation, and a bounded memo.

kube: plugins/helper/normalize_score.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.plugin import MAX_NODE_SCORE, Scores

T = TypeVar("T")

MEMO_LIMIT = 4096


def divide(a: NDArray[np.int64], b: NDArray[np.int64] | int) -> NDArray[np.int64]:
    """Elementwise a / b as Go divides int64: truncated toward zero. `b` is positive."""
    quotient = a // b
    if a.size and a.min() < 0:
        quotient = quotient + ((quotient < 0) & (quotient * b != a))
    return quotient


def default_normalize(scores: Scores, *, reverse: bool = False) -> Scores:
    """Scales scores so that the highest becomes 100; reversed, the highest becomes 0.

    Where every score is 0 they stay so, or all become 100 when reversed.
    """
    highest = int(scores.max(initial=0))
    if highest == 0:
        return np.full_like(scores, MAX_NODE_SCORE) if reverse else scores.copy()
    scaled = divide(scores * np.int64(MAX_NODE_SCORE), highest)
    return MAX_NODE_SCORE - scaled if reverse else scaled


def remember(memo: dict[Hashable, Any], key: Hashable, make: Callable[[], T]) -> T:
    """The memo's value for the key, made when it is missing. A full memo starts again, so that it stays bounded."""
    try:
        found: T = memo[key]
    except KeyError:
        if len(memo) >= MEMO_LIMIT:
            memo.clear()
        found = memo[key] = make()
    return found
