"""The kubelet's report of its node: conditions and allocatable; and the registration of a node.

A heartbeat does not rewrite the conditions (kube: every 5 minutes), so `lastHeartbeatTime` is the time of the last change.

kube: pkg/kubelet/nodestatus/setters.go, pkg/kubelet/cm/node_container_manager_linux.go @ v1.34.1
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from scheduler_core.apimachinery.objects import SECOND, Node
from scheduler_core.apimachinery.objects.quantity import NANO, BadQuantity, format_quantity, nanos, value_of_nanos
from scheduler_core.apiserver.kube_events import NORMAL, KubeEvent
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.kubelet import heartbeats, images
from scheduler_core.scheduler.config.kubelet import KubeletConfiguration
from scheduler_core.scheduler.config.kubelet.thresholds import MEMORY, NODE_DISK

READY_LATENCY = SECOND  # from the start of a kubelet until it is ready
READY = "Ready"
# The kubelet's conditions: for True and False the reason, behind "Kubelet" and in Events behind "Node", and the message.
_OWN = {
    "MemoryPressure": {
        "True": ("HasInsufficientMemory", "kubelet has insufficient memory available"),
        "False": ("HasSufficientMemory", "kubelet has sufficient memory available"),
    },
    "DiskPressure": {
        "True": ("HasDiskPressure", "kubelet has disk pressure"),
        "False": ("HasNoDiskPressure", "kubelet has no disk pressure"),
    },
    "PIDPressure": {
        "True": ("HasInsufficientPID", "kubelet has insufficient PID available"),
        "False": ("HasSufficientPID", "kubelet has sufficient PID available"),
    },
    READY: {
        "True": ("Ready", "kubelet is posting ready status"),
        "False": ("NotReady", "[container runtime status check may not have completed yet]"),
    },
}
Condition = dict[str, Any]


def conditions(ready: bool, pressure: Sequence[str] = ()) -> list[Condition]:
    """Return the kubelet's own conditions; `pressure` names the pressure conditions that are True."""
    found = []
    for kind, states in _OWN.items():
        status = str(ready if kind == READY else kind in pressure)
        reason, message = states[status]
        found.append(_condition(kind, status, f"Kubelet{reason}", message))
    return found


def merge_conditions(old: Sequence[Mapping[str, Any]], fresh: Sequence[Condition], now: str) -> list[Mapping[str, Any]]:
    """Merge fresh conditions into the old ones. Conditions that differ only in their times are kept unchanged."""
    places = {condition.get("type"): i for i, condition in enumerate(old)}
    new = list(old)
    for condition in fresh:
        i = places.get(condition["type"])
        if i is None:
            new.append({**condition, "lastHeartbeatTime": now, "lastTransitionTime": now})
        elif any(old[i].get(name) != value for name, value in condition.items()):
            same = old[i].get("status") == condition["status"]
            since = old[i].get("lastTransitionTime") if same else now
            new[i] = {**condition, "lastHeartbeatTime": now, "lastTransitionTime": since or now}
    return new


def as_reported(world: World, node: Node) -> list[Mapping[str, Any]] | None:
    """Return the node's conditions to write now, or None if nothing has changed."""
    arranged = [c for c in world.surroundings.inputs.conditions if c.node == node.name]
    fresh = [_condition(c.type, c.status, c.reason, c.message) for c in arranged]
    own: list[Condition] = []
    if heartbeats.runs(world, node.name):
        memory = world.surroundings.kubelet
        ready = world.now >= memory.since[node.name] + READY_LATENCY
        own = conditions(ready, memory.pressure.get(node.name, ()))
    else:
        fresh = [condition for condition in fresh if condition["type"] not in _OWN]
    said = {condition["type"] for condition in fresh}
    old = (node.manifest.get("status") or {}).get("conditions") or []
    all_ = [*(condition for condition in own if condition["type"] not in said), *fresh]
    new = merge_conditions(old, all_, world.store.timestamp(world.now))
    return None if new == list(old) else new


def report_node(world: World, name: str) -> tuple[str, int | None]:
    """Write a node's status if it has changed. Return a description, and the time (ns) of the next report or None."""
    node = world.store.node(name)
    if node is None:
        return "", None
    fields: dict[str, Any] = {}
    conditions_ = as_reported(world, node)
    images_ = images.to_report(world, node) if heartbeats.runs(world, name) else None
    if conditions_ is not None:
        fields["conditions"] = conditions_
    if images_ is not None:
        fields["images"] = images_
    if not fields:
        return "", None
    world.api.patch_status(("Node", "", name), fields)
    if conditions_ is not None:
        _record_events(world, node, conditions_)
    since = world.surroundings.kubelet.since.get(name)
    is_starting = since is not None and world.now < since + READY_LATENCY
    return (
        f"reported the node's {' and '.join(fields)}",
        since + READY_LATENCY if is_starting and since is not None else None,
    )


def _record_events(world: World, node: Node, new: Sequence[Mapping[str, Any]]) -> None:
    """Record an Event for each of the kubelet's conditions that has changed."""
    old = (node.manifest.get("status") or {}).get("conditions") or ()
    before = {condition.get("type"): condition.get("status") for condition in old}
    for condition in new:
        kind, status = (str(condition.get(field) or "") for field in ("type", "status"))
        if before.get(kind) in (None, status) and not (kind == READY and status == "True" != before.get(kind)):
            continue
        if status in _OWN.get(kind, ()):
            reason = f"Node{_OWN[kind][status][0]}"
            message = f"Node {node.name} status is now: {reason}"
            world.store.record(KubeEvent(world.now, NORMAL, reason, "Node", "", node.name, message, "kubelet"))


def _condition(kind: str, status: str, reason: str, message: str) -> Condition:
    return {"type": kind, "status": status, "reason": reason, "message": message}


# A node is created as registered long ago, with its conditions, or as new, with only a capacity.
# kube: pkg/kubelet/kubelet_node_status.go @ v1.34.1

_NOT_READY = "node.kubernetes.io/not-ready"


def complete_node(world: World, manifest: Any) -> Any:
    """Return the manifest of a new node with conditions and allocatable as its kubelet reports them. Others are returned unchanged."""
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
    """Remove the not-ready taint that admission added to a new node, unless its manifest has the taint."""
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
