"""Input of both node resource plugins' scores: allocatable, and requested with the pod on the node.

kube: plugins/noderesources/{resource_allocation,least_allocated,most_allocated,requested_to_capacity_ratio}.go @ v1.34.1
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.errors import (
    FieldError,
    build_required_error,
    duplicate,
    invalid,
    not_supported,
)
from scheduler_core.apimachinery.objects.pod import PodSpec
from scheduler_core.apimachinery.objects.resources import Resources, is_scalar_name, pod_requests
from scheduler_core.apimachinery.objects.strict import INTEGER64, STRING, ListOf, Shape
from scheduler_core.scheduler.cache.table import CPU, MEMORY, NodeTable
from scheduler_core.scheduler.framework.arguments import Arguments, Given, present
from scheduler_core.scheduler.framework.features import Features
from scheduler_core.scheduler.framework.plugin import MAX_NODE_SCORE, Rows, Scores
from scheduler_core.scheduler.plugins.helper import normalize
from scheduler_core.scheduler.plugins.helper.arguments import name_errors
from scheduler_core.scheduler.plugins.helper.memo import remember
from scheduler_core.scheduler.plugins.helper.normalize import POINTS, point_errors

# NodeResourcesFitArgs and NodeResourcesBalancedAllocationArgs: the resources that count, and the scoring strategy.
#
# kube: apis/config/v1/defaults.go, apis/config/validation/validation_pluginargs.go @ v1.34.1

LEAST_ALLOCATED, MOST_ALLOCATED = "LeastAllocated", "MostAllocated"
REQUESTED_TO_CAPACITY_RATIO = "RequestedToCapacityRatio"
STRATEGIES = (LEAST_ALLOCATED, MOST_ALLOCATED, REQUESTED_TO_CAPACITY_RATIO)

_RESOURCES: Shape = ListOf({"name": STRING, "weight": INTEGER64})


def _resources(given: Iterable[Given] | None) -> list[dict[str, Any]]:
    """Return the resources with defaults. kube: setDefaults_ResourceSpec"""
    resources = [present(resource) for resource in given or ()]
    if not resources:
        return [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
    return [{"name": "", **resource, "weight": resource.get("weight") or 1} for resource in resources]


# NodeResourcesFit


def _fit_defaults(given: Given, features: Features) -> Given:
    strategy = given.get("scoringStrategy")
    if strategy is None:
        return {"scoringStrategy": {"type": LEAST_ALLOCATED, "resources": _resources(None)}}
    strategy = present(strategy)
    return {"scoringStrategy": {"type": "", **strategy, "resources": _resources(strategy.get("resources"))}}


def _validate_fit(args: Given, path: str, features: Features) -> list[FieldError]:
    errors: list[FieldError] = []
    for i, resource in enumerate(args.get("ignoredResources") or ()):
        errors += name_errors(resource, f"{path}.ignoredResources[{i}]")
    for i, group in enumerate(args.get("ignoredResourceGroups") or ()):
        where = f"{path}.ignoredResourceGroups[{i}]"
        if "/" in group:
            errors.append(invalid(where, group, "resource group name can't contain '/'"))
        errors += name_errors(group, where)
    return errors + _strategy_errors(args["scoringStrategy"], f"{path}.scoringStrategy")


def _strategy_errors(strategy: Given, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if strategy["type"] not in STRATEGIES:
        errors.append(not_supported(f"{path}.type", strategy["type"], STRATEGIES))
    for i, resource in enumerate(strategy["resources"]):
        if not 0 < resource["weight"] <= 100:
            detail = f"resource weight of {resource['name']} not in valid range (0, 100]"
            errors.append(invalid(f"{path}.resources[{i}].weight", resource["weight"], detail))
    ratio = strategy.get("requestedToCapacityRatio")
    if ratio is not None:
        errors += point_errors(ratio.get("shape") or (), f"{path}.shape")
    elif strategy["type"] == REQUESTED_TO_CAPACITY_RATIO:
        # DEVIATION: kube-scheduler accepts this and then crashes.
        errors.append(build_required_error(f"{path}.requestedToCapacityRatio", "the strategy needs a shape"))
    return errors


FIT = Arguments(
    fields={
        "ignoredResources": ListOf(STRING),
        "ignoredResourceGroups": ListOf(STRING),
        "scoringStrategy": {"type": STRING, "resources": _RESOURCES, "requestedToCapacityRatio": {"shape": POINTS}},
    },
    defaults=_fit_defaults,
    validate=_validate_fit,
    read_when_made=True,
)


# NodeResourcesBalancedAllocation


def _validate_balanced(args: Given, path: str, features: Features) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: dict[str, None] = {}
    for i, resource in enumerate(args["resources"]):
        where = f"{path}.resources[{i}]"
        if resource["name"] in seen:
            errors.append(duplicate(f"{where}.name", resource["name"]))
        seen[resource["name"]] = None
        if resource["weight"] != 1:
            errors.append(invalid(f"{where}.weight", resource["weight"], "must be 1"))
    return errors


BALANCED_ALLOCATION = Arguments(
    fields={"resources": _RESOURCES},
    defaults=lambda given, features: {"resources": _resources(given.get("resources"))},
    validate=_validate_balanced,
)

Column = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WeighedResource:
    """One resource of a scoring strategy over the requested rows; the resource does not count if `allocatable` is 0."""

    name: str
    weight: int
    requested: Column
    allocatable: Column
    incoming: int  # the pod's part of the requested amount


def compute_defaulted_requests(spec: PodSpec) -> Resources:
    """Return the containers' requests, 100m and 200Mi for a container without requests; pod-level resources are ignored."""
    return remember(
        spec.memo,
        "NodeResources defaulted requests",
        lambda: pod_requests(spec.manifest, pod_level=False, defaults=True),
    )


