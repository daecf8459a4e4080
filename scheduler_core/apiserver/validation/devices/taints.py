"""Taints of devices, tolerations of requests, and rules that taint devices.

kube: pkg/apis/resource/validation/validation.go (validateDeviceTaint, validateDeviceToleration, ValidateDeviceTaintRule) @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.errors import build_required_error, invalid, not_supported
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.validation.devices import names
from scheduler_core.apiserver.validation.devices.lists import Errors
from scheduler_core.apiserver.validation.devices.selectors import Compiling, selectors

_EFFECTS = ("NoExecute", "NoSchedule")
_OPERATORS = ("Equal", "Exists")


def taint(given: Manifest, path: str, errors: Errors) -> None:
    """One taint of a device."""
    names.label_name(given.get("key"), f"{path}.key", errors)
    if given.get("value"):
        names.label_value(given["value"], f"{path}.value", errors)
    effect = given.get("effect")
    if not effect:
        errors.append(build_required_error(f"{path}.effect"))
    elif effect not in _EFFECTS:
        errors.append(not_supported(f"{path}.effect", effect, _EFFECTS))


def toleration(given: Manifest, path: str, errors: Errors) -> None:
    """One toleration of a request."""
    if given.get("key"):
        names.label_name(given["key"], f"{path}.key", errors)
    operator, value = given.get("operator"), given.get("value") or ""
    if operator == "Exists":
        if value:
            errors.append(invalid(f"{path}.value", value, "must be empty for operator `Exists`"))
    elif operator == "Equal":
        names.label_value(value, f"{path}.value", errors)
    elif not operator:
        errors.append(build_required_error(f"{path}.operator"))
    else:
        errors.append(not_supported(f"{path}.operator", operator, _OPERATORS))
    effect = given.get("effect")
    if effect and effect not in _EFFECTS:
        errors.append(not_supported(f"{path}.effect", effect, _EFFECTS))


def rule(manifest: Manifest, old: Manifest | None, compiling: Compiling, errors: Errors) -> None:
    """A DeviceTaintRule, new or changed."""
    spec = manifest.get("spec") or {}
    selector = spec.get("deviceSelector")
    if selector is not None:
        before = ((old or {}).get("spec") or {}).get("deviceSelector")
        _selector(selector, before, compiling, errors)
    taint(spec.get("taint") or {}, "spec.taint", errors)


def _selector(selector: Manifest, old: Manifest | None, compiling: Compiling, errors: Errors) -> None:
    where = "spec.deviceSelector"
    for field, check in (
        ("deviceClassName", names.class_name),
        ("driver", names.driver),
        ("pool", names.pool),
        ("device", names.label),
    ):
        if selector.get(field) is not None:
            check(selector[field], f"{where}.{field}", errors)
    given = selector.get("selectors")
    stored = old is not None and (old.get("selectors") or []) == (given or [])
    selectors(given, f"{where}.selectors", compiling.of(stored), errors)
