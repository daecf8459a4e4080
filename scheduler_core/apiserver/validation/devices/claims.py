"""Validation of claims: requests, their alternatives, constraints, and configuration.

kube: pkg/apis/resource/validation/validation.go (validateDeviceClaim and what it calls) @ v1.34.1
"""

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects import Errors, Manifest, is_extended_name
from scheduler_core.apimachinery.objects.names import list_qualified_name_errors
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.checks import IMMUTABLE, alike
from scheduler_core.apiserver.validation.devices import names
from scheduler_core.apiserver.validation.devices.device import toleration
from scheduler_core.apiserver.validation.devices.names import (
    CompileOptions,
    compact,
    each,
    each_once,
    longer,
    selectors,
)
from scheduler_core.apiserver.validation.devices.slices import as_go_writes

# Configuration for drivers, in claims and classes; and classes.
# kube: pkg/apis/resource/validation/validation.go (validateDeviceConfiguration, validateRawExtension, ValidateDeviceClass) @ v1.34.1

MOST_CONFIGURATIONS = 32
LONGEST_PARAMETERS = 10 * 1024


def configuration(config: Manifest, path: str, stored: bool, errors: Errors) -> None:
    """Validate a driver's configuration, for now always opaque."""
    opaque = config.get("opaque")
    if opaque is None:
        errors.required(f"{path}.opaque")
        return
    names.driver(opaque.get("driver"), f"{path}.opaque.driver", errors)
    raw(opaque.get("parameters"), f"{path}.opaque.parameters", stored, LONGEST_PARAMETERS, errors)


def raw(value: Any, path: str, stored: bool, longest: int, errors: Errors) -> None:
    """Validate raw JSON: an object is required, and a new one has a maximum length."""
    if value is None:
        errors.required(path)
    elif not stored and longer(compact(value), longest):
        errors.too_long(path, longest)
    elif not isinstance(value, Mapping):
        errors.invalid_text(path, '"<value omitted>"', "must be a valid JSON object")


def device_class(manifest: Manifest, old: Manifest | None, compiling: CompileOptions, errors: Errors) -> None:
    """Validate a DeviceClass, new or updated. Unchanged parts were accepted before."""
    spec, before = manifest.get("spec") or {}, None if old is None else old.get("spec") or {}

    def same(field: str) -> bool:
        return before is not None and (before.get(field) or []) == (spec.get(field) or [])

    selectors(spec.get("selectors"), "spec.selectors", compiling.of(same("selectors")), errors)
    stored = same("config")
    each(spec.get("config"), MOST_CONFIGURATIONS, configuration, "spec.config", errors, stored)
    name = spec.get("extendedResourceName")
    if name is not None and not is_extended_name(name):
        errors.invalid("spec.extendedResourceName", name, "must be a valid extended resource name")


MOST_REQUESTS = MOST_CONSTRAINTS = 32
MOST_ALTERNATIVES = 8
ALL, EXACT = "All", "ExactCount"
_REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
_ONE_OF = "exactly one of `exactly` or `firstAvailable` is required"
_ONE_ATTRIBUTE = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'

RequestNames = Mapping[str, frozenset[str]]
"""The requests of a claim, each with its alternatives."""


def claim_spec(spec: Manifest, path: str, compiling: CompileOptions, errors: Errors) -> None:
    """Validate the spec of a claim, or of a template's claims."""
    devices, where = spec.get("devices") or {}, f"{path}.devices"
    known = request_names(devices)
    each_once(devices.get("requests"), MOST_REQUESTS, _request, "name", f"{where}.requests", errors, compiling)
    constraints, configurations = devices.get("constraints"), devices.get("config")
    each(constraints, MOST_CONSTRAINTS, _constraint, f"{where}.constraints", errors, known, compiling)
    checked = (known, compiling.stored)
    each(configurations, MOST_CONFIGURATIONS, validate_request_config, f"{where}.config", errors, *checked)


def request_names(devices: Manifest) -> RequestNames:
    """Return the names that references may use."""
    return {
        _name(request): frozenset(_name(each) for each in request.get("firstAvailable") or ())
        for request in devices.get("requests") or ()
    }


def reference(name: Any, path: str, known: RequestNames, errors: Errors) -> None:
    """Validate a reference: the name of a request, possibly with the name of one of its alternatives."""
    parts = (name or "").split("/")
    if errors.invalid(path, name, _REFERENCE, when=len(parts) > 2):
        return
    for part in parts:
        names.label(part, path, errors)
    if parts[0] not in known or (len(parts) == 2 and parts[1] not in known[parts[0]]):
        errors.invalid(path, name or "", _REFERENCE)


