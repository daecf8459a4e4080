"""How a node comes into the world: registered long ago, with its conditions, or just now, with nothing but a capacity.

kube: pkg/kubelet/kubelet_node_status.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.controllers.contract import World
from scheduler_core.controllers.kubelet.nodes import conditions, reported

_NOT_READY = "node.kubernetes.io/not-ready"


def registered(world: World, manifest: Any) -> Any:
    """A manifest of a node that is there already, as its kubelet reports it; anything else as it is."""
    if not _is_node(manifest) or world.store.node(_name(manifest)) is not None:
        return manifest
    status = manifest.get("status") or {}
    given = status.get("conditions") or ()
    if not isinstance(status, Mapping) or not isinstance(given, list | tuple):
        return manifest
    kinds = {condition.get("type") for condition in given if isinstance(condition, Mapping)}
    missing = [condition for condition in conditions(True) if condition["type"] not in kinds]
    new = reported(given, missing, world.store.timestamp(world.now))
    return {**manifest, "status": {**status, "conditions": new}}


def settle(world: World, manifest: Any) -> None:
    """Takes the taint of a node that is just being registered off one that was there already."""
    if not _is_node(manifest):
        return
    node = world.store.node(_name(manifest))
    given = (manifest.get("spec") or {}).get("taints") or ()
    if node is None or any(taint.get("key") == _NOT_READY for taint in given):
        return
    taints = node.manifest.get("spec", {}).get("taints") or ()
    kept = [taint for taint in taints if taint.get("key") != _NOT_READY]
    if len(kept) < len(taints):
        world.api.patch(("Node", "", node.name), {"spec": {"taints": kept or None}})


def is_new(world: World, manifest: Any) -> bool:
    """Whether this is a node that is not there yet."""
    return _is_node(manifest) and world.store.node(_name(manifest)) is None


def _is_node(manifest: Any) -> bool:
    return (
        isinstance(manifest, Mapping)
        and manifest.get("kind") == "Node"
        and isinstance(manifest.get("metadata"), Mapping)
    )


def _name(manifest: Any) -> str:
    return str(manifest["metadata"].get("name") or "")
