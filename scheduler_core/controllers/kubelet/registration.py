"""How a node comes into the world: registered long ago, with its conditions, or just now, with nothing but a capacity.

kube: pkg/kubelet/kubelet_node_status.go @ v1.34.1
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from scheduler_core.apimachinery.objects.quantity import NANO, BadQuantity, format_quantity, nanos, value_of_nanos
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.kubelet.nodes import conditions, merge_conditions
from scheduler_core.scheduler.config.kubelet import KubeletConfiguration
from scheduler_core.scheduler.config.kubelet.thresholds import MEMORY, NODE_DISK

_NOT_READY = "node.kubernetes.io/not-ready"


def complete_node(world: World, manifest: Any) -> Any:
    """A manifest of a node that is there already, as its kubelet reports it; anything else as it is."""
    if not _is_node(manifest) or world.store.node(_name(manifest)) is not None:
        return manifest
    status = manifest.get("status") or {}
    given = status.get("conditions") or () if isinstance(status, Mapping) else None
    if not isinstance(given, list | tuple) or not all(isinstance(each, Mapping | None) for each in given):
        return manifest  # refused where it is checked
    given = [condition or {} for condition in given]
    kinds = {condition.get("type") for condition in given}
    missing = [condition for condition in conditions(True) if condition["type"] not in kinds]
    new = merge_conditions(given, missing, world.store.timestamp(world.now))
    return with_allocatable(world, {**manifest, "status": {**status, "conditions": new}})


def with_allocatable(world: World, manifest: Any) -> Any:
    """Return a node with `allocatable`, if it is not set: the capacity minus the reservations.

    kube: pkg/kubelet/cm/node_container_manager_linux.go (GetNodeAllocatableReservation), pkg/kubelet/cm/helpers.go @ v1.34.1
    """
    status = manifest.get("status") if _is_node(manifest) else None
    capacity = status.get("capacity") if isinstance(status, Mapping) else None
    if not isinstance(status, Mapping) or status.get("allocatable") is not None or not isinstance(capacity, Mapping):
        return manifest
    configuration = world.cluster.kubelet_of(_name(manifest))
    try:
        amounts = {name: nanos(amount) for name, amount in capacity.items()}
    except BadQuantity:
        return manifest  # refused where it is checked
    if "pods" not in amounts:
        amounts["pods"] = _most_pods(configuration, amounts.get("cpu", 0)) * NANO
        capacity = {**capacity, "pods": str(amounts["pods"] // NANO)}
    for name, signal in (("memory", MEMORY), ("ephemeral-storage", NODE_DISK)):
        for threshold in configuration.thresholds:
            if threshold.hard and threshold.signal == signal and name in amounts:
                amounts[name] -= threshold.amount.of(value_of_nanos(nanos(capacity[name]))) * NANO
    left = {name: max(amount - configuration.reserved(name), 0) for name, amount in amounts.items()}
    written = {
        name: capacity[name]
        if nanos(capacity[name]) == amount
        else format_quantity(Fraction(amount, NANO), binary=str(capacity[name]).endswith("i"))
        for name, amount in left.items()
    }
    return {**manifest, "status": {**status, "capacity": capacity, "allocatable": written}}


def _most_pods(configuration: KubeletConfiguration, cpu: int) -> int:
    """Return the most pods for a node with this much CPU (billionths)."""
    if not configuration.pods_per_core:
        return configuration.max_pods
    return min(configuration.pods_per_core * (cpu // NANO), configuration.max_pods)


def settle(world: World, manifest: Any) -> None:
    """Takes the taint of a node that is just being registered off one that was there already."""
    if not _is_node(manifest):
        return
    node = world.store.node(_name(manifest))
    given = (manifest.get("spec") or {}).get("taints") or ()
    if node is None or any(taint and taint.get("key") == _NOT_READY for taint in given):
        return
    taints = (node.manifest.get("spec") or {}).get("taints") or ()
    kept = [taint for taint in taints if taint.get("key") != _NOT_READY]
    if len(kept) < len(taints):
        world.api.patch(("Node", "", node.name), {"spec": {"taints": kept or None}})


def is_new(world: World, manifest: Any) -> bool:
    """Return whether a manifest is a node that does not exist."""
    return _is_node(manifest) and world.store.node(_name(manifest)) is None


def _is_node(manifest: Any) -> bool:
    return (
        isinstance(manifest, Mapping)
        and (manifest.get("apiVersion"), manifest.get("kind")) == ("v1", "Node")
        and isinstance(manifest.get("metadata"), Mapping)
    )


def _name(manifest: Any) -> str:
    return str(manifest["metadata"].get("name") or "")
