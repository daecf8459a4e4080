"""Inter-pod affinity terms, compiled once per distinct spec and namespace.

kube: framework/types.go (newAffinityTerm, PodInfo.Update), kube-scheduler/framework/types.go (AffinityTerm) @ v1.34.1
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError
from scheduler_core.apimachinery.objects.labels import (
    Labels,
    LabelSelector,
    NodeSelector,
    NodeSelectorTerm,
    accepts_field,
)
from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.spec import PodSpec, canonical

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

_MEMO = "affinity terms"
_BETWEEN_PODS, _LABEL_KEYS = ("podAffinity", "podAntiAffinity"), ("matchLabelKeys", "mismatchLabelKeys")


@dataclass(frozen=True, slots=True)
class AffinityTerm:
    """A pod (anti-)affinity term: the pods that it selects, and its topology key. `weight` is 0 for required terms."""

    topology_key: str
    selector: LabelSelector
    namespaces: tuple[str, ...]
    namespace_selector: LabelSelector
    weight: int = 0

    def matches(self, namespace: str, labels: Labels, namespace_labels: Labels) -> bool:
        """Return whether the term selects a pod with these labels in this namespace (with the labels `namespace_labels`)."""
        meant = namespace in self.namespaces or self.namespace_selector.matches(namespace_labels)
        return meant and self.selector.matches(labels)


@dataclass(frozen=True, slots=True, eq=False)
class AffinityTerms:
    """All terms of a pod; `key` identifies them. A list with a term that kube can't parse is empty, with `errors`."""

    key: str
    required: tuple[AffinityTerm, ...]
    required_anti: tuple[AffinityTerm, ...]
    preferred: tuple[AffinityTerm, ...]
    preferred_anti: tuple[AffinityTerm, ...]
    errors: tuple[tuple[str, FieldError], ...] = ()  # name of the list in kube, the problem


NO_TERMS = AffinityTerms("", (), (), (), ())


def read_required_terms(pod: Pod) -> list[Mapping[str, Any]]:
    """Return the required terms of a pod as they are written."""
    affinity = pod.manifest["spec"].get("affinity") or {}
    return [each for kind in _BETWEEN_PODS for each in (affinity.get(kind) or {}).get(REQUIRED) or ()]


def read_lacking_keys(rule: Mapping[str, Any], pod: Pod) -> list[tuple[str, str]]:
    """Return the label keys of a term or a spread that have no effect, as the pod lacks the labels, each with its field."""
    return [(field, key) for field in _LABEL_KEYS for key in rule.get(field) or () if key not in pod.labels]


def affinity_terms(pod: Pod) -> AffinityTerms:
    """Return the pod's affinity terms, or NO_TERMS if the pod has none."""
    spec = pod.spec
    if not spec.pod_affinity and not spec.pod_anti_affinity:
        return NO_TERMS
    terms: AffinityTerms | None = spec.memo.get((_MEMO, pod.namespace))
    if terms is None:
        terms = spec.memo[_MEMO, pod.namespace] = _compile(spec, pod.namespace)
    return terms


def _compile(spec: PodSpec, namespace: str) -> AffinityTerms:
    lists = {
        "requiredAffinityTerms": _build_required_terms(spec.pod_affinity, namespace),
        "requiredAntiAffinityTerms": _build_required_terms(spec.pod_anti_affinity, namespace),
        "preferredAffinityTerms": _build_preferred_terms(spec.pod_affinity, namespace),
        "preferredAntiAffinityTerms": _build_preferred_terms(spec.pod_anti_affinity, namespace),
    }
    if not any(lists.values()):
        return NO_TERMS
    first = {name: next(_problems(terms), None) for name, terms in lists.items()}
    required, required_anti, preferred, preferred_anti = (
        terms if first[name] is None else () for name, terms in lists.items()
    )
    key = canonical([namespace, spec.pod_affinity, spec.pod_anti_affinity])
    errors = tuple((name, error) for name, error in first.items() if error is not None)
    return AffinityTerms(key, required, required_anti, preferred, preferred_anti, errors)


def _build_required_terms(affinity: Mapping[str, Any], namespace: str) -> tuple[AffinityTerm, ...]:
    return tuple(_term(raw, namespace, 0) for raw in affinity.get(REQUIRED) or ())


def _build_preferred_terms(affinity: Mapping[str, Any], namespace: str) -> tuple[AffinityTerm, ...]:
    return tuple(
        _term(raw.get("podAffinityTerm") or {}, namespace, raw.get("weight") or 0)
        for raw in affinity.get(PREFERRED) or ()
    )


def _term(raw: Mapping[str, Any], namespace: str, weight: int) -> AffinityTerm:
    namespaces = tuple(raw.get("namespaces") or ())
    selector = raw.get("namespaceSelector")
    if not namespaces and selector is None:
        namespaces = (namespace,)
    return AffinityTerm(
        raw.get("topologyKey") or "",
        LabelSelector.of(raw.get("labelSelector")),
        namespaces,
        LabelSelector.of(selector),
        weight,
    )


def _problems(terms: Iterable[AffinityTerm]) -> Iterator[FieldError]:
    for term in terms:
        yield from term.selector.errors
        yield from term.namespace_selector.errors


# What a pod's node selector and required node affinity miss on a node.


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
