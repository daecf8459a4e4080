"""How VolumeBinding comes to a node's score: how full the volumes are that the pod would get, by the shape of the plugin's arguments.

kube: plugins/volumebinding/scorer.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.scheduler.framework.explanation import Aside, Code, Parts, Words, gettext_noop
from scheduler_core.scheduler.framework.formula import (
    ROUNDED_DOWN,
    Expression,
    Formula,
    Line,
    Value,
    by,
    constant,
    round_expression,
    share,
    times,
    total,
)
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


def nothing() -> Formula:
    return Formula((Line(_NODE, Value(0, _NO_VOLUME)),), (_AVERAGED,))


def score_formula(
    matches: Matches, offered: Sequence[Manifest], shape: Sequence[Mapping[str, Any]], row: int
) -> Formula:
    static, dynamic = loads_of(matches, offered, np.array([row], np.intp))
    lines = _lines(static, shape) or _lines(dynamic, shape)
    if not lines:
        return nothing()
    scores = lines[1::2]
    mean = share(total(*scores), constant(len(scores)))
    return Formula((*lines, Line(_NODE, round_expression(mean))), (_AVERAGED, _STATIC, ROUNDED_DOWN))


def _lines(loads: Loads, shape: Sequence[Mapping[str, Any]]) -> list[Line]:
    """Return each class's utilization on the node and its score by the shape."""
    lines = []
    for name, (requests, capacities, counted) in loads.classes.items():
        if counted[0]:
            utilization = Line((Code(name),), _utilization(int(requests[0]), int(capacities[0])))
            lines += [
                utilization,
                Line((Code(name), " ", _BY_SHAPE), broken_line_formula(points_of(shape), utilization)),
            ]
    return lines


def _utilization(requested: int, capacity: int) -> Expression:
    if capacity == 0 or requested > capacity:
        return constant(MAX_UTILIZATION)
    amount, of = Value(requested, _REQUESTED, "memory"), Value(capacity, _CAPACITY, "memory")
    return by(times(amount, constant(MAX_UTILIZATION)), of)
