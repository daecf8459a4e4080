"""Lookup of objects and pods by the names that lessons use."""

from collections.abc import Mapping
from typing import Any

from scheduler_core.world.readonly import WorldView

CLUSTER_WIDE = frozenset(
    {
        "Node",
        "Namespace",
        "PriorityClass",
        "PersistentVolume",
        "StorageClass",
        "DeviceClass",
        "DeviceTaintRule",
        "ResourceSlice",
    }
)


def key_of(name: str) -> str:
    """A key: of the namespace `default` unless written as namespace/name."""
    return name if "/" in name else f"default/{name}"


def pod_key(metadata: Mapping[str, str]) -> str:
    """The key of a pod by its metadata."""
    return f"{metadata['namespace']}/{metadata['name']}"


def short(key: str) -> str:
    """A pod's name as lessons write it."""
    return key.removeprefix("default/")


def object_of(kind: str, name: str, world: WorldView) -> Any:
    """Return the object of a kind and name, or None."""
    namespace, _slash, name = ("", "", name) if kind in CLUSTER_WIDE else key_of(name).partition("/")
    return world.store.get(kind, namespace, name)
