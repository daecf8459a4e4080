"""Defaults: a request is for one device, tolerations compare values, and a taint was added now.

A request of v1beta1 without a class gets none, which makes no difference once it is read: validation wants the class.

kube: pkg/apis/resource/{v1,v1alpha3}/{defaults,zz_generated.defaults}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.base.releases import OLDEST, Release

# The feature gates that decide what the API server keeps of objects about devices.
# kube: pkg/features/kube_features.go @ v1.34.1

GROUP = "resource.k8s.io"


@dataclass(frozen=True, slots=True)
class DeviceGates:
    """The release, and gates. Each is named as the world's setting of the same gate; kube's defaults."""

    release: Release = OLDEST
    dynamic_resources: bool = True  # DynamicResourceAllocation
    dra_admin_access: bool = True
    dra_prioritized_list: bool = True
    dra_device_status: bool = True  # DRAResourceClaimDeviceStatus
    dra_partitionable_devices: bool = False
    dra_device_taints: bool = False
    dra_consumable_capacity: bool = False
    dra_extended_resource: bool = False
    dra_binding_conditions: bool = False  # DRADeviceBindingConditions
    generic_workload: bool = False  # GenericWorkload, without which no PodGroup is served


DEFAULT_GATES = DeviceGates()


def apply_device_defaults(manifest: Manifest, kind: str, timestamp: str) -> Manifest:
    """An object of v1 with its defaults; one that has them all is returned as it is. `timestamp`: now."""
    spec, default = manifest.get("spec"), _DEFAULTS.get(kind)
    if spec and default is not None:
        full = default(spec, timestamp)
        manifest = manifest if full is spec else {**manifest, "spec": full}
    return _apply_status_defaults(manifest) if kind == "ResourceClaim" else manifest


def _apply_status_defaults(claim: Manifest) -> Manifest:
    """A claim whose status has its defaults."""
    status = claim.get("status") or {}
    allocation = status.get("allocation") or {}
    results = (allocation.get("devices") or {}).get("results")
    full = _each(results, _tolerating)
    if full is results:
        return claim
    allocation = {**allocation, "devices": {**allocation["devices"], "results": full}}
    return {**claim, "status": {**status, "allocation": allocation}}


def _claim(spec: Manifest, timestamp: str) -> Manifest:
    devices = spec.get("devices") or {}
    requests = _each(devices.get("requests"), _request)
    if requests is devices.get("requests"):
        return spec
    return {**spec, "devices": {**devices, "requests": requests}}


def _template(spec: Manifest, timestamp: str) -> Manifest:
    inner = spec.get("spec")
    full = _claim(inner, timestamp) if inner else inner
    return spec if full is inner else {**spec, "spec": full}


def _request(request: Manifest) -> Manifest:
    exact, alternatives = request.get("exactly"), request.get("firstAvailable")
    full = exact if exact is None else _apply_request_defaults(exact)
    others = _each(alternatives, _apply_request_defaults)
    changes: dict[str, Any] = {} if full is exact else {"exactly": full}
    if others is not alternatives:
        changes["firstAvailable"] = others
    return {**request, **changes} if changes else request


def _apply_request_defaults(request: Manifest) -> Manifest:
    mode = request.get("allocationMode") or "ExactCount"
    changes: dict[str, Any] = {} if request.get("allocationMode") else {"allocationMode": mode}
    if mode == "ExactCount" and not request.get("count"):
        changes["count"] = 1
    return _tolerating({**request, **changes} if changes else request)


def _tolerating(entry: Manifest) -> Manifest:
    """Return the entry with its tolerations' operators filled in."""
    tolerations = entry.get("tolerations")
    full = _each(tolerations, _set_operator)
    return entry if full is tolerations else {**entry, "tolerations": full}


def _set_operator(toleration: Manifest) -> Manifest:
    return toleration if toleration.get("operator") else {**toleration, "operator": "Equal"}


def _slice(spec: Manifest, timestamp: str) -> Manifest:
    devices = spec.get("devices")
    if not any(device.get("taints") for device in devices or ()):
        return spec

    def dated(taint: Manifest) -> Manifest:
        return _set_time_added(taint, timestamp)

    def device(given: Manifest) -> Manifest:
        taints = given.get("taints")
        full = _each(taints, dated)
        return given if full is taints else {**given, "taints": full}

    full = _each(devices, device)
    return spec if full is devices else {**spec, "devices": full}


def _rule(spec: Manifest, timestamp: str) -> Manifest:
    taint = spec.get("taint") or {}
    full = _set_time_added(taint, timestamp)
    return spec if full is taint else {**spec, "taint": full}


def _set_time_added(taint: Manifest, timestamp: str) -> Manifest:
    return taint if taint.get("timeAdded") is not None else {**taint, "timeAdded": timestamp}


def _each(entries: Sequence[Any] | None, default: Callable[[Any], Any]) -> Sequence[Any] | None:
    """The entries with their defaults; the same list where all have them."""
    full = [default(entry) for entry in entries or ()]
    return entries if all(one is other for one, other in zip(full, entries or (), strict=True)) else full


_DEFAULTS: dict[str, Callable[[Manifest, str], Manifest]] = {
    "ResourceClaim": _claim,
    "ResourceClaimTemplate": _template,
    "ResourceSlice": _slice,
    "DeviceTaintRule": _rule,
}
