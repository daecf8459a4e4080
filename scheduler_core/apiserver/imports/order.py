"""Facts that an import reads off its objects: the order in which they came into being, as kubectl prints by name, and the nodes that
nobody acts on.
"""

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


def list_silent_nodes(manifests: Iterable[Any]) -> tuple[str, ...]:
    """List the nodes that say that they are not ready, or that the control plane has lost: their kubelets do nothing."""
    return tuple(
        str(manifest["metadata"]["name"])
        for manifest in manifests
        if manifest.get("kind") == "Node"
        and any(
            condition.get("type") == "Ready" and condition.get("status") != "True"
            for condition in (manifest.get("status") or {}).get("conditions") or ()
        )
    )
