"""TargetLoadPacking: packs nodes up to a load, then spreads. Ours, after the plugin of that name in kubernetes-sigs/scheduler-plugins.

It scores measured load, not requests. The annotation `playground.dev/cpu-utilization` of a node replaces the metrics server, in percent
of the node's CPU. Pods of the node that do not run yet are not in the measurement: their requests are added.
"""

import math
import re

import numpy as np

from scheduler_core.apimachinery.objects import FieldError, Pod, invalid
from scheduler_core.apimachinery.objects.quantity import BadQuantity, milli_of_nanos, nanos
from scheduler_core.apimachinery.objects.strict import INTEGER64, STRING
from scheduler_core.scheduler.cache.table import CPU, NodeTable
from scheduler_core.scheduler.framework import CycleState, Features, Status, error
from scheduler_core.scheduler.framework.arguments import Arguments, Given, present
from scheduler_core.scheduler.framework.explanation import Source, gettext_noop, phrase
from scheduler_core.scheduler.framework.formula import (
    NODE,
    Formula,
    Line,
    Of,
    Operator,
    Value,
    constant,
    minus,
    share,
    times,
    total,
)
from scheduler_core.scheduler.framework.plugin import MAX_NODE_SCORE, MIN_NODE_SCORE, Rows, Scores
from scheduler_core.scheduler.plugins.outoftree.base import OutOfTreePlugin

ANNOTATION = "playground.dev/cpu-utilization"

_MEASURED = gettext_noop("measured on the node, in percent")
_CAPACITY = gettext_noop("allocatable on the node")
_OWN = gettext_noop("expected usage of the pod")
_WAITING = gettext_noop("expected usage of pods on the node that do not run yet")
_TARGET = gettext_noop("targetUtilization of the plugin")
_UNMEASURED = gettext_noop("no measurement of the node")
_LOAD = phrase("load")
_PACKED = phrase("Below the target, the fuller node scores higher. Above the target, the emptier node scores higher.")

_HALF_UP = Operator("round", lambda number: math.floor(number + 0.5), infix=False)

_PERCENT = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3})?\Z", re.ASCII)


def _defaults(given: Given, features: Features) -> Given:
    return {
        "targetUtilization": given.get("targetUtilization") or 40,
        "defaultRequests": {"cpu": "1000m", **present(given.get("defaultRequests"))},
        "defaultRequestsMultiplier": given.get("defaultRequestsMultiplier") or "1.5",
    }


def _validate(args: Given, path: str, features: Features) -> list[FieldError]:
    errors = []
    target, multiplier = args["targetUtilization"], args["defaultRequestsMultiplier"]
    if not 0 < target < 100:
        errors.append(invalid(f"{path}.targetUtilization", target, "must be greater than 0 and less than 100"))
    if _number(multiplier) < 1:
        errors.append(
            invalid(f"{path}.defaultRequestsMultiplier", multiplier, "must be a number greater than or equal to 1")
        )
    try:
        nanos(args["defaultRequests"]["cpu"])
    except BadQuantity as bad:
        errors.append(invalid(f"{path}.defaultRequests.cpu", args["defaultRequests"]["cpu"], str(bad)))
    return errors


def _millis(quantity: str | int) -> int:
    return milli_of_nanos(nanos(quantity))


def _number(text: str) -> float:
    return float(text) if re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,4})?", text) else 0.0


class TargetLoadPacking(OutOfTreePlugin):
    """The fuller the better up to the load that is aimed at, then the emptier; what would go beyond 100 percent gets nothing."""

    name = "TargetLoadPacking"
    arguments = Arguments(
        {
            "targetUtilization": INTEGER64,
            "defaultRequests": {"cpu": STRING, "memory": STRING},
            "defaultRequestsMultiplier": STRING,
        },
        _defaults,
        _validate,
        lenient=True,
    )

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Scores | Status:
        own = self._estimate(pod)
        scores = np.zeros(len(rows), np.int64)
        for i, row in enumerate(rows.tolist()):
            text = nodes.nodes[row].annotations.get(ANNOTATION)
            if text is None:
                continue  # a node without a measurement scores lowest
            if not _PERCENT.match(text):
                return error(f'node {nodes.names[row]}: {ANNOTATION}: "{text}" is not a percentage; write it as 45')
            capacity = int(nodes.allocatable[row, CPU])
            waiting = sum(self._estimate(each) for each in nodes.pods[row] if each.phase != "Running")
            used = float(text) / 100 * capacity + own + waiting
            scores[i] = self._score(100 * used / capacity if capacity else 0.0)
        return scores

    def _estimate(self, pod: Pod) -> float:
        """Return the pod's expected CPU in millis: per container the limit, else the request times a multiplier, or a default."""
        millis = 0.0
        for container in pod.manifest["spec"].get("containers") or ():
            resources = container.get("resources") or {}
            limit = (resources.get("limits") or {}).get("cpu")
            request = (resources.get("requests") or {}).get("cpu")
            if limit is not None:
                millis += _millis(limit)
            elif request is not None:
                millis += math.floor(_millis(request) * _number(self.args["defaultRequestsMultiplier"]) + 0.5)
            else:
                millis += _millis(self.args["defaultRequests"]["cpu"])
        return millis

    def _score(self, predicted: float) -> int:
        target = float(self.args["targetUtilization"])
        if predicted > 100:
            return MIN_NODE_SCORE
        if predicted > target:
            return math.floor(target * (100 - predicted) / (100 - target) + 0.5)
        return math.floor((MAX_NODE_SCORE - target) * predicted / target + target + 0.5)

    def formula(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Formula:
        text = nodes.nodes[row].annotations.get(ANNOTATION)
        if text is None:
            return Formula((Line(NODE, Value(0, _UNMEASURED)),), (_PACKED,))
        source = Source("Node", nodes.names[row], f"metadata.annotations[{ANNOTATION}]")
        capacity = Value(int(nodes.allocatable[row, CPU]), _CAPACITY, "cpu")
        waiting = sum(self._estimate(each) for each in nodes.pods[row] if each.phase != "Running")
        measured = times(share(Value(float(text), _MEASURED, source=source), constant(100)), capacity)
        used = total(measured, Value(self._estimate(pod), _OWN, "cpu"), Value(float(waiting), _WAITING, "cpu"))
        load = Line(_LOAD, share(times(constant(100), used), capacity) if capacity.number else constant(0.0))
        return Formula((load, Line(NODE, self._pack(load))), (_PACKED,))

    def _pack(self, load: Line) -> Value | Of:
        target, hundred = Value(float(self.args["targetUtilization"]), _TARGET), constant(100)
        if load.result > 100:
            return constant(MIN_NODE_SCORE)
        if load.result > target.number:
            falling = share(times(target, minus(hundred, load)), minus(hundred, target))
            return _HALF_UP(falling)
        rising = total(share(times(minus(hundred, target), load), target), target)
        return _HALF_UP(rising)
