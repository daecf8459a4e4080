"""The default normalisation of scores.

kube: plugins/helper/normalize_score.go @ v1.34.1
"""

from __future__ import annotations

import numpy as np

from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.explanation import Parts, Source, Words, gettext_noop
from scheduler_core.scheduler.framework.formula import Formula, Line, Value, by, constant, minus, times
from scheduler_core.scheduler.framework.plugin import MAX_NODE_SCORE, Rows, Scores
from scheduler_core.scheduler.plugins.helper.go_math import divide


def default_normalize(scores: Scores, *, reverse: bool = False) -> Scores:
    """Scales scores so that the highest becomes 100; reversed, the highest becomes 0.

    Where every score is 0 they stay so, or all become 100 when reversed.
    """
    highest = int(scores.max(initial=0))
    if highest == 0:
        return np.full_like(scores, MAX_NODE_SCORE) if reverse else scores.copy()
    scaled = divide(scores * np.int64(MAX_NODE_SCORE), highest)
    return MAX_NODE_SCORE - scaled if reverse else scaled


_RAW = gettext_noop("score of the node")
_HIGHEST = gettext_noop("highest score of a node")
_LOWEST = gettext_noop("lowest score of a node")
_UP: Parts = (Words(gettext_noop("The node with the highest score gets 100.")),)
_DOWN: Parts = (Words(gettext_noop("Less is better here: the node with the highest score gets 0.")),)
_ALL_ZERO: Parts = (Words(gettext_noop("Every node scores 0.")),)
BETWEEN: Parts = (Words(gettext_noop("The lowest score becomes 0 and the highest 100.")),)
ALIKE: Parts = (Words(gettext_noop("All nodes have the same score, so all get 0.")),)
NORMALIZED: Parts = (Words(gettext_noop("normalized")),)


def raw_value(scores: Scores, i: int) -> Value:
    return Value(int(scores[i]), _RAW)


def highest_value(nodes: NodeTable, rows: Rows, scores: Scores) -> Value:
    """Return the highest score and its node."""
    i = int(scores.argmax())
    return Value(int(scores[i]), _HIGHEST, source=Source("Node", nodes.names[int(rows[i])]))


def lowest_value(nodes: NodeTable, rows: Rows, scores: Scores) -> Value:
    i = int(scores.argmin())
    return Value(int(scores[i]), _LOWEST, source=Source("Node", nodes.names[int(rows[i])]))


def span_normalization(nodes: NodeTable, rows: Rows, scores: Scores, i: int) -> Formula:
    """Return the formula that scales scores from 0 (lowest) to 100 (highest), in whole numbers."""
    highest, lowest = highest_value(nodes, rows, scores), lowest_value(nodes, rows, scores)
    if highest.number == lowest.number:
        return Formula((Line(NORMALIZED, constant(0)),), (ALIKE,))
    part = times(minus(raw_value(scores, i), lowest), constant(MAX_NODE_SCORE))
    return Formula((Line(NORMALIZED, by(part, minus(highest, lowest))),), (BETWEEN,))


def default_normalization(nodes: NodeTable, rows: Rows, scores: Scores, i: int, *, reverse: bool = False) -> Formula:
    """Return the formula by which default_normalize computes the `i`th row's score."""
    hundred = constant(MAX_NODE_SCORE)
    notes = (_DOWN if reverse else _UP,)
    if int(scores.max(initial=0)) == 0:
        return Formula((Line(NORMALIZED, hundred if reverse else raw_value(scores, i)),), (_ALL_ZERO,))
    scaled = by(times(raw_value(scores, i), hundred), highest_value(nodes, rows, scores))
    return Formula((Line(NORMALIZED, minus(hundred, scaled) if reverse else scaled),), notes)
