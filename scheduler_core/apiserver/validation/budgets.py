"""Validation of disruption budgets, priority classes, runtime classes and leases, and of amounts that may be percentages.

kube: pkg/apis/policy/validation/validation.go, pkg/apis/scheduling/validation/validation.go,
pkg/apis/node/validation/validation.go, pkg/apis/coordination/validation/validation.go,
pkg/apis/apps/validation/validation.go (ValidatePositiveIntOrPercent, IsNotMoreThan100Percent) @ v1.34.1
"""

from __future__ import annotations

import re
from typing import Any

from scheduler_core.apimachinery.objects.errors import duplicate, forbidden, invalid, not_supported
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.names import label_errors
from scheduler_core.apiserver.admission.priority import SYSTEM_CLASSES
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.checks import NOT_NEGATIVE, Errors
from scheduler_core.apiserver.validation.placement import tolerations

_RESERVED = "priority class names with 'system-' prefix are reserved for system use only. error: "
_percent = re.compile(r"[0-9]+%\Z").match
_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)


def int_or_percent(value: Any, where: str, errors: Errors, most: int | None = None) -> None:
    """A number that is not negative, or a percentage; `most`: the highest percentage."""
    if isinstance(value, str):
        if not _percent(value):
            errors.append(invalid(where, value, _PERCENT))
        elif most is not None and int(value[:-1]) > most:
            errors.append(invalid(where, value, f"must not be greater than {most}%"))
    elif value is not None and value < 0:
        errors.append(invalid(where, value, NOT_NEGATIVE))


def budget(manifest: Manifest, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        errors.append(invalid("spec", dict(spec), "minAvailable and maxUnavailable cannot be both set"))
    for field in ("minAvailable", "maxUnavailable"):
        int_or_percent(spec.get(field), f"spec.{field}", errors, 100)
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in ("AlwaysAllow", "IfHealthyBudget"):
        where = "spec.unhealthyPodEvictionPolicy"
        errors.append(not_supported(where, policy, ("AlwaysAllow", "IfHealthyBudget")))


def priority_class(manifest: Manifest, errors: Errors) -> None:
    """A name of the system's is for its own classes, as they are."""
    name = str(manifest["metadata"].get("name") or "")
    if not name.startswith("system-"):
        return
    if name not in SYSTEM_CLASSES:
        problem = f"{name} is not a known system priority class"
    elif int(manifest.get("value") or 0) != SYSTEM_CLASSES[name]:
        problem = f"value of {name} PriorityClass must be {SYSTEM_CLASSES[name]}"
    elif manifest.get("globalDefault"):
        problem = f"globalDefault of {name} PriorityClass must be false"
    else:
        return
    errors.append(forbidden("metadata.name", _RESERVED + problem))


def runtime_class(manifest: Manifest, errors: Errors) -> None:
    handler = str(manifest.get("handler") or "")
    errors += [invalid("handler", handler, problem) for problem in label_errors(handler)]
    fixed = (manifest.get("overhead") or {}).get("podFixed")
    if fixed:
        checks.resource_requirements({"limits": fixed}, "overhead", errors)
    scheduling = manifest.get("scheduling") or {}
    checks.labels(scheduling.get("nodeSelector"), "scheduling.nodeSelector", errors)
    listed = scheduling.get("tolerations") or ()
    tolerations(listed, "scheduling.tolerations.tolerations", errors)
    seen: list[tuple[Any, ...]] = []
    for i, each in enumerate(listed):
        key = tuple(each.get(name) or "" for name in ("key", "operator", "value", "effect"))
        if key in seen:
            errors.append(duplicate(f"scheduling.tolerations[{i}]", dict(each)))
        seen.append(key)


def lease(manifest: Manifest, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    seconds, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if seconds is not None and seconds <= 0:
        errors.append(invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0"))
    if transitions is not None and transitions < 0:
        errors.append(invalid("spec.leaseTransitions", transitions, NOT_NEGATIVE))
    if spec.get("preferredHolder") and not spec.get("strategy"):
        errors.append(forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"))
