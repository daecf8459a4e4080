"""The scale subresource: the current and desired replicas of a workload.

kube: pkg/registry/apps/*/storage/storage.go, apiextensions-apiserver/pkg/registry/customresource/etcd.go @ v1.34.1
"""

from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.door.reading import find_object
from scheduler_core.apiserver.door.resources import Resource, Target
from scheduler_core.apiserver.door.tables.jsonpath import find_path
from scheduler_core.apiserver.door.tables.row import format_selector
from scheduler_core.apiserver.store import Store

_PATHS = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}


def _paths(resource: Resource) -> dict[str, str]:
    given = ((resource.definition or {}).get("subresources") or {}).get("scale") or {}
    return {**_PATHS, **given}


def get_scale(store: Store, resource: Resource, target: Target) -> dict[str, Any]:
    """Return the Scale of an object. Raise Refused (404)."""
    return make_scale(resource, find_object(store, resource, target))


def make_scale(resource: Resource, manifest: Manifest) -> dict[str, Any]:
    """Return the Scale of an object."""
    paths, meta = _paths(resource), manifest["metadata"]
    names = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    wanted, there = (find_path(manifest, paths[f"{part}ReplicasPath"]) for part in ("spec", "status"))
    replicas = wanted[0] if wanted else 0
    status: dict[str, Any] = {"replicas": there[0] if there else 0}
    if resource.definition is None:
        selector = format_selector((manifest.get("spec") or {}).get("selector"))
    else:
        chosen = find_path(manifest, paths.get("labelSelectorPath") or ".")
        selector = str(chosen[0]) if chosen and isinstance(chosen[0], str) else ""
    if selector:
        status["selector"] = selector
    head = {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: meta[name] for name in names if meta.get(name)},
    }
    return {**head, "spec": {"replicas": replicas} if replicas else {}, "status": status}


def with_replicas(resource: Resource, manifest: Manifest, replicas: int) -> dict[str, Any]:
    """Return the object with other replicas."""
    parts = _paths(resource)["specReplicasPath"].strip(".").split(".")
    return _set(manifest, parts, replicas)


def _set(value: Manifest, parts: list[str], replicas: int) -> dict[str, Any]:
    inner = replicas if len(parts) == 1 else _set(value.get(parts[0]) or {}, parts[1:], replicas)
    return {**value, parts[0]: inner}
