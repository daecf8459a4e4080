"""Taints that somebody sets for a while and takes off himself: agents of a node until they are ready, and who adds and removes nodes."""

from __future__ import annotations

_KEYS = frozenset(
    {
        "ToBeDeletedByClusterAutoscaler",
        "DeletionCandidateOfClusterAutoscaler",
        "karpenter.sh/disrupted",
        "karpenter.sh/disruption",
        "karpenter.sh/unregistered",
        "node.kubernetes.io/out-of-service",
    }
)
_STARTS = (
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "status-taint.cluster-autoscaler.kubernetes.io/",
)
_ENDS = ("/agent-not-ready", "/uninitialized", "/not-initialized")


def passes(key: str) -> bool:
    """Return whether a taint with this key is temporary: the agent that sets the taint also removes it."""
    return key in _KEYS or key.startswith(_STARTS) or key.endswith(_ENDS)