def references(given: Any, known: RequestNames, path: str, errors: Errors) -> None:
    """Validate references, which must be unique."""
    each_once(given, MOST_REQUESTS, reference, "", path, errors, known)


def validate_request_config(config: Manifest, path: str, known: RequestNames, stored: bool, errors: Errors) -> None:
    """Validate configuration for some requests."""
    references(config.get("requests"), known, f"{path}.requests", errors)
    configuration(config, path, stored, errors)


def _name(entry: Manifest) -> str:
    return str(entry.get("name") or "")


def _request(request: Manifest, path: str, compiling: CompileOptions, errors: Errors) -> None:
    names.label(request.get("name"), f"{path}.name", errors)
    alternatives, exactly = request.get("firstAvailable") or (), request.get("exactly")
    if alternatives:
        each_once(alternatives, MOST_ALTERNATIVES, _alternative, "name", f"{path}.firstAvailable", errors, compiling)
    if exactly is not None:
        _exact(exactly, f"{path}.exactly", compiling, errors)
    if exactly is None and not alternatives:
        errors.required(path, _ONE_OF)
    elif exactly is not None and alternatives:
        errors.invalid_text(path, "null", f"{_ONE_OF}, but multiple fields are set")


def _alternative(sub: Manifest, path: str, compiling: CompileOptions, errors: Errors) -> None:
    names.label(sub.get("name"), f"{path}.name", errors)
    _exact(sub, path, compiling, errors)


def _exact(request: Manifest, path: str, compiling: CompileOptions, errors: Errors) -> None:
    names.require_class_name(request.get("deviceClassName"), f"{path}.deviceClassName", errors)
    selectors(request.get("selectors"), f"{path}.selectors", compiling, errors)
    mode = request.get("allocationMode") or ""
    count = request.get("count") or 0
    if mode == ALL:
        errors.invalid(f"{path}.count", count, f"must not be specified when allocationMode is '{ALL}'", when=count)
    elif mode == EXACT:
        errors.invalid(f"{path}.count", count, "must be greater than zero", when=count <= 0)
    else:
        errors.not_supported(f"{path}.allocationMode", mode, (ALL, EXACT))
    for i, given in enumerate(request.get("tolerations") or ()):
        toleration(given, f"{path}.tolerations[{i}]", errors)


def _constraint(
    constraint: Manifest, path: str, known: RequestNames, compiling: CompileOptions, errors: Errors
) -> None:
    references(constraint.get("requests"), known, f"{path}.requests", errors)
    for field in ("matchAttribute", "distinctAttribute"):
        if constraint.get(field) is not None:
            names.fully_qualified(constraint[field], f"{path}.{field}", errors)
            return
    if not errors.required(path, _ONE_ATTRIBUTE, when=compiling.consumable_capacity):
        errors.required(f"{path}.matchAttribute")


# Templates of claims, and the immutability of the specs of claims and templates.
# kube: pkg/apis/resource/validation/validation.go, pkg/apis/core/validation/validation.go (ValidateTemplateObjectMeta) @ v1.34.1

_ALLOWED = ("annotations", "labels")
_UNSET: tuple[Any, ...] = (None, "", 0, [], {})


def template(spec: Manifest, compiling: CompileOptions, errors: Errors) -> None:
    """Validate the spec of a template: labels and annotations of its claims, and their spec."""
    meta, where = spec.get("metadata") or {}, "spec.metadata"
    for key in meta.get("annotations") or ():
        problems = list_qualified_name_errors(key.lower())
        errors.problems(f"{where}.annotations", key, problems)
    checks.labels(meta.get("labels"), f"{where}.labels", errors)
    for field, value in meta.items():
        errors.forbidden(f"{where}.{field}", "cannot be set", when=field not in _ALLOWED and value not in _UNSET)
    claim_spec(spec.get("spec") or {}, "spec.spec", compiling, errors)


def immutable_spec(kind: str, old: Manifest, new: Manifest, errors: Errors) -> None:
    """Add an error if the spec of a claim or a template has changed."""
    before, after = old.get("spec") or {}, new.get("spec") or {}
    if not alike(before, after):
        errors.invalid_text("spec", as_go_writes(after, f"{kind}Spec"), IMMUTABLE)
