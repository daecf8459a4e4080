"""The formulas of both node resource plugins' scores, with a node's amounts.

kube: plugins/noderesources/{least_allocated,most_allocated,requested_to_capacity_ratio,balanced_allocation}.go @ v1.34.1
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects import Pod, Resources
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.explanation import Aside, Parts, Source, gettext_noop, phrase
from scheduler_core.scheduler.framework.formula import (
    NODE,
    ROUNDED_DOWN,
    Expression,
    Formula,
    Line,
    Value,
    by,
    constant,
    least,
    minus,
    root,
    round_expression,
    share,
    size,
    square,
    times,
    total,
    whole,
)
from scheduler_core.scheduler.framework.plugin import MAX_NODE_SCORE
from scheduler_core.scheduler.plugins.helper.normalize import MAX_CUSTOM_SCORE, MAX_UTILIZATION, broken_line_formula
from scheduler_core.scheduler.plugins.noderesources.resource_allocation import (
    LEAST_ALLOCATED,
    MOST_ALLOCATED,
    compute_defaulted_requests,
    weigh,
)

_ALLOCATABLE = gettext_noop("allocatable on the node")
_USED = gettext_noop("requested by the pods on the node")
_INCOMING = gettext_noop("requested by the pod")
_WEIGHT = gettext_noop("weight of the resource in the strategy")
_DEVIATION = phrase("deviation")
_MEAN = phrase("mean")
_BY_SHAPE = Aside(phrase("by the shape"))

_LEAST = phrase("LeastAllocated: the more resources are left, the higher the score.")
_MOST = phrase("MostAllocated: the fuller the node, the higher the score.")
_RATIO = phrase("RequestedToCapacityRatio: the shape maps utilization to a score.")
_BALANCED = phrase("The closer the used shares of the resources, the higher the score.")
_DEFAULTS = phrase(
    "For scoring, a container without a request counts as 100m of cpu and 200Mi of memory. This applies to all pods."
)
_OVER = phrase("The requests exceed the allocatable resources, so the formula does not apply.")
_NOTHING = phrase("The node has none of these resources.")
_ALONE = phrase("Balancing needs at least two resources.")
_WITH_POD = phrase("balance with the pod")
_WITHOUT_POD = phrase("balance without the pod")
_BY_CHANGE = phrase("Since 1.36, the score is 75 if the balance does not change, and higher if it improves.")
_BEST_EFFORT = phrase("The pod requests none of these resources.")
_ZERO = gettext_noop("nothing to score")


@dataclass(frozen=True, slots=True)
class _CountedResource:
    """One resource of a strategy on one node."""

    name: str
    weight: int
    allocatable: Value
    used: Value
    incoming: Value

    @property
    def requested(self) -> Expression:
        return total(self.used, self.incoming)

    @property
    def over(self) -> bool:
        return self.requested.result > self.allocatable.number

    @property
    def share(self) -> Expression:
        """100 * requested / allocatable, at most 100."""
        if self.over:
            return constant(MAX_UTILIZATION)
        return by(times(self.requested, constant(100)), self.allocatable)

    @property
    def free(self) -> Expression:
        if self.over:
            return constant(0)
        return by(times(minus(self.allocatable, self.requested), constant(100)), self.allocatable)


def _collect_counted(
    pod: Pod, nodes: NodeTable, row: int, resources: Any, requests: Resources, *, nonzero: bool
) -> list[_CountedResource]:
    """Return the scored resources that the node has."""
    one = np.array([row], np.intp)
    return [
        _values(pod, nodes.names[row], w.name, w.weight, int(w.requested[0]), int(w.allocatable[0]), requests)
        for w in weigh(nodes, one, resources, requests, nonzero=nonzero)
        if w.allocatable[0]
    ]


def _values(
    pod: Pod, node: str, name: str, weight: int, requested: int, allocatable: int, requests: Resources
) -> _CountedResource:
    incoming = requests.get(name)
    return _CountedResource(
        name,
        weight,
        Value(allocatable, _ALLOCATABLE, name, Source("Node", node, f"status.allocatable[{name}]")),
        Value(requested - incoming, _USED, name, Source("Node", node)),
        Value(incoming, _INCOMING, name, Source("Pod", pod.key, request_path(pod, name))),
    )


def request_path(pod: Pod, resource: str) -> str:
    """Return the path of the first container's request for the resource, or that of all containers if none has one."""
    for i, container in enumerate(pod.manifest["spec"].get("containers") or ()):
        if resource in ((container.get("resources") or {}).get("requests") or {}):
            return f"spec.containers[{i}].resources.requests[{resource}]"
    return "spec.containers"


