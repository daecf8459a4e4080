"""The order in which objects came into being: pods are tried and nodes are visited by it, and kubectl prints by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_NEW = "~"  # after every time: what has none is made now


def in_creation_order(manifests: Iterable[Any]) -> list[Any]:
    """By creationTimestamp; those of the same second, and those that have none, stay in the order given."""
    return sorted(manifests, key=created)


def created(manifest: Any) -> str:
    """When an object came into being, as texts that sort; what has no time comes last."""
    meta = manifest.get("metadata") if isinstance(manifest, Mapping) else None
    created = meta.get("creationTimestamp") if isinstance(meta, Mapping) else None
    return created if isinstance(created, str) and created else _NEW
