"""What expressions see: variables by extension point, and how they are made of the snapshot.

Objects are manifests as the API server has them, so what is not in one is absent: `has(pod.metadata.labels)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.cel.values import Timestamp
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework.explanation import gettext_noop
from scheduler_core.scheduler.framework.per_node import NodeInfo

# Variable -> what it is.
POD = {
    "pod": gettext_noop("the manifest of the pod to schedule"),
    "now": gettext_noop("the time in the simulation"),
    "args": gettext_noop("the plugin's arguments in the profile's pluginConfig, or {}"),
}
NODE = {
    "node": gettext_noop("the manifest of the node"),
    "allocatable": gettext_noop(
        "the allocatable resources of the node: cpu in millis, memory in bytes, pods as a number"
    ),
    "requested": gettext_noop("the requests of the pods on the node, in the same units"),
    "pods": gettext_noop("the manifests of the pods on the node, including assumed pods"),
}
WAITING = {"waiting": gettext_noop("the manifests of the pods that wait on Permit for this plugin")}
VICTIM = {"victim": gettext_noop("the manifest of a lower-priority pod on the node that might be preempted")}

_NONE: Mapping[str, Any] = {}


def of_pod(pod: Pod, args: Mapping[str, Any], now: int) -> dict[str, Any]:
    """`now`: ns since 1970."""
    return {"pod": pod.manifest, "args": args, "now": Timestamp(now)}


def of_node(info: NodeInfo, used: frozenset[str]) -> dict[str, Any]:
    """Return one node's variables; variables that the expression does not use are empty."""
    return {
        "node": info.node.manifest,
        "allocatable": info.allocatable if "allocatable" in used else _NONE,
        "requested": info.requested if "requested" in used else _NONE,
        "pods": [pod.manifest for pod in info.pods] if "pods" in used else [],
    }
