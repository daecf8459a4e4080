"""The versions of resource.k8s.io. v1beta2 equals v1; v1beta1 has other forms of requests, devices, and slices. v1 is stored.

kube: pkg/apis/resource/{v1beta1,v1beta2}/conversion.go, pkg/apis/resource/v1beta1/defaults.go @ v1.34.1
"""

from collections.abc import Callable

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.kinds import split_api_version
from scheduler_core.apiserver.registry.devices.defaults import GROUP

STORED = f"{GROUP}/v1"
_OF_A_REQUEST = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity")
_TEXTS = ("deviceClassName", "allocationMode", "count")  # "" and 0 mean unset


def convert_to_v1(manifest: Manifest) -> Manifest:
    """Convert an object of the group to v1; DeviceTaintRules are stored as v1alpha3."""
    group, version = split_api_version(str(manifest["apiVersion"]))
    if group == GROUP and manifest["kind"] == "DeviceTaintRule":
        return manifest if version == "v1alpha3" else {**manifest, "apiVersion": f"{GROUP}/v1alpha3"}
    if group != GROUP or version not in ("v1beta1", "v1beta2"):
        return manifest
    converted = {**manifest, "apiVersion": STORED}
    spec, convert = manifest.get("spec"), _CONVERSIONS.get(str(manifest["kind"]))
    if version == "v1beta1" and spec and convert is not None:
        converted["spec"] = convert(spec)
    return converted


def _claim(spec: Manifest) -> Manifest:
    devices = spec.get("devices") or {}
    if not devices.get("requests"):
        return spec
    requests = [_request(request) for request in devices["requests"]]
    return {**spec, "devices": {**devices, "requests": requests}}


def _request(request: Manifest) -> Manifest:
    """Move the fields that are set in the request itself to `exactly`."""
    kept = {name: value for name, value in request.items() if name not in _OF_A_REQUEST}
    exact = {name: request[name] for name in _OF_A_REQUEST if _is_set(request, name)}
    return {**kept, "exactly": exact} if exact else kept


def _is_set(request: Manifest, name: str) -> bool:
    return bool(request.get(name)) if name in _TEXTS else request.get(name) is not None


def _template(spec: Manifest) -> Manifest:
    return {**spec, "spec": _claim(spec["spec"])} if spec.get("spec") else spec


def _slice(spec: Manifest) -> Manifest:
    """Convert a slice's spec, in which nodeName "" and allNodes false mean unset."""
    converted = {name: value for name, value in spec.items() if value or name not in ("nodeName", "allNodes")}
    if spec.get("devices"):
        converted["devices"] = [_device(device) for device in spec["devices"]]
    return converted


def _device(device: Manifest) -> Manifest:
    rest = {name: value for name, value in device.items() if name != "basic"}
    return {**rest, **(device.get("basic") or {})}


_CONVERSIONS: dict[str, Callable[[Manifest], Manifest]] = {
    "ResourceClaim": _claim,
    "ResourceClaimTemplate": _template,
    "ResourceSlice": _slice,
}