def fit_formula(scoring: Mapping[str, Any], pod: Pod, nodes: NodeTable, row: int) -> Formula:
    """NodeResourcesFit's score by its scoringStrategy."""
    counted = _collect_counted(
        pod, nodes, row, scoring["resources"], compute_defaulted_requests(pod.spec), nonzero=True
    )
    strategy = {LEAST_ALLOCATED: _LEAST, MOST_ALLOCATED: _MOST}.get(scoring["type"], _RATIO)
    notes = [strategy, ROUNDED_DOWN, _DEFAULTS, *((_OVER,) if any(c.over for c in counted) else ())]
    if strategy is _RATIO:
        return _by_shape(counted, scoring["requestedToCapacityRatio"]["shape"], notes)
    lines = [Line((c.name,), c.free if strategy is _LEAST else c.share) for c in counted]
    if not lines:
        return Formula((Line(NODE, Value(0, _ZERO)),), (*notes, _NOTHING))
    return Formula((*lines, Line(NODE, by(*_weigh_lines(counted, lines)))), tuple(notes))


def _weigh_lines(counted: Sequence[_CountedResource], lines: Sequence[Line]) -> tuple[Expression, Expression]:
    """Return the sum of the lines times their weights, and the sum of the weights."""
    weights = [Value(c.weight, _WEIGHT) for c in counted]
    pairs = zip(lines, weights, strict=True)
    return total(*(times(line, weight) for line, weight in pairs)), total(*weights)


def _by_shape(
    counted: Sequence[_CountedResource], shape: Sequence[Mapping[str, Any]], notes: Sequence[Parts]
) -> Formula:
    """Return the formula of RequestedToCapacityRatio; resources that score 0 do not count in the average."""
    points = [(int(p["utilization"]), int(p["score"]) * (MAX_NODE_SCORE // MAX_CUSTOM_SCORE)) for p in shape]
    utilizations = [Line((c.name,), c.share) for c in counted]
    scores = [
        Line((c.name, " ", _BY_SHAPE), broken_line_formula(points, line))
        for c, line in zip(counted, utilizations, strict=True)
    ]
    lines = [line for pair in zip(utilizations, scores, strict=True) for line in pair]
    taken = [(c, line) for c, line in zip(counted, scores, strict=True) if line.result > 0]
    if not taken:
        return Formula((*lines, Line(NODE, Value(0, _ZERO))), tuple(notes))
    mean = share(*_weigh_lines([c for c, _ in taken], [line for _, line in taken]))
    return Formula((*lines, Line(NODE, round_expression(mean))), tuple(notes))


def build_balanced_formula(
    resources: Sequence[Mapping[str, Any]], pod: Pod, nodes: NodeTable, row: int, by_change: bool = False
) -> Formula:
    """NodeResourcesBalancedAllocation's score, on real requests; `by_change`: as since 1.36."""
    if not any(pod.requests.get(resource["name"]) for resource in resources):
        return Formula((Line(NODE, Value(0, _ZERO)),), (_BEST_EFFORT,))
    counted = _collect_counted(pod, nodes, row, resources, pod.requests, nonzero=False)
    notes: list[Parts] = [_BALANCED, _ALONE] if len(counted) < 2 else [_BALANCED]
    after = list(_balance(counted, [c.requested for c in counted]))
    if not by_change:
        return Formula((*after[:-1], Line(NODE, after[-1].expression)), tuple(notes))
    before = list(_balance(counted, [c.used for c in counted]))
    last_after, last_before = Line(_WITH_POD, after[-1].expression), Line(_WITHOUT_POD, before[-1].expression)
    half = constant(MAX_NODE_SCORE // 2)
    score = total(half, by(minus(total(half, last_after), last_before), constant(2)))
    return Formula((*after[:-1], last_after, *before[:-1], last_before, Line(NODE, score)), (*notes, _BY_CHANGE))


def _balance(counted: Sequence[_CountedResource], amounts: Sequence[Expression]) -> Iterator[Line]:
    """Yield the shares of some amounts, their deviation, and 100 times (1 - deviation)."""
    if len(counted) < 2:
        yield Line(NODE, constant(MAX_NODE_SCORE))
        return
    pairs = zip(counted, amounts, strict=True)
    fractions = [Line((c.name,), least(share(amount, c.allocatable), constant(1.0))) for c, amount in pairs]
    deviation = list(_deviation(fractions))
    yield from (*fractions, *deviation)
    yield Line(NODE, whole(times(minus(constant(1.0), deviation[-1]), constant(float(MAX_NODE_SCORE)))))


def _deviation(fractions: Sequence[Line]) -> Iterator[Line]:
    """Yield the standard deviation, for two shares half of their difference."""
    if len(fractions) == 2:
        yield Line(_DEVIATION, size(share(minus(*fractions), constant(2.0))))
        return
    mean = Line(_MEAN, share(total(*fractions), constant(len(fractions))))
    squares = [square(minus(fraction, mean)) for fraction in fractions]
    yield mean
    yield Line(_DEVIATION, root(share(total(*squares), constant(len(fractions)))))
