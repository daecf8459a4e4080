"""Conversion between the stored version and another served version: autoscaling/v1.

kube: pkg/apis/autoscaling/v1/conversion.go @ v1.34.1
"""

from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.door.resources import Resource

_TARGET = "targetCPUUtilizationPercentage"


def is_old(resource: Resource) -> bool:
    """Return whether a resource is served in a version that is not stored."""
    return (resource.group, resource.version) == ("autoscaling", "v1")


def to_kept(resource: Resource, manifest: dict[str, Any]) -> dict[str, Any]:
    """Convert an object to the stored version."""
    if not is_old(resource):
        return manifest
    spec = dict(manifest.get("spec") or {})
    percent = spec.pop(_TARGET, None)
    if percent is not None:
        target = {"type": "Utilization", "averageUtilization": percent}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    return {**manifest, "apiVersion": "autoscaling/v2", "spec": spec}


def to_served(resource: Resource, manifest: Manifest) -> Manifest:
    """Convert an object to the version of a resource."""
    if not is_old(resource):
        return manifest
    spec = {name: value for name, value in (manifest.get("spec") or {}).items() if name not in ("metrics", "behavior")}
    for each in (manifest.get("spec") or {}).get("metrics") or ():
        target = (each.get("resource") or {}).get("target") or {}
        if (each.get("resource") or {}).get("name") == "cpu" and "averageUtilization" in target:
            spec[_TARGET] = target["averageUtilization"]
    return {**manifest, "apiVersion": "autoscaling/v1", "spec": spec}
