"""Fields whose feature gate is off: they are dropped, unless the object had such a field already.

kube: pkg/registry/resource/*/strategy.go (dropDisabledFields), pkg/api/pod/util.go (dropDisabledDynamicResourceAllocationFields)
@ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.registry.devices.defaults import DeviceGates

_OF_PARTITIONS = ("consumesCounters", "nodeName", "nodeSelector", "allNodes")
_OF_BINDINGS = ("bindingConditions", "bindingFailureConditions")
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")


def without_disabled(kind: str, new: Manifest, old: Manifest | None, gates: DeviceGates) -> Manifest:
    """The new object without the fields of gates that are off. Nothing is changed in place."""
    for rule in _RULES.get(kind, ()):
        if not rule.on(gates) and not (old is not None and rule.uses(old)) and rule.uses(new):
            new = rule.drop(new)
    return new


# pods


def _has_claims(pod: Manifest) -> bool:
    return bool((pod.get("spec") or {}).get("resourceClaims"))


def _uses_claims(pod: Manifest) -> bool:
    return _has_claims(pod) or any(
        (container.get("resources") or {}).get("claims")
        for field in _CONTAINERS
        for container in (pod.get("spec") or {}).get(field) or ()
    )


def _without_claims(pod: Manifest) -> Manifest:
    spec = dict(_without(pod["spec"], ("resourceClaims",)))
    for field in _CONTAINERS:
        if spec.get(field):
            spec[field] = [
                {**each, "resources": _without(each["resources"], ("claims",))} if each.get("resources") else each
                for each in spec[field]
            ]
    return {**pod, "spec": spec}


class _Rule:
    """The effect of one gate on a kind. `uses`: whether an object has the gated fields; `drop`: the object without them."""

    def __init__(
        self, on: Callable[[DeviceGates], bool], uses: Callable[[Manifest], bool], drop: Callable[[Manifest], Manifest]
    ) -> None:
        self.on, self.uses, self.drop = on, uses, drop


# claims and templates: `spec` is the path of the claim's spec


def _requests(manifest: Manifest, deep: bool) -> Sequence[Manifest]:
    return _devices(manifest, deep).get("requests") or ()


def _devices(manifest: Manifest, deep: bool) -> Manifest:
    spec = manifest.get("spec") or {}
    spec = (spec.get("spec") or {}) if deep else spec
    return spec.get("devices") or {}


def _with_devices(manifest: Manifest, deep: bool, changes: Manifest) -> Manifest:
    spec = manifest["spec"]
    inner = spec["spec"] if deep else spec
    inner = {**inner, "devices": {**inner["devices"], **changes}}
    return {**manifest, "spec": {**spec, "spec": inner} if deep else inner}


def _without(entry: Manifest, fields: Iterable[str]) -> Manifest:
    gone = tuple(fields)
    return {name: value for name, value in entry.items() if name not in gone}


def _build_prioritized_rule(deep: bool) -> _Rule:
    def drop(manifest: Manifest) -> Manifest:
        requests = [_without(request, ("firstAvailable",)) for request in _requests(manifest, deep)]
        return _with_devices(manifest, deep, {"requests": requests})

    return _Rule(
        lambda gates: gates.dra_prioritized_list,
        lambda manifest: any(request.get("firstAvailable") for request in _requests(manifest, deep)),
        drop,
    )


def _admin(deep: bool) -> _Rule:
    def uses(manifest: Manifest) -> bool:
        return any(
            (request.get("exactly") or {}).get("adminAccess") is not None for request in _requests(manifest, deep)
        ) or any(result.get("adminAccess") is not None for result in _results(manifest))

    def drop(manifest: Manifest) -> Manifest:
        requests = [
            {**request, "exactly": _without(request["exactly"], ("adminAccess",))}
            if request.get("exactly")
            else request
            for request in _requests(manifest, deep)
        ]
        if requests:
            manifest = _with_devices(manifest, deep, {"requests": requests})
        return _with_results(manifest, ("adminAccess",))

    return _Rule(lambda gates: gates.dra_admin_access, uses, drop)


def _consumable(deep: bool) -> _Rule:
    def uses(manifest: Manifest) -> bool:
        devices = _devices(manifest, deep)
        parts = [
            part
            for request in devices.get("requests") or ()
            for part in (request.get("exactly") or {}, *(request.get("firstAvailable") or ()))
        ]
        status = manifest.get("status") or {}
        return (
            any(part.get("capacity") is not None for part in parts)
            or any(each.get("distinctAttribute") is not None for each in devices.get("constraints") or ())
            or any(
                result.get("shareID") is not None or result.get("consumedCapacity") is not None
                for result in _results(manifest)
            )
            or any(device.get("shareID") is not None for device in status.get("devices") or ())
        )

    def drop(manifest: Manifest) -> Manifest:
        """Drop gated fields except in constraints: kube drops those only from a copy."""
        requests = [_drop_capacity(request) for request in _requests(manifest, deep)]
        if requests:
            manifest = _with_devices(manifest, deep, {"requests": requests})
        manifest = _with_results(manifest, ("shareID", "consumedCapacity"))
        status = manifest.get("status") or {}
        if status.get("devices"):
            devices = [_without(device, ("shareID",)) for device in status["devices"]]
            manifest = {**manifest, "status": {**status, "devices": devices}}
        return manifest

    return _Rule(lambda gates: gates.dra_consumable_capacity, uses, drop)


def _drop_capacity(request: Manifest) -> Manifest:
    changes: dict[str, Any] = {}
    if request.get("exactly"):
        changes["exactly"] = _without(request["exactly"], ("capacity",))
    if request.get("firstAvailable"):
        changes["firstAvailable"] = [_without(each, ("capacity",)) for each in request["firstAvailable"]]
    return {**request, **changes}


# the status of claims


def _results(manifest: Manifest) -> Sequence[Manifest]:
    allocation = (manifest.get("status") or {}).get("allocation") or {}
    return (allocation.get("devices") or {}).get("results") or ()


def _with_results(manifest: Manifest, gone: Sequence[str]) -> Manifest:
    """Without fields of what was allocated."""
    if not _results(manifest):
        return manifest
    status = manifest["status"]
    devices = status["allocation"]["devices"]
    results = [_without(result, gone) for result in devices["results"]]
    allocation = {**status["allocation"], "devices": {**devices, "results": results}}
    return {**manifest, "status": {**status, "allocation": allocation}}


def _reports(manifest: Manifest) -> bool:
    return bool((manifest.get("status") or {}).get("devices"))


def _drop_device_status(manifest: Manifest) -> Manifest:
    return {**manifest, "status": _without(manifest["status"], ("devices",))}


def _binds(manifest: Manifest) -> bool:
    allocation = (manifest.get("status") or {}).get("allocation") or {}
    return allocation.get("allocationTimestamp") is not None or any(
        result.get(field) for result in _results(manifest) for field in _OF_BINDINGS
    )


def _unbound(manifest: Manifest) -> Manifest:
    manifest = _with_results(manifest, _OF_BINDINGS)
    status = manifest["status"]
    allocation = _without(status["allocation"], ("allocationTimestamp",))
    return {**manifest, "status": {**status, "allocation": allocation}}


# slices


def _of_devices(*fields: str) -> Callable[[Manifest], bool]:
    def uses(manifest: Manifest) -> bool:
        return any(
            device.get(field) not in (None, [])
            for device in (manifest.get("spec") or {}).get("devices") or ()
            for field in fields
        )

    return uses


def _drop_of_devices(*fields: str) -> Callable[[Manifest], Manifest]:
    def drop(manifest: Manifest) -> Manifest:
        spec = manifest["spec"]
        devices = [_without(device, fields) for device in spec.get("devices") or ()]
        return {**manifest, "spec": {**spec, "devices": devices}}

    return drop


def _is_partitioned(manifest: Manifest) -> bool:
    spec = manifest.get("spec") or {}
    return (
        bool(spec.get("sharedCounters"))
        or spec.get("perDeviceNodeSelection") is not None
        or _of_devices(*_OF_PARTITIONS)(manifest)
    )


def _drop_partitions(manifest: Manifest) -> Manifest:
    manifest = _drop_of_devices(*_OF_PARTITIONS)(manifest) if manifest["spec"].get("devices") else manifest
    return {**manifest, "spec": _without(manifest["spec"], ("sharedCounters", "perDeviceNodeSelection"))}


def _shares(manifest: Manifest) -> bool:
    return any(
        device.get("allowMultipleAllocations") is not None
        or any(each.get("requestPolicy") is not None for each in (device.get("capacity") or {}).values())
        for device in (manifest.get("spec") or {}).get("devices") or ()
    )


def _drop_sharing(manifest: Manifest) -> Manifest:
    spec = manifest["spec"]
    devices = []
    for device in spec["devices"]:
        kept = dict(_without(device, ("allowMultipleAllocations",)))
        if kept.get("capacity"):
            kept["capacity"] = {name: _without(each, ("requestPolicy",)) for name, each in kept["capacity"].items()}
        devices.append(kept)
    return {**manifest, "spec": {**spec, "devices": devices}}


def _binding_gates(gates: DeviceGates) -> bool:
    return gates.dra_binding_conditions and gates.dra_device_status


_RULES: dict[str, tuple[_Rule, ...]] = {
    "Pod": (
        _Rule(lambda gates: gates.dynamic_resources, _uses_claims, _without_claims),
        _Rule(
            lambda gates: gates.dra_extended_resource,
            lambda pod: (pod.get("status") or {}).get("extendedResourceClaimStatus") is not None,
            lambda pod: {**pod, "status": _without(pod["status"], ("extendedResourceClaimStatus",))},
        ),
    ),
    "ResourceClaim": (
        _build_prioritized_rule(False),
        _admin(False),
        _Rule(lambda gates: gates.dra_device_status, _reports, _drop_device_status),
        _Rule(_binding_gates, _binds, _unbound),
        _consumable(False),
    ),
    "ResourceClaimTemplate": (_build_prioritized_rule(True), _admin(True), _consumable(True)),
    "DeviceClass": (
        _Rule(
            lambda gates: gates.dra_extended_resource,
            lambda manifest: (manifest.get("spec") or {}).get("extendedResourceName") is not None,
            lambda manifest: {**manifest, "spec": _without(manifest["spec"], ("extendedResourceName",))},
        ),
    ),
    "ResourceSlice": (
        _Rule(lambda gates: gates.dra_device_taints, _of_devices("taints"), _drop_of_devices("taints")),
        _Rule(lambda gates: gates.dra_partitionable_devices, _is_partitioned, _drop_partitions),
        _Rule(
            _binding_gates, _of_devices(*_OF_BINDINGS, "bindsToNode"), _drop_of_devices(*_OF_BINDINGS, "bindsToNode")
        ),
        _Rule(lambda gates: gates.dra_consumable_capacity, _shares, _drop_sharing),
    ),
}
