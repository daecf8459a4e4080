"""Conditions that a device's driver has to report before a pod is bound.

kube: pkg/apis/resource/validation/validation.go (validateDeviceBindingParameters) @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.errors import duplicate, invalid
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.validation.devices import names
from scheduler_core.apiserver.validation.devices.names import Errors, bad, each

MOST = 4
_WANTED, _FAILED = "bindingConditions", "bindingFailureConditions"


def bindings(device: Manifest, path: str, errors: Errors) -> None:
    """The conditions of a device, or of an allocated one: both kinds or none, and no condition twice."""
    wanted, failed = (device.get(field) or [] for field in (_WANTED, _FAILED))
    each(wanted, MOST, names.label_name, f"{path}.{_WANTED}", errors)
    each(failed, MOST, names.label_name, f"{path}.{_FAILED}", errors)
    _once(wanted, f"{path}.{_WANTED}", errors)
    seen: dict[str, None] = {}
    for i, condition in enumerate(failed):
        where = f"{path}.{_FAILED}[{i}]"
        if condition in seen:
            errors.append(duplicate(where, condition))
        seen[condition] = None
        if condition in wanted:
            errors.append(invalid(where, condition, f"{_FAILED} must not overlap with {_WANTED}"))
    if failed and not wanted:
        detail = f"{_WANTED} are required to use {_FAILED}"
        errors.append(bad(f"{path}.{_WANTED}", device.get(_WANTED), detail))
    if wanted and not failed:
        detail = f"{_FAILED} are required to use {_WANTED}"
        errors.append(bad(f"{path}.{_FAILED}", device.get(_FAILED), detail))


def _once(conditions: list[str], path: str, errors: Errors) -> None:
    seen: dict[str, None] = {}
    for i, condition in enumerate(conditions):
        if condition in seen:
            errors.append(duplicate(f"{path}[{i}]", condition))
        seen[condition] = None
