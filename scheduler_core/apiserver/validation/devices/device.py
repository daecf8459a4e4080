"""One device of a slice: attributes, capacities, taints, the counters that it draws on, and its nodes.

kube: pkg/apis/resource/validation/validation.go (validateDevice and what it calls) @ v1.34.1
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, build_required_error, invalid
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.validation.checks import node_selector
from scheduler_core.apiserver.validation.devices import names
from scheduler_core.apiserver.validation.devices.bindings import bindings
from scheduler_core.apiserver.validation.devices.capacity import capacity_of_one, capacity_of_several
from scheduler_core.apiserver.validation.devices.lists import (
    Errors,
    bad,
    each,
    each_of_map,
    each_once,
    longer,
    quote_names,
    too_long,
)
from scheduler_core.apiserver.validation.devices.taints import taint

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
"""The shared counters of a slice, by set."""


def device(given: Manifest, path: str, counters: Counters, per_device: bool, errors: Errors) -> None:
    """A device. `counters`: what it may draw on; `per_device`: it says itself where it is."""
    names.label(given.get("name"), f"{path}.name", errors)
    attributes, capacities = given.get("attributes"), given.get("capacity")
    count = len(attributes or ()) + len(capacities or ())
    if count > MOST_ATTRIBUTES_AND_CAPACITIES:
        most = MOST_ATTRIBUTES_AND_CAPACITIES
        detail = f"the total number of attributes and capacities must not exceed {most}"
        errors.append(invalid(path, count, detail))
    key = names.LONGEST_KEY
    each_of_map(attributes, key, names.validate_qualified_name, _attribute, f"{path}.attributes", errors)
    check = capacity_of_several if given.get("allowMultipleAllocations") else capacity_of_one
    each_of_map(capacities, key, names.validate_qualified_name, check, f"{path}.capacity", errors)
    each(given.get("taints"), MOST_TAINTS, taint, f"{path}.taints", errors)
    _consumption(given.get("consumesCounters") or (), path, counters, errors)
    if per_device:
        _place(given, path, errors)
    elif any(given.get(field) is not None for field in ("nodeName", "nodeSelector", "allNodes")):
        errors.append(FieldError(path, "null", _NO_PLACE, kind="Invalid value"))
    bindings(given, path, errors)


def _attribute(given: Manifest, path: str, errors: Errors) -> None:
    said = [field for field in _VALUES if given.get(field) is not None]
    text, version = given.get("string"), given.get("version")
    if text is not None and longer(text, LONGEST_VALUE):
        errors.append(too_long(f"{path}.string", LONGEST_VALUE))
    if version is not None:
        if not _is_version(version):
            detail = "must be a string compatible with semver.org spec 2.0.0"
            errors.append(invalid(f"{path}.version", version, detail))
        if longer(version, LONGEST_VALUE):
            errors.append(too_long(f"{path}.version", LONGEST_VALUE))
    if not said:
        errors.append(build_required_error(path, _ONE_VALUE))
    elif len(said) > 1:
        errors.append(bad(path, {name: given.get(field) for field, name in _VALUES.items()}, _ONE_VALUE))


def _consumption(consumed: Any, path: str, counters: Counters, errors: Errors) -> None:
    where = f"{path}.consumesCounters"
    each_once(
        consumed,
        -1,
        _validate_consumed_counters,
        lambda each: each.get("counterSet") or "",
        "counterSet",
        where,
        errors,
    )
    count = sum(len(each.get("counters") or ()) for each in consumed)
    if count > MOST_COUNTERS:
        errors.append(invalid(path, count, f"the total number of counters must not exceed {MOST_COUNTERS}"))
    for i, part in enumerate(consumed):
        name = part.get("counterSet") or ""
        if name not in counters:
            detail = "must reference a counterSet defined in the ResourceSlice sharedCounters"
            errors.append(invalid(f"{where}[{i}].counterSet", name, detail))
            continue
        for counter in part.get("counters") or ():
            if counter not in counters[name]:
                detail = "must reference a counter defined in the ResourceSlice sharedCounters"
                errors.append(invalid(f"{where}[{i}].counters", counter, detail))


def _validate_consumed_counters(given: Manifest, path: str, errors: Errors) -> None:
    if not given.get("counterSet"):
        errors.append(build_required_error(f"{path}.counterSet"))
    counters(given, path, errors)


def counters(given: Manifest, path: str, errors: Errors) -> None:
    """Counters by name: at least one."""
    found: Mapping[str, Any] = given.get("counters") or {}
    if not found:
        errors.append(build_required_error(f"{path}.counters"))
    each_of_map(found, names.LONGEST_LABEL, names.label, None, f"{path}.counters", errors)


def _place(given: Manifest, path: str, errors: Errors) -> None:
    """Validate the location of a device: exactly one field gives it."""
    said = []
    name, selector, everywhere = (given.get(field) for field in ("nodeName", "nodeSelector", "allNodes"))
    if name:
        said.append("nodeName")
        names.node(name, f"{path}.nodeName", errors)
    elif name is not None:
        errors.append(invalid(f"{path}.nodeName", name, "must not be empty"))
    if selector is not None:
        said.append("nodeSelector")
        node_selector(selector, f"{path}.nodeSelector", errors)
    if everywhere:
        said.append("allNodes")
    elif everywhere is not None:
        errors.append(invalid(f"{path}.allNodes", False, "must be either unset or set to true"))
    if not said:
        errors.append(build_required_error(path, _ONE_PLACE))
    elif len(said) > 1:
        errors.append(invalid(path, quote_names(said), _ONE_PLACE))
