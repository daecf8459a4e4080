"""Node selectors over a whole NodeTable: each requirement is evaluated once per distinct value of its label.

kube: component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go @ v1.34.1
"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.labels import IN, NodeSelector, NodeSelectorTerm, Requirement, accepts_field
from scheduler_core.scheduler.cache.table import NodeTable

# Temporary taints that their setter removes: agents of a node until they are ready, and autoscalers that add and remove nodes.

_AUTOSCALER, _KARPENTER = "Cluster Autoscaler", "Karpenter"
_SETTERS = {
    "ToBeDeletedByClusterAutoscaler": _AUTOSCALER,
    "DeletionCandidateOfClusterAutoscaler": _AUTOSCALER,
    "karpenter.sh/disrupted": _KARPENTER,
    "karpenter.sh/disruption": _KARPENTER,
    "karpenter.sh/unregistered": _KARPENTER,
    "node.cloudprovider.kubernetes.io/uninitialized": "cloud-controller-manager",
    "node.kubernetes.io/out-of-service": "an administrator",
    "node.cilium.io/agent-not-ready": "Cilium",
    "node.cluster.x-k8s.io/uninitialized": "Cluster API",
}
GOING = frozenset(("ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted", "karpenter.sh/disruption"))
"""Taints of nodes that are about to be removed: untaint them only as a last resort, because the removal may have failed."""
_STARTS = (
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "status-taint.cluster-autoscaler.kubernetes.io/",
)
_BY_HAND = ("maintenance", "upgrade", "drain", "draining", "out-of-service")
_ENDS = ("/agent-not-ready", "/uninitialized", "/not-initialized")


def find_setter(key: str) -> str:
    """Return the program that removes a temporary taint with this key, or the domain of its key; "" for other taints."""
    return _SETTERS.get(key, key.partition("/")[0] if key.startswith(_STARTS) or key.endswith(_ENDS) else "")


def passes(key: str) -> bool:
    """Return whether a taint with this key is temporary: the agent that sets the taint also removes it."""
    by_hand = key == "node.kubernetes.io/out-of-service" or key.rpartition("/")[2] in _BY_HAND
    return bool(find_setter(key)) or by_hand  # which users set and remove


Mask = NDArray[np.bool_]

NAME_FIELD = "metadata.name"


def expression_mask(nodes: NodeTable, requirement: Requirement) -> Mask:
    """Return the rows that satisfy a label requirement."""
    column = nodes.label(requirement.key)
    accepted = [requirement.accepts(value) for value in column.values]
    accepted.append(requirement.accepts(None))  # last, because code -1 means an absent label
    return np.array(accepted, np.bool_)[column.codes]


def field_mask(nodes: NodeTable, field: Requirement) -> Mask:
    """Return the rows that satisfy a field requirement with one value (In or NotIn)."""
    if field.key != NAME_FIELD:
        return np.full(len(nodes), accepts_field(field, ""))
    mask = np.full(len(nodes), field.op != IN)
    row = nodes.row(field.values[0])
    if row is not None:
        mask[row] = field.op == IN
    return mask


def term_mask(nodes: NodeTable, term: NodeSelectorTerm) -> Mask:
    """Return the rows that match a term; a term that is empty or does not parse matches none."""
    if term.empty or term.errors:
        return np.zeros(len(nodes), np.bool_)
    masks = [expression_mask(nodes, r) for r in term.expressions] + [field_mask(nodes, f) for f in term.fields]
    matched: Mask = np.logical_and.reduce(masks)
    return matched


def selector_mask(nodes: NodeTable, selector: NodeSelector) -> Mask:
    """Return the rows that match any term."""
    mask = np.zeros(len(nodes), np.bool_)
    for term in selector.terms:
        mask |= term_mask(nodes, term)
    return mask


def labels_mask(nodes: NodeTable, wanted: Mapping[str, str]) -> Mask:
    """Return the rows that have all these labels (spec.nodeSelector)."""
    mask = np.ones(len(nodes), np.bool_)
    for key, value in wanted.items():
        mask &= expression_mask(nodes, Requirement(key, IN, (value,)))
    return mask


def preference_scores(nodes: NodeTable, terms: Iterable[tuple[int, NodeSelectorTerm]]) -> NDArray[np.int64]:
    """Return per row the sum of the weights of the matching terms."""
    scores = np.zeros(len(nodes), np.int64)
    for weight, term in terms:
        scores += term_mask(nodes, term).astype(np.int64) * np.int64(weight)
    return scores
