"""The order in which objects came into being: pods are tried and nodes are visited by it, and kubectl prints by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_NEW = "~"  # after every time: what has none is made now


def in_creation_order(manifests: Iterable[Any]) -> list[Any]:
    """Sort by creationTimestamp; objects of the same second, or without a timestamp, keep their order."""
    return sorted(manifests, key=get_creation_time)


def get_creation_time(manifest: Any) -> str:
    """Return the creation time of an object as a sortable text; objects without a time come last."""
    meta = manifest.get("metadata") if isinstance(manifest, Mapping) else None
    created = meta.get("creationTimestamp") if isinstance(meta, Mapping) else None
    return created if isinstance(created, str) and created else _NEW
