"""What a kubelet reports of its node: the conditions, and what pods may use of it.

A heartbeat does not write the conditions anew (kube: every 5 minutes), so `lastHeartbeatTime` is when something changed.

kube: pkg/kubelet/nodestatus/setters.go, pkg/kubelet/cm/node_container_manager_linux.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.controllers.contract import World
from scheduler_core.controllers.kubelet import heartbeats
from scheduler_core.objects.node import Node
from scheduler_core.objects.times import SECOND

NODE_READY, NODE_NOT_READY = "NodeReady", "NodeNotReady"
READY_LATENCY = SECOND  # from its start until a kubelet is ready
READY = "Ready"
_PRESSURE = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}
_UNDER_PRESSURE = {
    "MemoryPressure": ("KubeletHasInsufficientMemory", "kubelet has insufficient memory available"),
    "DiskPressure": ("KubeletHasDiskPressure", "kubelet has disk pressure"),
    "PIDPressure": ("KubeletHasInsufficientPID", "kubelet has insufficient PID available"),
}
_NOT_YET = "[container runtime status check may not have completed yet]"
_OWN = (*_PRESSURE, READY)
Condition = dict[str, Any]


def conditions(ready: bool, pressure: Sequence[str] = ()) -> list[Condition]:
    """The kubelet's own conditions, by what it finds; `pressure` names those that are True."""
    found = [
        _condition(kind, "True", *_UNDER_PRESSURE[kind])
        if kind in pressure
        else _condition(kind, "False", *said)
        for kind, said in _PRESSURE.items()
    ]
    if ready:
        return [*found, _condition(READY, "True", "KubeletReady", "kubelet is posting ready status")]
    return [*found, _condition(READY, "False", "KubeletNotReady", _NOT_YET)]


def reported(
    old: Sequence[Mapping[str, Any]], fresh: Sequence[Condition], now: str
) -> list[Mapping[str, Any]]:
    """The conditions with some set anew. The very ones where all is so already but for the times."""
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
    """The node's conditions as they are to be written now; None where all is so already."""
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
    new = reported(old, all_, world.store.timestamp(world.now))
    return None if new == list(old) else new


def _condition(kind: str, status: str, reason: str, message: str) -> Condition:
    return {"type": kind, "status": status, "reason": reason, "message": message}
