"""DeviceTaintRules: taints that an administrator puts on devices of any driver.

The rules' taints are appended to the devices' own, in the order of the rules' names (kube's is that of a map). A rule whose class does
not exist applies to nothing; neither does one to a device at which its selectors fail.

DEVIATION: where a rule's selector does not compile the slice stays without the rules' taints; kube keeps what it knew of it before,
and a slice that was never patched is unknown to its scheduler.

kube: dynamic-resource-allocation/resourceslice/tracker/tracker.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from scheduler_core.apimachinery.dra.classes import DeviceClass, expressions
from scheduler_core.apimachinery.dra.features import IdentityCache, SelectorError
from scheduler_core.apimachinery.dra.slices import Device, DeviceTaint, ResourceSlice
from scheduler_core.apimachinery.objects.manifest import Manifest

# Which devices an expression selects, remembered per device.


class Selectors(Protocol):
    """The search's questions about devices."""

    def matches(self, expression: str, device: Device) -> bool:
        """Return whether the expression selects the device. Raise SelectorError if evaluation fails."""

    def values(self, expression: str, device: Device) -> list[dict[str, Any]]:
        """Return the values of the expression's parts for the device, as JSON-safe data for observers."""


KIND = "DeviceTaintRule"
_NOTHING: Mapping[str, Any] = {}

# Whether a CEL expression selects a device; False where it fails there. UnreadableRule where it does not compile.
Selects = Callable[[str, ResourceSlice, Device], bool]


class UnreadableRule(Exception):
    """A selector of a rule does not compile."""


@dataclass(frozen=True, slots=True, eq=False)
class DeviceTaintRule:
    """A rule that taints devices. A field that is None selects all. `selectors` are CEL expressions."""

    manifest: Manifest
    name: str
    driver: str | None
    pool: str | None
    device: str | None
    class_name: str | None
    selectors: tuple[str, ...]
    taint: DeviceTaint

    @classmethod
    def of(cls, manifest: Manifest) -> DeviceTaintRule:
        """Read once per manifest."""
        return _RULES.of(manifest, cls.from_manifest)

    @classmethod
    def from_manifest(cls, manifest: Manifest) -> DeviceTaintRule:
        spec = manifest.get("spec") or _NOTHING
        selector = spec.get("deviceSelector") or _NOTHING
        return cls(
            manifest,
            (manifest.get("metadata") or _NOTHING).get("name") or "",
            selector.get("driver"),
            selector.get("pool"),
            selector.get("device"),
            selector.get("deviceClassName"),
            tuple(e for e in expressions(selector.get("selectors")) if e is not None),
            DeviceTaint.of(spec.get("taint") or _NOTHING),
        )


def track_slices(
    manifests: Iterable[Manifest], rules: Iterable[Manifest], by_name: Mapping[str, DeviceClass], selectors: Selectors
) -> list[ResourceSlice]:
    """Slices as rules leave them, ordered by name; the very slices that were read where no rule applies."""
    found = sorted((ResourceSlice.of(each) for each in manifests), key=lambda each: each.name)
    read = [DeviceTaintRule.of(rule) for rule in rules]
    return [_track_slice(each, read, by_name, selectors) for each in found] if read else found


def _track_slice(
    each: ResourceSlice, rules: Sequence[DeviceTaintRule], by_name: Mapping[str, DeviceClass], selectors: Selectors
) -> ResourceSlice:
    def selects(expression: str, _: ResourceSlice, device: Device) -> bool:
        try:
            return selectors.matches(expression, device)
        except SelectorError as problem:
            if problem.kind == "compile":
                raise UnreadableRule from None
            return False

    try:
        return taint_slice(each, rules, by_name, selects)
    except UnreadableRule:
        return each


def taint_slice(
    resource_slice: ResourceSlice,
    rules: Sequence[DeviceTaintRule],
    classes: Mapping[str, DeviceClass],
    selects: Selects,
) -> ResourceSlice:
    """The slice with the rules' taints on its devices; the very same where none applies."""
    devices = list(resource_slice.devices)
    for rule in rules:
        tests = _tests(rule, resource_slice, classes)
        if tests is not None:
            for index, device in enumerate(resource_slice.devices):
                if rule.device is not None and rule.device != device.name:
                    continue
                # kube's tracker does not tell expressions whether a device allows several allocations.
                asked = device if device.allows_multiple is None else replace(device, allows_multiple=None)
                if all(selects(test, resource_slice, asked) for test in tests):
                    devices[index] = replace(devices[index], taints=(*devices[index].taints, rule.taint))
    if all(mine is other for mine, other in zip(devices, resource_slice.devices, strict=True)):
        return resource_slice
    return replace(resource_slice, devices=tuple(devices))


def _tests(
    rule: DeviceTaintRule, resource_slice: ResourceSlice, classes: Mapping[str, DeviceClass]
) -> tuple[str, ...] | None:
    """Return the expressions that each device of the slice must match, or None if the rule applies to none of them."""
    if rule.driver is not None and rule.driver != resource_slice.driver:
        return None
    if rule.pool is not None and rule.pool != resource_slice.pool.pool:
        return None
    if rule.class_name is None:
        return rule.selectors
    found = classes.get(rule.class_name)
    if found is None:
        return None
    return (*(e for e in found.selectors if e is not None), *rule.selectors)


_RULES: IdentityCache[DeviceTaintRule] = IdentityCache(1024)
