"""NodeResourcesFitArgs and NodeResourcesBalancedAllocationArgs: which resources are looked at, and how they are scored.

kube: apis/config/v1/defaults.go, apis/config/validation/validation_pluginargs.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler_core.apimachinery.objects.errors import (
    FieldError,
    build_required_error,
    duplicate,
    invalid,
    not_supported,
)
from scheduler_core.apimachinery.objects.strict import INTEGER64, STRING, ListOf, Shape
from scheduler_core.scheduler.framework.arguments import Arguments, Given, present
from scheduler_core.scheduler.framework.features import Features
from scheduler_core.scheduler.plugins.helper.arguments import name_errors
from scheduler_core.scheduler.plugins.helper.normalize import POINTS, point_errors

LEAST_ALLOCATED, MOST_ALLOCATED = "LeastAllocated", "MostAllocated"
REQUESTED_TO_CAPACITY_RATIO = "RequestedToCapacityRatio"
STRATEGIES = (LEAST_ALLOCATED, MOST_ALLOCATED, REQUESTED_TO_CAPACITY_RATIO)

_RESOURCES: Shape = ListOf({"name": STRING, "weight": INTEGER64})


def _resources(given: Iterable[Given] | None) -> list[dict[str, Any]]:
    """kube: setDefaults_ResourceSpec"""
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
