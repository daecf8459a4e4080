"""Groups of nodes: by the label that whoever made them put on, else by the name without its number."""

from __future__ import annotations

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.plugin import Rows

ENOUGH = 8  # so many nodes are named one by one
LABELS = (
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "node.kubernetes.io/instance-type",
)
_NUMBERS = "0123456789"


def group_of(node: Node) -> str:
    for label in LABELS:
        if label in node.labels:
            return f"{label}={node.labels[label]}"
    stem = node.name.rstrip(_NUMBERS)
    return f"{stem}*" if stem and stem != node.name else node.name


def count_by_group(nodes: NodeTable, rows: Rows) -> tuple[tuple[str, int], ...]:
    """Return the number of rows in each group, the largest first; return nothing if there are few rows."""
    if len(rows) <= ENOUGH:
        return ()
    counts: dict[str, int] = {}
    for row in rows.tolist():
        name = group_of(nodes.nodes[row])
        counts[name] = counts.get(name, 0) + 1
    return tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:ENOUGH])
