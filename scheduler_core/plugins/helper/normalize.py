"""The default normalisation of scores.

kube: plugins/helper/normalize_score.go @ v1.34.1
"""

from __future__ import annotations

import numpy as np

from scheduler_core.framework.plugin import MAX_NODE_SCORE, Scores
from scheduler_core.plugins.helper.go_math import divide


def default_normalize(scores: Scores, *, reverse: bool = False) -> Scores:
    """Scales scores so that the highest becomes 100; reversed, the highest becomes 0.

    Where every score is 0 they stay so, or all become 100 when reversed.
    """
    highest = int(scores.max(initial=0))
    if highest == 0:
        return np.full_like(scores, MAX_NODE_SCORE) if reverse else scores.copy()
    scaled = divide(scores * np.int64(MAX_NODE_SCORE), highest)
    return MAX_NODE_SCORE - scaled if reverse else scaled
