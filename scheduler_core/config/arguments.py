"""What kube-scheduler refuses in the arguments of in-tree plugins, whose defaults are filled in.

kube: apis/config/validation/validation_pluginargs.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduler_core.framework.features import Features
from scheduler_core.objects.errors import FieldError, duplicate, forbidden, invalid, not_supported, required
from scheduler_core.objects.labels import NodeSelector, NodeSelectorTerm
from scheduler_core.objects.names import qualified_name_errors

Arguments = Mapping[str, Any]

STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
SPREAD_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")


def argument_errors(name: str, args: Arguments, path: str, features: Features) -> list[FieldError]:
    """Of one plugin's defaulted arguments; plugins without validation have none."""
    if name == "VolumeBinding":
        return _volume_binding(args, path, features)
    check = _CHECKS.get(name)
    return check(args, path) if check is not None else []


def _preemption(args: Arguments, path: str) -> list[FieldError]:
    percentage, absolute = args["minCandidateNodesPercentage"], args["minCandidateNodesAbsolute"]
    at_percentage, at_absolute = f"{path}.minCandidateNodesPercentage", f"{path}.minCandidateNodesAbsolute"
    errors = _range_errors(percentage, at_percentage, 0, 100)
    if absolute < 0:
        errors.append(invalid(at_absolute, absolute, "not in valid range [0, inf)"))
    if percentage == 0 and absolute == 0:
        same = "cannot be zero at the same time as"
        errors.append(invalid(at_percentage, percentage, f"{same} minCandidateNodesAbsolute"))
        errors.append(invalid(at_absolute, absolute, f"{same} minCandidateNodesPercentage"))
    return errors


def _inter_pod_affinity(args: Arguments, path: str) -> list[FieldError]:
    return _range_errors(args["hardPodAffinityWeight"], f"{path}.hardPodAffinityWeight", 0, 100)


