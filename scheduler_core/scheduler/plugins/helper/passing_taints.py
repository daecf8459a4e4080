"""Taints that somebody sets for a while and takes off himself: agents of a node until they are ready, and who adds and removes nodes."""

from __future__ import annotations

_AUTOSCALER, _KARPENTER = "Cluster Autoscaler", "Karpenter"
_SETTERS = {
    "ToBeDeletedByClusterAutoscaler": _AUTOSCALER,
    "DeletionCandidateOfClusterAutoscaler": _AUTOSCALER,
    "karpenter.sh/disrupted": _KARPENTER,
    "karpenter.sh/disruption": _KARPENTER,
    "karpenter.sh/unregistered": _KARPENTER,
    "node.cloudprovider.kubernetes.io/uninitialized": "cloud-controller-manager",
    "node.cilium.io/agent-not-ready": "Cilium",
    "node.cluster.x-k8s.io/uninitialized": "Cluster API",
}
_STARTS = (
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "status-taint.cluster-autoscaler.kubernetes.io/",
)
_ENDS = ("/agent-not-ready", "/uninitialized", "/not-initialized")


def find_setter(key: str) -> str:
    """Return the program that removes a temporary taint with this key, or the domain of its key; "" for other taints."""
    return _SETTERS.get(key, key.partition("/")[0] if key.startswith(_STARTS) or key.endswith(_ENDS) else "")


def passes(key: str) -> bool:
    """Return whether a taint with this key is temporary: the agent that sets the taint also removes it."""
    return bool(find_setter(key))
