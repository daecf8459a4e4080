"""The taints that the node lifecycle controller adds to nodes, and the conditions that cause them.

kube: pkg/controller/nodelifecycle/node_lifecycle_controller.go (doNoScheduleTaintingPass), pkg/util/taints/taints.go @ v1.34.1
"""

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.apimachinery.objects import NO_EXECUTE, NO_SCHEDULE, Manifest
from scheduler_core.controllers.contract import World

Key = tuple[str, str]  # of a taint: key and effect
_PREFIX = "node.kubernetes.io/"
NOT_READY, UNREACHABLE = (_PREFIX + "not-ready", NO_EXECUTE), (_PREFIX + "unreachable", NO_EXECUTE)
UNSCHEDULABLE = _PREFIX + "unschedulable"
BY_CONDITION: Mapping[tuple[str, str], str] = {
    ("Ready", "False"): NOT_READY[0],
    ("Ready", "Unknown"): UNREACHABLE[0],
    ("MemoryPressure", "True"): _PREFIX + "memory-pressure",
    ("DiskPressure", "True"): _PREFIX + "disk-pressure",
    ("NetworkUnavailable", "True"): _PREFIX + "network-unavailable",
    ("PIDPressure", "True"): _PREFIX + "pid-pressure",
}
_OWN = frozenset((*BY_CONDITION.values(), UNSCHEDULABLE))
_LABELS = (("kubernetes.io/os", "beta.kubernetes.io/os"), ("kubernetes.io/arch", "beta.kubernetes.io/arch"))


def condition_of(node: Manifest, type_: str) -> Manifest | None:
    """Return a node's condition of a type, or None."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    return next((condition for condition in conditions if condition.get("type") == type_), None)


def no_schedule_changes(node: Manifest) -> tuple[list[Key], list[Key]]:
    """Return the NoSchedule taints to add to a node for its conditions and its cordon, and those to remove."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    pairs = ((str(c.get("type")), str(c.get("status"))) for c in conditions)
    wanted = [BY_CONDITION[pair] for pair in pairs if pair in BY_CONDITION]
    spec = node.get("spec") or {}
    if spec.get("unschedulable"):
        wanted.append(UNSCHEDULABLE)
    present = [
        taint["key"]
        for taint in spec.get("taints") or ()
        if taint.get("effect") == NO_SCHEDULE and taint["key"] in _OWN
    ]
    return (
        [(key, NO_SCHEDULE) for key in wanted if key not in present],
        [(key, NO_SCHEDULE) for key in present if key not in wanted],
    )


def label_changes(node: Manifest) -> dict[str, str]:
    """Return the deprecated labels to set to the values of the current ones."""
    labels = node["metadata"].get("labels") or {}
    return {old: labels[new] for new, old in _LABELS if new in labels and labels.get(old) != labels[new]}


def with_old_labels(manifest: Any) -> Any:
    """Return the manifest of a node with its label_changes applied. Other or malformed manifests are returned unchanged."""
    if not isinstance(manifest, Mapping):
        return manifest
    if (manifest.get("apiVersion"), manifest.get("kind")) != ("v1", "Node"):
        return manifest
    meta = manifest.get("metadata")
    if not isinstance(meta, Mapping) or not isinstance(meta.get("labels"), Mapping):
        return manifest
    changes = label_changes(manifest)
    return {**manifest, "metadata": {**meta, "labels": {**meta["labels"], **changes}}} if changes else manifest


def has(node: Manifest, key: Key) -> bool:
    """Return whether a node has a taint."""
    return any(_key(taint) == key for taint in (node.get("spec") or {}).get("taints") or ())


def swap(world: World, node: str, add: Iterable[Key], remove: Iterable[Key]) -> None:
    """Add taints to a node and remove others, if that changes anything."""
    manifest = world.store.get("Node", "", node)
    if manifest is None:
        return
    old: list[Manifest] = list((manifest.get("spec") or {}).get("taints") or ())
    gone = tuple(remove)
    kept = [taint for taint in old if _key(taint) not in gone]
    present = {_key(taint) for taint in kept}
    now = world.store.timestamp(world.now)
    fresh = [{"key": key, "effect": effect, "timeAdded": now} for key, effect in add if (key, effect) not in present]
    if fresh or len(kept) != len(old):
        world.api.patch(("Node", "", node), {"spec": {"taints": [*kept, *fresh] or None}})


def _key(taint: Manifest) -> Key:
    return taint["key"], str(taint.get("effect"))
