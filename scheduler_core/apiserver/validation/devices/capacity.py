"""Capacities of devices, and what of them may be asked for where several claims share a device.

kube: pkg/apis/resource/validation/validation.go (validateMultiAllocatableDeviceCapacity and what it calls) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from scheduler_core.apimachinery.objects.demand import Amount
from scheduler_core.apimachinery.objects.errors import build_required_error, forbidden, invalid
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.quantity import value_of_nanos
from scheduler_core.apiserver.validation.devices.lists import Errors, each_once

MOST_VALUES = 10
_ONE_POLICY = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
_DEFAULT = "default value is not valid according to the requestPolicy"


def capacity_of_one(given: Manifest, path: str, errors: Errors) -> None:
    """A capacity of a device that one claim takes whole."""
    if given.get("requestPolicy") is not None:
        errors.append(forbidden(f"{path}.requestPolicy", "allowMultipleAllocations must be true"))


def capacity_of_several(given: Manifest, path: str, errors: Errors) -> None:
    """A capacity that several claims may share."""
    policy, where = given.get("requestPolicy"), f"{path}.requestPolicy"
    if policy is None:
        return
    values, range_, default = (policy.get(field) for field in ("validValues", "validRange", "default"))
    if values and range_ is not None:
        errors.append(forbidden(where, _ONE_POLICY))
        return
    for field, present in (("validValues", bool(values)), ("validRange", range_ is not None)):
        if not present:
            continue
        if default is None:
            errors.append(build_required_error(f"{where}.default", f"required when {field} is defined"))
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
            detail = "values must be sorted in ascending order"
            errors.append(invalid(f"{path}[{i + 1}]", following.text, detail))

    def check(option: Amount, where: str, errors: Errors) -> None:
        if option.nanos > most.nanos:
            errors.append(invalid(where, option.text, f"option is larger than capacity value: {most.text}"))

    each_once(options, MOST_VALUES, check, lambda each: str(value_of_nanos(each.nanos)), "", path, errors)
    if all(option.nanos != default.nanos for option in options):
        errors.append(invalid(path, default.text, _DEFAULT))


def _range(default: Amount, most: Amount, given: Manifest, path: str, errors: Errors) -> None:
    if given.get("min") is None:
        errors.append(build_required_error(f"{path}.min", "required when validRange is defined"))
        return
    least = Amount.of(given["min"])
    if least.nanos > most.nanos:
        errors.append(invalid(f"{path}.min", least.text, f"min is larger than capacity value: {most.text}"))
    if default.nanos < least.nanos:
        errors.append(invalid(f"{path}.min", default.text, f"default is less than min: {least.text}"))
    highest = None if given.get("max") is None else Amount.of(given["max"])
    if highest is not None:
        _highest(default, most, least, highest, f"{path}.max", errors)
    if given.get("step") is not None:
        _step(default, most, least, highest, Amount.of(given["step"]), f"{path}.step", errors)


def _highest(default: Amount, most: Amount, least: Amount, highest: Amount, path: str, errors: Errors) -> None:
    if least.nanos > highest.nanos:
        errors.append(invalid(path, least.text, f"min is larger than max: {highest.text}"))
    if highest.nanos > most.nanos:
        errors.append(invalid(path, highest.text, f"max is larger than capacity value: {most.text}"))
    if default.nanos > highest.nanos:
        errors.append(invalid(path, default.text, f"default is more than max: {highest.text}"))


def _step(
    default: Amount, most: Amount, least: Amount, highest: Amount | None, step: Amount, path: str, errors: Errors
) -> None:
    first = least + step
    if first.nanos > most.nanos:
        detail = f"one step {first.text} is larger than capacity value: {most.text}"
        errors.append(invalid(path, step.text, detail))
    units = value_of_nanos(step.nanos)
    if not units:
        return  # kube divides by it, and the request ends in a panic
    for value in (default, *(() if highest is None else (highest,))):
        if (value_of_nanos(value.nanos) - value_of_nanos(least.nanos)) % units:
            detail = f"value is not a multiple of a given step ({step.text}) from ({least.text})"
            errors.append(invalid(path, value.text, detail))
