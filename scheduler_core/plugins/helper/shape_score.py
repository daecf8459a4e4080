"""Scores by a shape: points of utilization and score, and the broken line through them.

kube: plugins/helper/shape_score.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.plugin import Scores
from scheduler_core.plugins.helper.go_math import divide

MAX_CUSTOM_SCORE = 10
MAX_UTILIZATION = 100


def broken_linear(points: Sequence[tuple[int, int]], p: NDArray[np.int64]) -> Scores:
    """The function through the points (x, y), x ascending: constant outside them, linear and truncated between."""
    result = np.full(len(p), points[-1][1], np.int64)
    for i in range(len(points) - 1, 0, -1):
        (x0, y0), (x1, y1) = points[i - 1], points[i]
        between = y0 + divide((y1 - y0) * (p - x0), x1 - x0)
        result = np.where(p <= x1, between, result)
    return np.where(p <= points[0][0], np.int64(points[0][1]), result)
