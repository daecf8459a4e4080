"""Validation of ResourceQuotas and LimitRanges.

kube: pkg/apis/core/validation/validation.go ValidateResourceQuota, pkg/apis/core/helper/helpers.go @ v1.34.1
"""

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.demand import Amount, Amounts, amounts
from scheduler_core.apimachinery.objects.errors import Errors, format_key_path
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.names import list_qualified_name_errors
from scheduler_core.apimachinery.objects.quantity import NANO, milli_of_nanos, nanos, value_of_nanos
from scheduler_core.apimachinery.objects.resources import HUGE_PAGES, is_extended_name
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.checks import NOT_NEGATIVE

# LimitRanges: their defaults, and their validation.
# kube: pkg/apis/core/v1/defaults.go SetDefaults_LimitRangeItem, pkg/apis/core/validation/validation.go ValidateLimitRange @ v1.34.1

Item = Mapping[str, Any]
CLAIM = "PersistentVolumeClaim"
_LISTS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_MOST_MILLI = (2**63 - 1) // 1000


def apply_limit_range_defaults(manifest: Manifest) -> Manifest:
    """Return the object with defaults for containers: the limit is the maximum; the request is the limit, else the minimum."""
    items = (manifest.get("spec") or {}).get("limits") or []
    filled = [_apply_item_defaults(item) if item.get("type") == "Container" else item for item in items]
    return manifest if filled == items else {**manifest, "spec": {**manifest["spec"], "limits": filled}}


def _apply_item_defaults(item: Item) -> Item:
    default = {**(item.get("max") or {}), **(item.get("default") or {})}
    request = {**(item.get("min") or {}), **default, **(item.get("defaultRequest") or {})}
    named = {"default": default, "defaultRequest": request}
    return {**item, **{name: amounts for name, amounts in named.items() if amounts}}


def limit_range(manifest: Manifest, errors: Errors) -> None:
    seen: dict[str, None] = {}
    for i, item in enumerate((manifest.get("spec") or {}).get("limits") or ()):
        where, type_ = f"spec.limits[{i}]", str(item.get("type") or "")
        for problem in list_qualified_name_errors(type_):
            errors.invalid(f"{where}.type", type_, problem)
        if type_ and "/" not in type_ and type_ not in ("Container", "Pod", CLAIM):
            errors.invalid(f"{where}.type", type_, "must be a standard limit type or fully qualified")
        errors.unique(seen, type_, f"{where}.type")
        _item(item, type_, where, errors)


def _item(item: Item, type_: str, where: str, errors: Errors) -> None:
    lists: dict[str, Amounts] = {}
    check_name = checks.resource_name if type_ in ("Pod", "Container") else checks.standard_name
    for field in _LISTS:
        if type_ == "Pod" and field in ("default", "defaultRequest"):
            errors.forbidden(f"{where}.{field}", "may not be specified when `type` is 'Pod'", when=item.get(field))
            lists[field] = {}
            continue
        lists[field] = amounts(item.get(field))
        for name in lists[field]:
            check_name(name, format_key_path(f"{where}.{field}", name), errors)
    if type_ == CLAIM and "storage" not in lists["min"] and "storage" not in lists["max"]:
        detail = "either minimum or maximum storage value is required, but neither was provided"
        errors.required(f"{where}.limits", detail)
    names = sorted({name for field in _LISTS for name in lists[field]})
    for name in names:
        _bounds(name, {field: lists[field].get(name) for field in _LISTS}, where, errors)


def _bounds(name: str, given: Mapping[str, Amount | None], where: str, errors: Errors) -> None:
    least, most, default = given["min"], given["max"], given["default"]
    request, ratio = given["defaultRequest"], given["maxLimitRequestRatio"]

    def wrong(field: str, amount: Amount, detail: str) -> None:
        errors.invalid(format_key_path(f"{where}.{field}", name), amount.text, detail)

    if least and most and least.nanos > most.nanos:
        wrong("min", least, f"min value {least.text} is greater than max value {most.text}")
    if request and least and least.nanos > request.nanos:
        detail = f"min value {least.text} is greater than default request value {request.text}"
        wrong("defaultRequest", request, detail)
    if request and most and request.nanos > most.nanos:
        detail = f"default request value {request.text} is greater than max value {most.text}"
        wrong("defaultRequest", request, detail)
    if request and default and request.nanos > default.nanos:
        detail = f"default request value {request.text} is greater than default limit value {default.text}"
        wrong("defaultRequest", request, detail)
    if default and least and least.nanos > default.nanos:
        wrong("default", least, f"min value {least.text} is greater than default value {default.text}")
    if default and most and default.nanos > most.nanos:
        wrong("default", most, f"default value {default.text} is greater than max value {most.text}")
    if ratio and ratio.nanos < NANO:
        wrong("maxLimitRequestRatio", ratio, f"ratio {ratio.text} is less than 1")
    if ratio and least and most:
        widest = _ratio(most, least)
        if ratio.nanos / NANO > widest:
            detail = f"ratio {ratio.text} is greater than max/min = {widest:f}"
            wrong("maxLimitRequestRatio", ratio, detail)
    exclusive = name.startswith(HUGE_PAGES) or is_extended_name(name)
    if exclusive and default and request and default.nanos != request.nanos:
        detail = f"default value {default.text} must equal to defaultRequest value {request.text} in {name}"
        wrong("defaultRequest", request, detail)


def _ratio(most: Amount, least: Amount) -> float:
    units = [value_of_nanos(amount.nanos) for amount in (most, least)]
    if max(units) < _MOST_MILLI:
        units = [milli_of_nanos(amount.nanos) for amount in (most, least)]
    return units[0] / units[1] if units[1] else float("inf")


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
            _scopes([str(expression.get("scopeName") or "")], list(hard), where, dict(selector), errors, ".scopeName")
            _expression(expression, where, errors)
        names = [each.get("scopeName") for each in expressions]
        for pair in _CONFLICTS:
            errors.invalid(where, scopes or None, "conflicting scopes", when=all(name in names for name in pair))


def _resource(name: str, quantity: Any, where: str, errors: Errors) -> None:
    checks.standard_name(name, where, errors)
    if "/" not in name and (not checks.is_standard(name) or name == "storage"):
        errors.invalid(where, name, "must be a standard resource for quota")
    errors.invalid(where, str(quantity), NOT_NEGATIVE, when=nanos(quantity) < 0)
    if (name in checks.COUNTS or is_extended_name(name)) and nanos(quantity) % NANO:
        errors.invalid(where, str(quantity), "must be an integer")


def _scopes(names: list[str], hard: list[str], where: str, shown: Any, errors: Errors, at: str = "") -> None:
    for name in names:
        if errors.invalid(where + at, name if at else shown, "unsupported scope", when=name not in _RESOURCES):
            continue
        for resource in sorted(hard):
            if checks.is_standard(resource) and resource not in _RESOURCES[name]:
                errors.invalid(where, shown, "unsupported scope applied to resource")
    for pair in _CONFLICTS:
        errors.invalid(where, shown, "conflicting scopes", when=all(name in names for name in pair))


def _expression(expression: Manifest, where: str, errors: Errors) -> None:
    operator, values = expression.get("operator") or "", expression.get("values") or []
    if expression.get("scopeName") in _ONLY_EXIST and operator != "Exists":
        errors.invalid(f"{where}.operator", operator, _MUST_EXIST)
    if operator in ("In", "NotIn"):
        if not values:
            detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            errors.required(f"{where}.values", detail)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            errors.invalid(f"{where}.values", values, detail)
    else:
        errors.invalid(f"{where}.operator", operator, "not a valid selector operator")
