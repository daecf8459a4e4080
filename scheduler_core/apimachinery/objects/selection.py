"""What a pod's node selector and required node affinity miss on a node."""

from __future__ import annotations

from scheduler_core.apimachinery.objects.labels import NodeSelector, NodeSelectorTerm, accepts_field
from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod


def misses(pod: Pod, node: Node) -> int:
    """Return the number of requirements that the node fails; of several terms, the one with the fewest counts."""
    terms = pod.spec.node_affinity_required
    return len(wrong_labels(pod, node)) + (0 if terms is None else least_missing(terms, node)[1])


def wrong_labels(pod: Pod, node: Node) -> dict[str, str]:
    return {k: v for k, v in sorted(pod.spec.node_selector.items()) if node.labels.get(k) != v}


def least_missing(selector: NodeSelector, node: Node) -> tuple[int, int]:
    """The term that misses least, and how many of its requirements do."""
    counts = [_missing(term, node) for term in selector.terms]
    best = min(range(len(counts)), key=lambda i: (counts[i], i), default=-1)
    return (best, counts[best]) if best >= 0 else (-1, 1)


def _missing(term: NodeSelectorTerm, node: Node) -> int:
    if term.empty or term.errors:
        return 99
    expressions = sum(not requirement.matches(node.labels) for requirement in term.expressions)
    return expressions + sum(not accepts_field(field, node.name) for field in term.fields)
