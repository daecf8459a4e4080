"""The default normalization of scores.

kube: plugins/helper/normalize_score.go @ v1.34.1
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.errors import FieldError, build_required_error, invalid
from scheduler_core.apimachinery.objects.strict import INTEGER32, ListOf, Shape
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.explanation import Source, gettext_noop, phrase
from scheduler_core.scheduler.framework.formula import (
    Expression,
    Formula,
    Line,
    Value,
    by,
    constant,
    minus,
    times,
    total,
)
from scheduler_core.scheduler.framework.plugin import MAX_NODE_SCORE, Rows, Scores
from scheduler_core.scheduler.plugins.helper.arguments import range_errors

# Arithmetic as Go does it, the same bits on every machine.
#
# kube relies on Go's math package; source of the method: FreeBSD's e_log.c, which Go's math.Log follows.

_LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_ODD = (6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01, 1.479819860511658591e-01)
_EVEN = (3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01)


@lru_cache(maxsize=65536)
def log(x: float) -> float:
    """Natural logarithm of a positive finite number; it may differ from the C library's in the last bit."""
    fraction, exponent = math.frexp(x)
    if fraction < math.sqrt(2) / 2:
        fraction *= 2
        exponent -= 1
    f = fraction - 1
    s = f / (2 + f)
    s2 = s * s
    s4 = s2 * s2
    odd = s2 * (_ODD[0] + s4 * (_ODD[1] + s4 * (_ODD[2] + s4 * _ODD[3])))
    even = s4 * (_EVEN[0] + s4 * (_EVEN[1] + s4 * _EVEN[2]))
    half = 0.5 * f * f
    return exponent * _LN2_HIGH - ((half - (s * (half + (odd + even)) + exponent * _LN2_LOW)) - f)


def round_half_up(x: NDArray[np.float64]) -> NDArray[np.int64]:
    """Round non-negative numbers elementwise as math.Round: halves up."""
    whole = np.floor(x)
    return (whole + (x - whole >= 0.5)).astype(np.int64)


def round_half_away(x: NDArray[np.float64]) -> NDArray[np.int64]:
    """Go's math.Round: to the nearest integer, halves away from zero."""
    whole = np.trunc(x)
    return (whole + np.copysign(np.abs(x - whole) >= 0.5, x)).astype(np.int64)


def divide(a: NDArray[np.int64], b: NDArray[np.int64] | int) -> NDArray[np.int64]:
    """Elementwise a / b as Go divides int64: truncated toward zero. `b` is positive."""
    quotient = a // b
    if a.size and a.min() < 0:
        quotient = quotient + ((quotient < 0) & (quotient * b != a))
    return quotient


# Scores by a shape: points of utilization and score, and the broken line through them.
# kube: plugins/helper/shape_score.go, apis/config/validation/validation_pluginargs.go (validateFunctionShape) @ v1.34.1

MAX_CUSTOM_SCORE = 10
MAX_UTILIZATION = 100

POINTS: Shape = ListOf({"utilization": INTEGER32, "score": INTEGER32})


def point_errors(points: Sequence[Mapping[str, Any]], path: str) -> list[FieldError]:
    if not points:
        return [build_required_error(path, "at least one point must be specified")]
    errors: list[FieldError] = []
    places = [point.get("utilization") or 0 for point in points]
    for i in range(1, len(places)):
        if places[i - 1] >= places[i]:
            errors.append(invalid(f"{path}[{i}].utilization", places[i], "values must be sorted in increasing order"))
            break
    for i, point in enumerate(points):
        errors += range_errors(places[i], f"{path}[{i}].utilization", 0, MAX_UTILIZATION)
        errors += range_errors(point.get("score") or 0, f"{path}[{i}].score", 0, MAX_CUSTOM_SCORE)
    return errors


def broken_linear(points: Sequence[tuple[int, int]], p: NDArray[np.int64]) -> Scores:
    """Return the values of the function through the points (x, y), x ascending: constant outside them, linear and truncated between."""
    result = np.full(len(p), points[-1][1], np.int64)
    for i in range(len(points) - 1, 0, -1):
        (x0, y0), (x1, y1) = points[i - 1], points[i]
        between = y0 + divide((y1 - y0) * (p - x0), x1 - x0)
        result = np.where(p <= x1, between, result)
    return np.where(p <= points[0][0], np.int64(points[0][1]), result)


def broken_line_formula(points: Sequence[tuple[int, int]], p: Line) -> Expression:
    """Return the formula of the broken line for one value: the line's segment at that value."""
    if p.result <= points[0][0]:
        return constant(points[0][1])
    for (x0, y0), (x1, y1) in pairwise(points):
        if p.result <= x1:
            rise = times(minus(constant(y1), constant(y0)), minus(p, constant(x0)))
            return total(constant(y0), by(rise, minus(constant(x1), constant(x0))))
    return constant(points[-1][1])


def default_normalize(scores: Scores, *, reverse: bool = False) -> Scores:
    """Scale scores so that the highest becomes 100; reversed, the highest becomes 0.

    If all scores are 0, they remain 0, or become 100 when reversed.
    """
    highest = int(scores.max()) if np.count_nonzero(scores) else 0
    if highest <= 0:
        return np.full_like(scores, MAX_NODE_SCORE) if reverse else scores.copy()
    scaled = divide(scores * np.int64(MAX_NODE_SCORE), highest)
    return MAX_NODE_SCORE - scaled if reverse else scaled


_RAW = gettext_noop("score of the node")
_HIGHEST = gettext_noop("highest score of a node")
_LOWEST = gettext_noop("lowest score of a node")
_UP = phrase("The node with the highest score gets 100.")
_DOWN = phrase("Lower is better here: the node with the highest score gets 0.")
_ALL_ZERO = phrase("Every node scores 0.")
BETWEEN = phrase("The lowest score becomes 0 and the highest 100.")
ALIKE = phrase("All nodes have the same score, so all get 0.")
NORMALIZED = phrase("normalized")


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
