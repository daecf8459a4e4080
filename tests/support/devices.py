"""Builders of manifests about devices: a class, the devices of a node, claims, and pods that use them.

```python
world(node("a"), device_class("gpu"), gpus("a", 2), claim("c", gpu=1), claiming(pod("p"), "c"))
```
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest

API_VERSION = "resource.k8s.io/v1"
DRIVER = "gpu.example.com"


def device_class(name: str, *expressions: str, **spec: Any) -> dict[str, Any]:
    """A DeviceClass with these selectors; by default all devices of the driver."""
    selectors = [{"cel": {"expression": text}} for text in expressions or (f'device.driver == "{DRIVER}"',)]
    return _manifest("DeviceClass", name, spec={"selectors": selectors, **spec})


def device(name: str, **fields: Any) -> dict[str, Any]:
    """A device; attributes are given as Python values."""
    attributes = {key: attribute(value) for key, value in fields.pop("attributes", {}).items()}
    return {"name": name, **({"attributes": attributes} if attributes else {}), **fields}


def attribute(value: Any) -> dict[str, Any]:
    kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "string"
    return {kind: value}


def gpus(node: str, count: int = 2, name: str = "", devices: Iterable[Manifest] = (), **spec: Any) -> dict[str, Any]:
    """A ResourceSlice with all devices of a node's pool: gpu-0, gpu-1 ..., or the given ones."""
    given = list(devices) or [device(f"gpu-{i}", attributes={"index": i}) for i in range(count)]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    fields = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": given, **spec}
    return _manifest("ResourceSlice", name or f"{node}-gpus", spec=fields)


def taint_rule(name: str, effect: str = "NoSchedule", **selector: Any) -> dict[str, Any]:
    """A DeviceTaintRule; without a selector it taints every device."""
    taint = {"key": "example.com/unhealthy", "effect": effect, "timeAdded": "2026-01-01T00:00:00Z"}
    spec = {"deviceSelector": selector, "taint": taint}
    return {**_manifest("DeviceTaintRule", name, spec=spec), "apiVersion": "resource.k8s.io/v1alpha3"}


def request(name: str = "r", device_class: str = "gpu", count: int = 1, **fields: Any) -> dict[str, Any]:
    exactly = {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count, **fields}
    return {"name": name, "exactly": exactly}


def claim(name: str, *requests: Manifest, count: int = 1, **devices: Any) -> dict[str, Any]:
    """A ResourceClaim; without a request of its own one for so many devices of class gpu."""
    asked = {"requests": list(requests) or [request(count=count)], **devices}
    return _manifest("ResourceClaim", name, "default", spec={"devices": asked})


def claiming(pod: Mapping[str, Any], *claims: str, **templates: str) -> dict[str, Any]:
    """The pod with these claims, each under its own name; `templates`: name -> ResourceClaimTemplate."""
    entries = [{"name": name, "resourceClaimName": name} for name in claims]
    entries += [{"name": name, "resourceClaimTemplateName": made} for name, made in templates.items()]
    first, *rest = pod["spec"]["containers"]
    used = [{"name": entry["name"]} for entry in entries]
    first = {**first, "resources": {**first.get("resources", {}), "claims": used}}
    spec = {**pod["spec"], "containers": [first, *rest], "resourceClaims": entries}
    return {**pod, "spec": spec}


def _manifest(kind: str, name: str, namespace: str = "", **sections: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, **sections}
