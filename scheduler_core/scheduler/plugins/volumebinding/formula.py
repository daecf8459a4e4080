"""How VolumeBinding comes to a node's score: how full the volumes are that the pod would get, by the shape of the plugin's arguments.

kube: plugins/volumebinding/scorer.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.scheduler.framework import formula
from scheduler_core.scheduler.framework.explanation import Aside, Code, Parts, Words, gettext_noop
from scheduler_core.scheduler.plugins.helper.normalize import MAX_UTILIZATION, broken_line_formula
from scheduler_core.scheduler.plugins.volumebinding.matching import Matches
from scheduler_core.scheduler.plugins.volumebinding.scorer import Loads, loads_of, points_of

_REQUESTED = gettext_noop("requested by the claims of the class")
_CAPACITY = gettext_noop("capacity of the volumes for these claims")
_NO_VOLUME = gettext_noop("no claim of the pod counts here")
_BY_SHAPE = Aside((Words(gettext_noop("by the shape")),))
_NODE: Parts = (Words(gettext_noop("node")),)
_AVERAGED: Parts = (
    Words(gettext_noop("The shape maps the utilization of each storage class to a score. The result is the mean.")),
)
_STATIC: Parts = (Words(gettext_noop("If a claim gets an existing volume, only existing volumes count.")),)


def nothing() -> formula.Formula:
    return formula.Formula((formula.Line(_NODE, formula.Value(0, _NO_VOLUME)),), (_AVERAGED,))


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
        (*lines, formula.Line(_NODE, formula.round_expression(mean))), (_AVERAGED, _STATIC, formula.ROUNDED_DOWN)
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
