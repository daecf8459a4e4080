"""What a kubelet reports of its node: the conditions, and what pods may use of it.

A heartbeat does not write the conditions anew (kube: every 5 minutes), so `lastHeartbeatTime` is when something changed.

kube: pkg/kubelet/nodestatus/setters.go, pkg/kubelet/cm/node_container_manager_linux.go @ v1.34.1
"""

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects import SECOND, Node
from scheduler_core.apiserver.kube_events import NORMAL, KubeEvent
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.kubelet import heartbeats, images

READY_LATENCY = SECOND  # from its start until a kubelet is ready
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
    """The kubelet's own conditions, by what it finds; `pressure` names those that are True."""
    found = []
    for kind, states in _OWN.items():
        status = str(ready if kind == READY else kind in pressure)
        reason, message = states[status]
        found.append(_condition(kind, status, f"Kubelet{reason}", message))
    return found


def merge_conditions(old: Sequence[Mapping[str, Any]], fresh: Sequence[Condition], now: str) -> list[Mapping[str, Any]]:
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
    new = merge_conditions(old, all_, world.store.timestamp(world.now))
    return None if new == list(old) else new


def report_node(world: World, name: str) -> tuple[str, int | None]:
    """Writes a node's status, where it is another. In words what was done, and when to look again (ns)."""
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
    """An Event for each of the kubelet's conditions that has changed."""
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
