"""The normalizations of the scores of a Score expression."""

from collections.abc import Callable, Mapping

import numpy as np

from scheduler_core.scheduler.framework.plugin import MAX_NODE_SCORE, Scores
from scheduler_core.scheduler.plugins.helper.normalize import default_normalize


def _min_max(scores: Scores) -> Scores:
    """Scale the scores so that the lowest is 0 and the highest 100; equal scores all become 0."""
    lowest, highest = int(scores.min()), int(scores.max())
    if lowest == highest:
        return np.zeros(len(scores), np.int64)
    exact = [(score - lowest) * MAX_NODE_SCORE // (highest - lowest) for score in scores.tolist()]
    return np.array(exact, np.int64)


NORMALIZED: Mapping[str, Callable[[Scores], Scores]] = {
    "default": default_normalize,
    "reversed": lambda scores: default_normalize(scores, reverse=True),
    "min-max": _min_max,
}
