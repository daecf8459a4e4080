"""Which events may help a pod that InterPodAffinity refused.

kube: plugins/interpodaffinity/plugin.go @ v1.34.1
"""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.affinity import AffinityTerm, AffinityTerms, affinity_terms
from scheduler_core.apimachinery.objects.labels import Labels
from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod

_NO_LABELS: Labels = {}


def _matches_all(terms: tuple[AffinityTerm, ...], pod: Pod) -> bool:
    """No terms are matched by nobody; namespaces that a selector selects are not known here."""
    return bool(terms) and all(term.matches(pod.namespace, pod.labels, _NO_LABELS) for term in terms)


def after_affine_pod_change(plugin: Any, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """kube: isSchedulableAfterPodChange"""
    if any(other is not None and not other.node_name for other in (old, new)):
        return False
    terms = affinity_terms(pod)
    if _unclear(terms):
        return True
    if new is None:
        assert old is not None
        return _matches_all(terms.required_anti, old)
    if old is None:
        return _matches_all(terms.required, new)
    if not _matches_all(terms.required, old) and _matches_all(terms.required, new):
        return True
    return _matches_all(terms.required_anti, old) and not _matches_all(terms.required_anti, new)


def after_node_topology_change(plugin: Any, pod: Pod, old: Node | None, new: Node) -> bool:
    """kube: isSchedulableAfterNodeChange"""
    terms = affinity_terms(pod)
    if _unclear(terms):
        return True
    if old is None:
        return bool(terms.required_anti) or any(term.topology_key in new.labels for term in terms.required)
    return any(_joins(term.topology_key, old, new) for term in terms.required) or any(
        _leaves(term.topology_key, old, new) for term in terms.required_anti
    )


def _unclear(terms: AffinityTerms) -> bool:
    """Return whether required terms fail to parse, which kube takes as a reason to try again."""
    return any(name.startswith("required") for name, _ in terms.errors)


def _joins(key: str, old: Node, new: Node) -> bool:
    return key in new.labels and (key not in old.labels or old.labels[key] != new.labels[key])


def _leaves(key: str, old: Node, new: Node) -> bool:
    return key in old.labels and (key not in new.labels or old.labels[key] != new.labels[key])
