"""Validation of a slice's device: attributes, capacities, taints, consumed counters, and its nodes.

kube: pkg/apis/resource/validation/validation.go (validateDevice and what it calls) @ v1.34.1
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from scheduler_core.apimachinery.objects import Errors, Manifest
from scheduler_core.apimachinery.objects.demand import Amount
from scheduler_core.apimachinery.objects.quantity import value_of_nanos
from scheduler_core.apiserver.validation.checks import node_selector
from scheduler_core.apiserver.validation.devices import names
from scheduler_core.apiserver.validation.devices.names import (
    CompileOptions,
    each,
    each_of_map,
    each_once,
    longer,
    quote_names,
    selectors,
)

# Conditions that a device's driver must report before a pod is bound.
# kube: pkg/apis/resource/validation/validation.go (validateDeviceBindingParameters) @ v1.34.1

MOST = 4
_WANTED, _FAILED = "bindingConditions", "bindingFailureConditions"


def bindings(device: Manifest, path: str, errors: Errors) -> None:
    """Validate the binding conditions of a device or of its allocation: both kinds or none, and no condition twice."""
    wanted, failed = (device.get(field) or [] for field in (_WANTED, _FAILED))
    each(wanted, MOST, names.label_name, f"{path}.{_WANTED}", errors)
    each(failed, MOST, names.label_name, f"{path}.{_FAILED}", errors)
    _once(wanted, f"{path}.{_WANTED}", errors)
    seen: dict[str, None] = {}
    for i, condition in enumerate(failed):
        where = f"{path}.{_FAILED}[{i}]"
        errors.unique(seen, condition, where)
        errors.invalid(where, condition, f"{_FAILED} must not overlap with {_WANTED}", when=condition in wanted)
    if failed and not wanted:
        detail = f"{_WANTED} are required to use {_FAILED}"
        errors.invalid(f"{path}.{_WANTED}", device.get(_WANTED), detail)
    if wanted and not failed:
        detail = f"{_FAILED} are required to use {_WANTED}"
        errors.invalid(f"{path}.{_FAILED}", device.get(_FAILED), detail)


def _once(conditions: list[str], path: str, errors: Errors) -> None:
    seen: dict[str, None] = {}
    for i, condition in enumerate(conditions):
        errors.unique(seen, condition, f"{path}[{i}]")


# Capacities of devices, and the requests that are possible if several claims share a device.
# kube: pkg/apis/resource/validation/validation.go (validateMultiAllocatableDeviceCapacity and what it calls) @ v1.34.1

MOST_VALUES = 10
_ONE_POLICY = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
_DEFAULT = "default value is not valid according to the requestPolicy"


def capacity_of_one(given: Manifest, path: str, errors: Errors) -> None:
    """Validate a capacity of a device without multiple allocations."""
    if given.get("requestPolicy") is not None:
        errors.forbidden(f"{path}.requestPolicy", "allowMultipleAllocations must be true")


def capacity_of_several(given: Manifest, path: str, errors: Errors) -> None:
    """Validate a capacity that several claims may share."""
    policy, where = given.get("requestPolicy"), f"{path}.requestPolicy"
    if policy is None:
        return
    values, range_, default = (policy.get(field) for field in ("validValues", "validRange", "default"))
    if errors.forbidden(where, _ONE_POLICY, when=values and range_ is not None):
        return
    for field, present in (("validValues", bool(values)), ("validRange", range_ is not None)):
        if not present:
            continue
        if default is None:
            errors.required(f"{where}.default", f"required when {field} is defined")
        elif field == "validValues":
            _values(Amount.of(default), _most(given), values, f"{where}.{field}", errors)
        else:
            _range(Amount.of(default), _most(given), range_, f"{where}.{field}", errors)


def _most(given: Manifest) -> Amount:
    return Amount.of(given.get("value") or 0)


def _values(default: Amount, most: Amount, values: Sequence[Any], path: str, errors: Errors) -> None:
    options = [Amount.of(value) for value in values]
    for i, (one, following) in enumerate(pairwise(options)):
        if one.nanos > following.nanos:
            errors.invalid(f"{path}[{i + 1}]", following.text, "values must be sorted in ascending order")

    def check(option: Amount, where: str, errors: Errors) -> None:
        if option.nanos > most.nanos:
            errors.invalid(where, option.text, f"option is larger than capacity value: {most.text}")

    each_once(options, MOST_VALUES, check, "", path, errors, key=lambda each: str(value_of_nanos(each.nanos)))
    errors.invalid(path, default.text, _DEFAULT, when=all(option.nanos != default.nanos for option in options))


def _range(default: Amount, most: Amount, given: Manifest, path: str, errors: Errors) -> None:
    if errors.required(f"{path}.min", "required when validRange is defined", when=given.get("min") is None):
        return
    least = Amount.of(given["min"])
    if least.nanos > most.nanos:
        errors.invalid(f"{path}.min", least.text, f"min is larger than capacity value: {most.text}")
    if default.nanos < least.nanos:
        errors.invalid(f"{path}.min", default.text, f"default is less than min: {least.text}")
    highest = None if given.get("max") is None else Amount.of(given["max"])
    if highest is not None:
        _highest(default, most, least, highest, f"{path}.max", errors)
    if given.get("step") is not None:
        _step(default, most, least, highest, Amount.of(given["step"]), f"{path}.step", errors)


def _highest(default: Amount, most: Amount, least: Amount, highest: Amount, path: str, errors: Errors) -> None:
    errors.invalid(path, least.text, f"min is larger than max: {highest.text}", when=least.nanos > highest.nanos)
    if highest.nanos > most.nanos:
        errors.invalid(path, highest.text, f"max is larger than capacity value: {most.text}")
    errors.invalid(path, default.text, f"default is more than max: {highest.text}", when=default.nanos > highest.nanos)


def _step(
    default: Amount, most: Amount, least: Amount, highest: Amount | None, step: Amount, path: str, errors: Errors
) -> None:
    first = least + step
    if first.nanos > most.nanos:
        errors.invalid(path, step.text, f"one step {first.text} is larger than capacity value: {most.text}")
    units = value_of_nanos(step.nanos)
    if not units:
        return  # kube divides by it, and the request ends in a panic
    for value in (default, *(() if highest is None else (highest,))):
        if (value_of_nanos(value.nanos) - value_of_nanos(least.nanos)) % units:
            detail = f"value is not a multiple of a given step ({step.text}) from ({least.text})"
            errors.invalid(path, value.text, detail)


# Taints of devices, tolerations of requests, and rules that taint devices.
# kube: pkg/apis/resource/validation/validation.go (validateDeviceTaint, validateDeviceToleration, ValidateDeviceTaintRule) @ v1.34.1

_EFFECTS = ("NoExecute", "NoSchedule")
_OPERATORS = ("Equal", "Exists")


def taint(given: Manifest, path: str, errors: Errors) -> None:
    """Validate a taint of a device."""
    names.label_name(given.get("key"), f"{path}.key", errors)
    if given.get("value"):
        names.label_value(given["value"], f"{path}.value", errors)
    effect = given.get("effect")
    if not errors.required(f"{path}.effect", when=not effect):
        errors.not_supported(f"{path}.effect", effect, _EFFECTS, when=effect not in _EFFECTS)


def toleration(given: Manifest, path: str, errors: Errors) -> None:
    """Validate a toleration of a request."""
    if given.get("key"):
        names.label_name(given["key"], f"{path}.key", errors)
    operator, value = given.get("operator"), given.get("value") or ""
    if operator == "Exists":
        errors.invalid(f"{path}.value", value, "must be empty for operator `Exists`", when=value)
    elif operator == "Equal":
        names.label_value(value, f"{path}.value", errors)
    elif not operator:
        errors.required(f"{path}.operator")
    else:
        errors.not_supported(f"{path}.operator", operator, _OPERATORS)
    effect = given.get("effect")
    errors.not_supported(f"{path}.effect", effect, _EFFECTS, when=effect and effect not in _EFFECTS)


def rule(manifest: Manifest, old: Manifest | None, compiling: CompileOptions, errors: Errors) -> None:
    """Validate a DeviceTaintRule, new or updated."""
    spec = manifest.get("spec") or {}
    selector = spec.get("deviceSelector")
    if selector is not None:
        before = ((old or {}).get("spec") or {}).get("deviceSelector")
        where = "spec.deviceSelector"
        for field, check in (
            ("deviceClassName", names.subdomain),
            ("driver", names.driver),
            ("pool", names.pool),
            ("device", names.label),
        ):
            if selector.get(field) is not None:
                check(selector[field], f"{where}.{field}", errors)
        given = selector.get("selectors")
        stored = before is not None and (before.get("selectors") or []) == (given or [])
        selectors(given, f"{where}.selectors", compiling.of(stored), errors)
    taint(spec.get("taint") or {}, "spec.taint", errors)


MOST_ATTRIBUTES_AND_CAPACITIES = 32
MOST_TAINTS = 4
MOST_COUNTERS = 32
LONGEST_VALUE = 64
_ONE_VALUE = "exactly one value must be specified"
_ONE_PLACE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in "
    "the ResourceSlice spec"
)
_NO_PLACE = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the "
    "ResourceSlice spec"
)
_NUMBER = r"(0|[1-9][0-9]*)"
_BEFORE = r"(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD = r"[0-9a-zA-Z-]+"
_is_version = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_BEFORE}(\.{_BEFORE})*)?(\+{_BUILD}(\.{_BUILD})*)?\Z"
).match
_VALUES = {"int": "IntValue", "bool": "BoolValue", "string": "StringValue", "version": "VersionValue"}

Counters = Mapping[str, frozenset[str]]
"""The shared counters of a slice, by set; None if they are in other slices of the pool."""


def device(given: Manifest, path: str, counters: Counters | None, per_device: bool, errors: Errors) -> None:
    """Validate a device. `counters`: those that it may consume; `per_device`: the device itself gives its location."""
    names.label(given.get("name"), f"{path}.name", errors)
    attributes, capacities = given.get("attributes"), given.get("capacity")
    count = len(attributes or ()) + len(capacities or ())
    if count > MOST_ATTRIBUTES_AND_CAPACITIES:
        most = MOST_ATTRIBUTES_AND_CAPACITIES
        errors.invalid(path, count, f"the total number of attributes and capacities must not exceed {most}")
    key = names.LONGEST_KEY
    each_of_map(attributes, key, names.validate_qualified_name, _attribute, f"{path}.attributes", errors)
    check = capacity_of_several if given.get("allowMultipleAllocations") else capacity_of_one
    each_of_map(capacities, key, names.validate_qualified_name, check, f"{path}.capacity", errors)
    each(given.get("taints"), MOST_TAINTS, taint, f"{path}.taints", errors)
    _consumption(given.get("consumesCounters") or (), path, counters, errors)
    if per_device:
        _place(given, path, errors)
    elif any(given.get(field) is not None for field in ("nodeName", "nodeSelector", "allNodes")):
        errors.invalid_text(path, "null", _NO_PLACE)
    bindings(given, path, errors)


def _attribute(given: Manifest, path: str, errors: Errors) -> None:
    said = [field for field in _VALUES if given.get(field) is not None]
    text, version = given.get("string"), given.get("version")
    errors.too_long(f"{path}.string", LONGEST_VALUE, when=text is not None and longer(text, LONGEST_VALUE))
    if version is not None:
        if not _is_version(version):
            errors.invalid(f"{path}.version", version, "must be a string compatible with semver.org spec 2.0.0")
        errors.too_long(f"{path}.version", LONGEST_VALUE, when=longer(version, LONGEST_VALUE))
    lists = any(
        given.get(field) is not None for field in ("ints", "bools", "strings", "versions")
    )  # unknown before 1.36
    if not said:
        errors.required(path, _ONE_VALUE, when=not lists)
    elif len(said) > 1:
        errors.invalid(path, {name: given.get(field) for field, name in _VALUES.items()}, _ONE_VALUE)


def _consumption(consumed: Any, path: str, counters: Counters | None, errors: Errors) -> None:
    where = f"{path}.consumesCounters"
    each_once(consumed, -1, _validate_consumed_counters, "counterSet", where, errors)
    count = sum(len(each.get("counters") or ()) for each in consumed)
    if count > MOST_COUNTERS:
        errors.invalid(path, count, f"the total number of counters must not exceed {MOST_COUNTERS}")
    if counters is None:
        return
    for i, part in enumerate(consumed):
        name = part.get("counterSet") or ""
        if name not in counters:
            detail = "must reference a counterSet defined in the ResourceSlice sharedCounters"
            errors.invalid(f"{where}[{i}].counterSet", name, detail)
            continue
        for counter in part.get("counters") or ():
            if counter not in counters[name]:
                detail = "must reference a counter defined in the ResourceSlice sharedCounters"
                errors.invalid(f"{where}[{i}].counters", counter, detail)


def _validate_consumed_counters(given: Manifest, path: str, errors: Errors) -> None:
    errors.required(f"{path}.counterSet", when=not given.get("counterSet"))
    counters(given, path, errors)


def counters(given: Manifest, path: str, errors: Errors) -> None:
    """Validate counters by name: at least one."""
    found: Mapping[str, Any] = given.get("counters") or {}
    errors.required(f"{path}.counters", when=not found)
    each_of_map(found, names.LONGEST_LABEL, names.label, None, f"{path}.counters", errors)


def _place(given: Manifest, path: str, errors: Errors) -> None:
    """Validate the location of a device: exactly one field gives it."""
    said = []
    name, selector, everywhere = (given.get(field) for field in ("nodeName", "nodeSelector", "allNodes"))
    if name:
        said.append("nodeName")
        names.subdomain(name, f"{path}.nodeName", errors)
    elif name is not None:
        errors.invalid(f"{path}.nodeName", name, "must not be empty")
    if selector is not None:
        said.append("nodeSelector")
        node_selector(selector, f"{path}.nodeSelector", errors)
    if everywhere:
        said.append("allNodes")
    elif everywhere is not None:
        errors.invalid(f"{path}.allNodes", False, "must be either unset or set to true")
    if not said:
        errors.required(path, _ONE_PLACE)
    elif len(said) > 1:
        errors.invalid(path, quote_names(said), _ONE_PLACE)