def weigh(
    nodes: NodeTable, rows: Rows, resources: Sequence[Mapping[str, Any]], requests: Resources, *, nonzero: bool
) -> list[WeighedResource]:
    """Return the resources of a strategy in order. A scalar resource that the pod does not request does not count.

    `nonzero`: count bound pods with the defaults of 100m and 200Mi for missing requests, else with their actual requests.
    """
    return [
        WeighedResource(
            str(spec["name"]), int(spec["weight"]), *_columns(nodes, rows, str(spec["name"]), requests, nonzero)
        )
        for spec in resources
    ]


def _columns(nodes: NodeTable, rows: Rows, name: str, requests: Resources, nonzero: bool) -> tuple[Column, Column, int]:
    incoming = np.int64(requests.get(name))
    column = nodes.resources.columns.get(name)
    if column is None or column >= nodes.allocatable.shape[1] or (incoming == 0 and is_scalar_name(name)):
        nothing = np.zeros(len(rows), np.int64)
        return nothing, nothing, 0
    if nonzero and column in (CPU, MEMORY):
        used = nodes.nonzero[:, column][rows]
    else:
        used = nodes.requested[:, column][rows]
    return used + incoming, nodes.allocatable[:, column][rows], int(incoming)


def least_allocated(weighed: Sequence[WeighedResource]) -> Scores:
    """Score the free share of each resource, weighted."""
    return _average([(w, _share(w, w.allocatable - w.requested, over=0)) for w in weighed])


def most_allocated(weighed: Sequence[WeighedResource]) -> Scores:
    """Score the used share of each resource, weighted; requests beyond capacity count as full."""
    return _average([(w, _share(w, w.requested, over=MAX_NODE_SCORE)) for w in weighed])


def score_capacity_ratio(weighed: Sequence[WeighedResource], shape: Sequence[Mapping[str, Any]]) -> Scores:
    """Score the shape's value at each resource's utilization; resources that score 0 do not count in the average."""
    points = [
        (int(point["utilization"]), int(point["score"]) * (MAX_NODE_SCORE // normalize.MAX_CUSTOM_SCORE))
        for point in shape
    ]
    total, weights = _zeros(weighed), _zeros(weighed)
    for w in weighed:
        scores = normalize.broken_linear(points, _share(w, w.requested, over=normalize.MAX_UTILIZATION))
        counts = (w.allocatable != 0) & (scores > 0)
        total += np.where(counts, scores * np.int64(w.weight), 0)
        weights += np.where(counts, w.weight, 0)
    mean = total.astype(np.float64) / np.maximum(weights, 1).astype(np.float64)
    return np.where(weights == 0, 0, normalize.round_half_away(mean))


def _share(w: WeighedResource, part: Column, *, over: int) -> Scores:
    """Return 100 * part / allocatable in wrapping int64, or `over` if more is requested than allocatable."""
    scaled = normalize.divide(part * np.int64(MAX_NODE_SCORE), np.maximum(w.allocatable, 1))
    return np.where(w.requested > w.allocatable, np.int64(over), scaled)


def _average(scored: Sequence[tuple[WeighedResource, Scores]]) -> Scores:
    weighed = [w for w, _ in scored]
    total, weights = _zeros(weighed), _zeros(weighed)
    for w, scores in scored:
        counts = w.allocatable != 0
        total += np.where(counts, scores * np.int64(w.weight), 0)
        weights += np.where(counts, w.weight, 0)
    return np.where(weights == 0, 0, normalize.divide(total, np.maximum(weights, 1)))


def _zeros(weighed: Sequence[WeighedResource]) -> Column:
    return np.zeros(len(weighed[0].requested), np.int64)


Strategy = Callable[[Sequence[WeighedResource]], Scores]


def strategy(scoring: Mapping[str, Any]) -> Strategy:
    """Return the scoring function of a validated NodeResourcesFitArgs.scoringStrategy."""
    kind = scoring["type"]
    if kind == LEAST_ALLOCATED:
        return least_allocated
    if kind == MOST_ALLOCATED:
        return most_allocated
    shape = scoring["requestedToCapacityRatio"]["shape"]
    return lambda weighed: score_capacity_ratio(weighed, shape)
