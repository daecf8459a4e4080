"""When a node counts as lost, and what is written of it then.

A node monitor that looks every --node-monitor-period notes when it last saw a sign of life (a renewed Lease, a new heartbeat in the
condition Ready); --node-monitor-grace-period later the conditions become Unknown. Here that moment is computed from the kubelet's last
renewal, so nobody looks while all kubelets run.

kube: pkg/controller/nodelifecycle/node_lifecycle_controller.go (tryUpdateNodeHealth), pkg/controller/util/node @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.kubelet.heartbeats import last_renewal, runs
from scheduler_core.controllers.nodes.taints import condition_of
from scheduler_core.controllers.nodes.zones import align_to_period

_TYPES = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
_SILENT = {"reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status."}
_NEVER = {"reason": "NodeStatusNeverUpdated", "message": "Kubelet never posted node status."}


def first_heard(world: World, node: Node) -> int:
    """Return the start of the grace period (ns) of a node seen for the first time."""
    if node.ready or node.creation_time is None:
        return world.now
    return node.creation_time - world.store.epoch


def silent_since(world: World, node: str) -> int:
    """Return the time (ns) of the last sign of life seen of a node whose kubelet does not run."""
    heard = world.surroundings.nodes.heard.get(node, world.now)
    renewed = last_renewal(world, node)
    return max(heard, align_to_period(renewed, world.cluster.controller_manager.monitor_period))


def get_lost_time(world: World, node: Node) -> int | None:
    """Return the time (ns) when a silent node becomes Unknown; None if its kubelet runs or it is already Unknown."""
    if node.ready == "Unknown" or runs(world, node.name):
        return None
    flags = world.cluster.controller_manager
    grace = flags.grace_period if node.ready else flags.startup_grace_period
    return align_to_period(silent_since(world, node.name) + grace, flags.monitor_period)


def with_unknown(world: World, node: Manifest) -> list[Manifest]:
    """The conditions of a node that is lost."""
    now = world.store.timestamp(world.now)
    conditions: list[Manifest] = list((node.get("status") or {}).get("conditions") or ())
    for index, old in enumerate(conditions):
        if old.get("type") in _TYPES and old.get("status") != "Unknown":
            conditions[index] = {**old, "status": "Unknown", **_SILENT, "lastTransitionTime": now}
    created = node["metadata"].get("creationTimestamp")
    conditions += [
        {"type": type_, "status": "Unknown", **_NEVER, "lastHeartbeatTime": created, "lastTransitionTime": now}
        for type_ in _TYPES
        if condition_of(node, type_) is None
    ]
    return conditions


def heartbeat(node: Manifest | None) -> tuple[str, str] | None:
    """Status and time of the heartbeat of a node's condition Ready."""
    condition = None if node is None else condition_of(node, "Ready")
    return None if condition is None else (str(condition.get("status")), str(condition.get("lastHeartbeatTime")))


def with_ready_false(status: Manifest, timestamp: str) -> list[Manifest] | None:
    """The conditions of a pod on a lost node, not ready any more; None where it was not ready or says nothing of it."""
    conditions: list[Manifest] = list(status.get("conditions") or ())
    for index, old in enumerate(conditions):
        if old.get("type") == "Ready":
            if old.get("status") == "False":
                return None
            conditions[index] = {**old, "status": "False", "lastTransitionTime": timestamp}
            return conditions
    return None
