"""Critical and static pods: what a kubelet neither refuses for want of resources nor evicts.

kube: pkg/kubelet/types/pod_update.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.pod import Pod

SYSTEM_CRITICAL = 2_000_000_000  # the priority from which on a pod is critical
NODE_CRITICAL = "system-node-critical"
_SOURCE, _MIRROR = "kubernetes.io/config.source", "kubernetes.io/config.mirror"


def is_mirror(pod: Pod) -> bool:
    """Return whether a pod is the mirror of a static pod."""
    return _MIRROR in pod.annotations


def is_static(pod: Pod) -> bool:
    """Return whether a pod does not come from the API server. Mirror pods count too, as only they are visible here."""
    return is_mirror(pod) or pod.annotations.get(_SOURCE, "api") != "api"


def is_critical(pod: Pod) -> bool:
    return is_static(pod) or pod.priority >= SYSTEM_CRITICAL


def is_node_critical(pod: Pod) -> bool:
    return is_critical(pod) and pod.manifest["spec"].get("priorityClassName") == NODE_CRITICAL


def preemptable(preemptor: Pod, other: Pod) -> bool:
    """Return whether a kubelet may end a pod to admit another."""
    return (is_critical(preemptor) and not is_critical(other)) or preemptor.priority > other.priority
