"""Configuration for drivers, of claims and of classes; and classes.

kube: pkg/apis/resource/validation/validation.go (validateDeviceConfiguration, validateRawExtension, ValidateDeviceClass) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, build_required_error, invalid
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.resources import is_extended_name
from scheduler_core.apiserver.validation.devices import names
from scheduler_core.apiserver.validation.devices.names import Errors, compact, each, longer, too_long
from scheduler_core.apiserver.validation.devices.selectors import Compiling, selectors

MOST_CONFIGURATIONS = 32
LONGEST_PARAMETERS = 10 * 1024


def configuration(config: Manifest, path: str, stored: bool, errors: Errors) -> None:
    """Validate a driver's configuration, for now always opaque."""
    opaque = config.get("opaque")
    if opaque is None:
        errors.append(build_required_error(f"{path}.opaque"))
        return
    names.driver(opaque.get("driver"), f"{path}.opaque.driver", errors)
    where = f"{path}.opaque.parameters"
    raw(opaque.get("parameters"), where, stored, LONGEST_PARAMETERS, errors)


def raw(value: Any, path: str, stored: bool, longest: int, errors: Errors) -> None:
    """Anything that is a JSON object."""
    if value is None:
        errors.append(build_required_error(path))
    elif not stored and longer(compact(value), longest):
        errors.append(too_long(path, longest))
    elif not isinstance(value, Mapping):
        errors.append(FieldError(path, '"<value omitted>"', "must be a valid JSON object", kind="Invalid value"))


def device_class(manifest: Manifest, old: Manifest | None, compiling: Compiling, errors: Errors) -> None:
    """A DeviceClass, new or changed: what is as it was has been accepted before."""
    spec, before = manifest.get("spec") or {}, None if old is None else old.get("spec") or {}

    def same(field: str) -> bool:
        return before is not None and (before.get(field) or []) == (spec.get(field) or [])

    selectors(spec.get("selectors"), "spec.selectors", compiling.of(same("selectors")), errors)
    stored = same("config")
    each(
        spec.get("config"),
        MOST_CONFIGURATIONS,
        lambda config, path, errors: configuration(config, path, stored, errors),
        "spec.config",
        errors,
    )
    name = spec.get("extendedResourceName")
    if name is not None and not is_extended_name(name):
        errors.append(invalid("spec.extendedResourceName", name, "must be a valid extended resource name"))
