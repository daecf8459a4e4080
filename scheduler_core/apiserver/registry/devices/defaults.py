"""Defaults: a request is for one device, tolerations compare values, and taints get the present time.

A request of v1beta1 without a class gets no default class. The result is the same, because validation requires the class.

kube: pkg/apis/resource/{v1,v1alpha3}/{defaults,zz_generated.defaults}.go @ v1.34.1
"""

from collections.abc import Sequence
from functools import partial

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.rewriting import fill, rewrite
from scheduler_core.base.gates import ApiGates
from scheduler_core.base.releases import OLDEST, Release

GROUP = "resource.k8s.io"
_fill = partial(fill, unset=(None, "", 0))


class DeviceGates(ApiGates, frozen=True):
    """The release, and the gates that decide which fields of objects about devices the API server keeps."""

    release: Release = OLDEST
    topology_labels: bool = False  # PodTopologyLabelsAdmission


DEFAULT_GATES = DeviceGates()


def apply_device_defaults(manifest: Manifest, kind: str, timestamp: str) -> Manifest:
    """Return an object of v1 with its defaults; unchanged if it has them all. `timestamp`: now."""
    dated = partial(_fill, timeAdded=timestamp)
    match kind:
        case "ResourceClaim" | "ResourceClaimTemplate":
            spec = "spec" if kind == "ResourceClaim" else "spec.spec"
            for request in ("exactly", "firstAvailable.*"):
                path = f"{spec}.devices.requests.*.{request}".split(".")
                manifest = rewrite(manifest, path, _apply_request_defaults)
            results = ["status", "allocation", "devices", "results", "*", "tolerations", "*"]
            return manifest if spec == "spec.spec" else _set_operators(manifest, results)
        case "ResourceSlice":
            filled: Manifest = rewrite(manifest, ["spec", "devices", "*", "taints", "*"], dated)
            return filled
        case "DeviceTaintRule":
            rule = manifest.get("spec") or {}
            taint = dated(rule.get("taint") or {})
            return (
                manifest if not rule or taint is rule.get("taint") else {**manifest, "spec": {**rule, "taint": taint}}
            )
    return manifest


def _apply_request_defaults(request: Manifest) -> Manifest:
    request = _fill(request, allocationMode="ExactCount")
    if request["allocationMode"] == "ExactCount":
        request = _fill(request, count=1)
    return _set_operators(request, ["tolerations", "*"])


def _set_operators(value: Manifest, path: Sequence[str]) -> Manifest:
    filled: Manifest = rewrite(value, path, partial(_fill, operator="Equal"))
    return filled