def _node_affinity(args: Arguments, path: str) -> list[FieldError]:
    added = args.get("addedAffinity") or {}
    required_path = f"{path}.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    preferred_path = f"{path}.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution"
    selector = NodeSelector.of(
        added.get("requiredDuringSchedulingIgnoredDuringExecution") or {}, required_path
    )
    errors = list(selector.errors)
    for i, raw in enumerate(added.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
        if raw.get("weight"):
            errors += NodeSelectorTerm.of(raw.get("preference") or {}, f"{preferred_path}[{i}]").errors
    return errors


def _balanced(args: Arguments, path: str) -> list[FieldError]:
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


def _fit(args: Arguments, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for i, resource in enumerate(args.get("ignoredResources") or ()):
        errors += _name_errors(resource, f"{path}.ignoredResources[{i}]")
    for i, group in enumerate(args.get("ignoredResourceGroups") or ()):
        where = f"{path}.ignoredResourceGroups[{i}]"
        if "/" in group:
            errors.append(invalid(where, group, "resource group name can't contain '/'"))
        errors += _name_errors(group, where)
    return errors + _strategy(args["scoringStrategy"], f"{path}.scoringStrategy")


def _strategy(strategy: Arguments, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if strategy["type"] not in STRATEGIES:
        errors.append(not_supported(f"{path}.type", strategy["type"], STRATEGIES))
    for i, resource in enumerate(strategy["resources"]):
        if not 0 < resource["weight"] <= 100:
            detail = f"resource weight of {resource['name']} not in valid range (0, 100]"
            errors.append(invalid(f"{path}.resources[{i}].weight", resource["weight"], detail))
    ratio = strategy.get("requestedToCapacityRatio")
    if ratio is not None:
        errors += _shape(ratio.get("shape") or (), f"{path}.shape")
    elif strategy["type"] == "RequestedToCapacityRatio":
        # DEVIATION: kube-scheduler accepts this and then crashes.
        errors.append(required(f"{path}.requestedToCapacityRatio", "the strategy needs a shape"))
    return errors


def _shape(points: Sequence[Arguments], path: str) -> list[FieldError]:
    if not points:
        return [required(path, "at least one point must be specified")]
    errors: list[FieldError] = []
    places = [point.get("utilization") or 0 for point in points]
    for i in range(1, len(places)):
        if places[i - 1] >= places[i]:
            detail = "values must be sorted in increasing order"
            errors.append(invalid(f"{path}[{i}].utilization", places[i], detail))
            break
    for i, point in enumerate(points):
        errors += _range_errors(places[i], f"{path}[{i}].utilization", 0, 100)
        errors += _range_errors(point.get("score") or 0, f"{path}[{i}].score", 0, 10)
    return errors


def _spread(args: Arguments, path: str) -> list[FieldError]:
    kind, constraints = args["defaultingType"], args.get("defaultConstraints") or ()
    errors: list[FieldError] = []
    if kind not in ("System", "List"):
        errors.append(not_supported(f"{path}.defaultingType", kind, ("System", "List")))
    elif kind == "System" and constraints:
        errors.append(invalid(f"{path}.defaultingType", kind, "when .defaultConstraints are not empty"))
    seen: dict[tuple[str, str], None] = {}
    for i, constraint in enumerate(constraints):
        where = f"{path}.defaultConstraints[{i}]"
        errors += _constraint(constraint, where)
        pair = (constraint.get("topologyKey") or "", constraint.get("whenUnsatisfiable") or "")
        if pair in seen:
            errors.append(duplicate(where, f"{{{pair[0]}, {pair[1]}}}"))
        seen[pair] = None
    return errors


def _constraint(constraint: Arguments, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    skew, key = constraint.get("maxSkew") or 0, constraint.get("topologyKey") or ""
    action = constraint.get("whenUnsatisfiable") or ""
    if skew <= 0:
        errors.append(invalid(f"{path}.maxSkew", skew, "not in valid range (0, inf)"))
    if not key:
        errors.append(required(f"{path}.topologyKey", "can not be empty"))
    else:
        errors += _name_errors(key, f"{path}.topologyKey")
    if not action:
        errors.append(required(f"{path}.whenUnsatisfiable", "can not be empty"))
    elif action not in SPREAD_ACTIONS:
        errors.append(not_supported(f"{path}.whenUnsatisfiable", action, SPREAD_ACTIONS))
    if constraint.get("labelSelector") is not None:
        detail = "constraint must not define a selector, as they deduced for each pod"
        errors.append(forbidden(f"{path}.labelSelector", detail))
    return errors


def _volume_binding(args: Arguments, path: str, features: Features) -> list[FieldError]:
    errors: list[FieldError] = []
    if args["bindTimeoutSeconds"] < 0:
        detail = "invalid BindTimeoutSeconds, should not be a negative value"
        errors.append(invalid(f"{path}.bindTimeoutSeconds", args["bindTimeoutSeconds"], detail))
    if features.storage_capacity_scoring:
        errors += _shape(args["shape"], f"{path}.shape")
    elif args.get("shape") is not None:
        detail = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
        errors.append(invalid(f"{path}.shape", args["shape"], detail))
    return errors


def _range_errors(number: int, path: str, low: int, high: int) -> list[FieldError]:
    return [] if low <= number <= high else [invalid(path, number, f"not in valid range [{low}, {high}]")]


def _name_errors(name: str, path: str) -> list[FieldError]:
    return [invalid(path, name, problem) for problem in qualified_name_errors(name)]


_CHECKS: dict[str, Callable[[Arguments, str], list[FieldError]]] = {
    "DefaultPreemption": _preemption,
    "InterPodAffinity": _inter_pod_affinity,
    "NodeAffinity": _node_affinity,
    "NodeResourcesBalancedAllocation": _balanced,
    "NodeResourcesFit": _fit,
    "PodTopologySpread": _spread,
}
