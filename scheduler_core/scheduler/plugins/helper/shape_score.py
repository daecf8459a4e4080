"""Scores by a shape: points of utilization and score, and the broken line through them.

kube: plugins/helper/shape_score.go, apis/config/validation/validation_pluginargs.go (validateFunctionShape) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.errors import FieldError, build_required_error, invalid
from scheduler_core.apimachinery.objects.strict import INTEGER32, ListOf, Shape
from scheduler_core.scheduler.framework.formula import Expression, Line, by, constant, minus, times, total
from scheduler_core.scheduler.framework.plugin import Scores
from scheduler_core.scheduler.plugins.helper.arguments import range_errors
from scheduler_core.scheduler.plugins.helper.go_math import divide

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
            detail = "values must be sorted in increasing order"
            errors.append(invalid(f"{path}[{i}].utilization", places[i], detail))
            break
    for i, point in enumerate(points):
        errors += range_errors(places[i], f"{path}[{i}].utilization", 0, MAX_UTILIZATION)
        errors += range_errors(point.get("score") or 0, f"{path}[{i}].score", 0, MAX_CUSTOM_SCORE)
    return errors


def broken_linear(points: Sequence[tuple[int, int]], p: NDArray[np.int64]) -> Scores:
    """The function through the points (x, y), x ascending: constant outside them, linear and truncated between."""
    result = np.full(len(p), points[-1][1], np.int64)
    for i in range(len(points) - 1, 0, -1):
        (x0, y0), (x1, y1) = points[i - 1], points[i]
        between = y0 + divide((y1 - y0) * (p - x0), x1 - x0)
        result = np.where(p <= x1, between, result)
    return np.where(p <= points[0][0], np.int64(points[0][1]), result)


def broken_line_formula(points: Sequence[tuple[int, int]], p: Line) -> Expression:
    """The same for one value: the piece of the line that it lies on."""
    if p.result <= points[0][0]:
        return constant(points[0][1])
    for (x0, y0), (x1, y1) in pairwise(points):
        if p.result <= x1:
            rise = times(minus(constant(y1), constant(y0)), minus(p, constant(x0)))
            return total(constant(y0), by(rise, minus(constant(x1), constant(x0))))
    return constant(points[-1][1])
