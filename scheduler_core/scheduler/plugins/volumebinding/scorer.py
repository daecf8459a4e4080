"""VolumeBinding's score: the utilization of the pod's volumes, or of the storage pools of new volumes.

kube: plugins/volumebinding/{volume_binding,scorer}.go @ v1.34.1 (the gate StorageCapacityScoring, off by default)
DEVIATION: a CSIStorageCapacity that gives a maximumVolumeSize and no capacity counts as one of 0; kube-scheduler crashes on it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.quantity import value_of_nanos
from scheduler_core.apimachinery.objects.storage.volumes import capacity, get_requested_storage
from scheduler_core.scheduler.framework import Rows, Scores, formula
from scheduler_core.scheduler.framework.explanation import Aside, Code, gettext_noop, phrase
from scheduler_core.scheduler.plugins.helper.normalize import (
    MAX_UTILIZATION,
    broken_line_formula,
    broken_linear,
    divide,
    round_half_away,
)
from scheduler_core.scheduler.plugins.volumebinding.matching import NO_ROOM, NONE, Matches

POINTS = 10  # a shape's maximum score is 10, a node's 100

Column = NDArray[np.int64]


class Loads:
    """The requests and capacities by storage class, per row; `counted`: the rows where the class counts."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self.classes: dict[str, tuple[Column, Column, NDArray[np.bool_]]] = {}

    def of(self, name: str) -> tuple[Column, Column, NDArray[np.bool_]]:
        n = self._rows
        if name not in self.classes:
            self.classes[name] = (np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.bool_))
        return self.classes[name]


def capacity_scores(
    matches: Matches, offered: Sequence[Manifest], shape: Sequence[Mapping[str, Any]], rows: Rows
) -> Scores:
    """Return per row the shape's value at each class's utilization, averaged. If any claim has an existing volume, only those count."""
    static, dynamic = loads_of(matches, offered, rows)
    has_static = np.zeros(len(rows), np.bool_)
    for _, _, counted in static.classes.values():
        has_static |= counted
    points = points_of(shape)
    return np.where(has_static, _average(static, points, len(rows)), _average(dynamic, points, len(rows)))


def loads_of(matches: Matches, offered: Sequence[Manifest], rows: Rows) -> tuple[Loads, Loads]:
    """Return the loads of existing volumes and of new volumes."""
    # Claims that bind an existing volume, by the volume's class.
    loads = Loads(len(rows))
    for claim, column in zip(matches.claims, matches.volumes, strict=False):
        got = column[rows]
        for i in np.unique(got[got != NONE]).tolist():
            requests, capacities, counted = loads.of(_class_name(offered[i]))
            here = got == i
            requests[here] += value_of_nanos(get_requested_storage(claim))
            capacities[here] += value_of_nanos(capacity(offered[i]))
            counted |= here
    return loads, _dynamic(matches, rows)


def points_of(shape: Sequence[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """Return the shape's points as (utilization, score of 100)."""
    return [(int(point.get("utilization") or 0), int(point.get("score") or 0) * POINTS) for point in shape]


def _dynamic(matches: Matches, rows: Rows) -> Loads:
    """Return the loads of claims with a new volume, by class; all claims of a class use one pool."""
    loads = Loads(len(rows))
    for claim, mask, rooms in zip(matches.to_provision, matches.provisioned, matches.rooms, strict=False):
        if rooms is None:
            continue
        requests, capacities, counted = loads.of(_class_name(claim))
        here = mask[rows] & (rooms[rows] != NO_ROOM)
        capacities[here] = rooms[rows][here]
        requests[here] += value_of_nanos(get_requested_storage(claim))
        counted |= here
    return loads


def _average(loads: Loads, points: Sequence[tuple[int, int]], rows: int) -> Scores:
    """Average the classes' scores with equal weights; a row without classes scores 0."""
    total, weights = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    for requests, capacities, counted in loads.classes.values():
        share = divide(requests * np.int64(MAX_UTILIZATION), np.maximum(capacities, 1))
        full = (capacities == 0) | (requests > capacities)
        scores = broken_linear(points, np.where(full, np.int64(MAX_UTILIZATION), share))
        total += np.where(counted, scores, 0)
        weights += counted
    mean = total.astype(np.float64) / np.maximum(weights, 1).astype(np.float64)
    return np.where(weights == 0, 0, round_half_away(mean))


def _class_name(manifest: Manifest) -> str:
    """Return spec.storageClassName; as in kube, the annotation is ignored."""
    return str((manifest.get("spec") or {}).get("storageClassName") or "")


# The formula of VolumeBinding's score: the utilization of the pod's volumes, by the shape of the plugin's arguments.
#
# kube: plugins/volumebinding/scorer.go @ v1.34.1

_REQUESTED = gettext_noop("requested by the claims of the class")
_CAPACITY = gettext_noop("capacity of the volumes for these claims")
_NO_VOLUME = gettext_noop("no claim of the pod counts here")
_BY_SHAPE = Aside(phrase("by the shape"))
_AVERAGED = phrase("The shape maps the utilization of each storage class to a score. The result is the mean.")
_STATIC = phrase("If a claim gets an existing volume, only existing volumes count.")


def nothing() -> formula.Formula:
    return formula.Formula((formula.Line(formula.NODE, formula.Value(0, _NO_VOLUME)),), (_AVERAGED,))


def score_formula(
    matches: Matches, offered: Sequence[Manifest], shape: Sequence[Mapping[str, Any]], row: int
) -> formula.Formula:
    static, dynamic = loads_of(matches, offered, np.array([row], np.intp))
    lines = _lines(static, shape) or _lines(dynamic, shape)
    if not lines:
        return nothing()
    scores = lines[1::2]
    mean = formula.share(formula.total(*scores), formula.constant(len(scores)))
    return formula.Formula(
        (*lines, formula.Line(formula.NODE, formula.round_expression(mean))), (_AVERAGED, _STATIC, formula.ROUNDED_DOWN)
    )


def _lines(loads: Loads, shape: Sequence[Mapping[str, Any]]) -> list[formula.Line]:
    """Return each class's utilization on the node and its score by the shape."""
    lines = []
    for name, (requests, capacities, counted) in loads.classes.items():
        if counted[0]:
            utilization = formula.Line((Code(name),), _utilization(int(requests[0]), int(capacities[0])))
            lines += [
                utilization,
                formula.Line((Code(name), " ", _BY_SHAPE), broken_line_formula(points_of(shape), utilization)),
            ]
    return lines


def _utilization(requested: int, capacity: int) -> formula.Expression:
    if capacity == 0 or requested > capacity:
        return formula.constant(MAX_UTILIZATION)
    amount, of = formula.Value(requested, _REQUESTED, "memory"), formula.Value(capacity, _CAPACITY, "memory")
    return formula.by(formula.times(amount, formula.constant(MAX_UTILIZATION)), of)
