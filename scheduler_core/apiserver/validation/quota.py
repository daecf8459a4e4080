"""What must not be in a ResourceQuota.

kube: pkg/apis/core/validation/validation.go ValidateResourceQuota, pkg/apis/core/helper/helpers.go @ v1.34.1
"""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.errors import build_required_error, format_key_path, invalid
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.names import list_qualified_name_errors
from scheduler_core.apimachinery.objects.quantity import NANO, nanos
from scheduler_core.apimachinery.objects.resources import HUGE_PAGES, is_extended_name
from scheduler_core.apiserver.validation.checks import NOT_NEGATIVE, STANDARD_RESOURCES, Errors

_HUGE = (HUGE_PAGES, f"requests.{HUGE_PAGES}")
_WHOLE = (
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
)
_COMPUTE = ("cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory")
_ONLY_EXIST = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity")
_RESOURCES = {
    **dict.fromkeys(_ONLY_EXIST, ("pods", *_COMPUTE)),
    "BestEffort": ("pods",),
    "PriorityClass": ("pods", *_COMPUTE),
    "VolumeAttributesClass": ("persistentvolumeclaims", "requests.storage"),
}
_CONFLICTS = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_MUST_EXIST = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


def resource_quota(manifest: Manifest, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    hard = spec.get("hard") or {}
    for name, quantity in hard.items():
        _resource(name, quantity, format_key_path("spec.hard", name), errors)
    scopes = spec.get("scopes") or []
    _scopes(scopes, list(hard), "spec.scopes", scopes, errors)
    selector = spec.get("scopeSelector")
    if selector is not None:
        where = "spec.scopeSelector.matchExpressions"
        expressions = selector.get("matchExpressions") or []
        for expression in expressions:
            _expression(expression, where, errors)
        names = [str(each.get("scopeName") or "") for each in expressions]
        _scopes(names, list(hard), where, dict(selector), errors)


def _resource(name: str, quantity: Any, where: str, errors: Errors) -> None:
    problems = list_qualified_name_errors(name)
    errors += [invalid(where, name, problem) for problem in problems]
    standard = name in STANDARD_RESOURCES or name.startswith(_HUGE)
    if not problems and "/" not in name:
        if not standard:
            errors.append(invalid(where, name, "must be a standard resource type or fully qualified"))
        if not standard or name == "storage":
            errors.append(invalid(where, name, "must be a standard resource for quota"))
    if nanos(quantity) < 0:
        errors.append(invalid(where, str(quantity), NOT_NEGATIVE))
    if (name in _WHOLE or is_extended_name(name)) and nanos(quantity) % NANO:
        errors.append(invalid(where, str(quantity), "must be an integer"))


def _scopes(names: list[str], hard: list[str], where: str, shown: Any, errors: Errors) -> None:
    for name in names:
        if name not in _RESOURCES:
            errors.append(invalid(where, shown, "unsupported scope"))
            continue
        for resource in sorted(hard):
            standard = resource in STANDARD_RESOURCES or resource.startswith(_HUGE)
            if standard and resource not in _RESOURCES[name]:
                errors.append(invalid(where, shown, "unsupported scope applied to resource"))
    for pair in _CONFLICTS:
        if all(name in names for name in pair):
            errors.append(invalid(where, shown, "conflicting scopes"))


def _expression(expression: Manifest, where: str, errors: Errors) -> None:
    operator, values = expression.get("operator") or "", expression.get("values") or []
    if expression.get("scopeName") in _ONLY_EXIST and operator != "Exists":
        errors.append(invalid(f"{where}.operator", operator, _MUST_EXIST))
    if operator in ("In", "NotIn"):
        if not values:
            detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            errors.append(build_required_error(f"{where}.values", detail))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            errors.append(invalid(f"{where}.values", values, detail))
    else:
        errors.append(invalid(f"{where}.operator", operator, "not a valid selector operator"))
