"""Numbers of pods that match affinity terms: per node, then per value of a topology key.

kube: plugins/interpodaffinity/{filtering,scoring}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.affinity import AffinityTerm, AffinityTerms
from scheduler_core.apimachinery.objects.labels import Labels
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.pod_classes import Measure, PodClass, TermsMeasure
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.plugin import Handle
from scheduler_core.scheduler.plugins.helper.memo import remember
from scheduler_core.scheduler.plugins.helper.node_selection import Mask

NAME = "InterPodAffinity"

Counts = NDArray[np.int64]

_NO_LABELS: Labels = {}


@dataclass(frozen=True, slots=True, eq=False)
class Topology:
    """A topology key over all rows: `codes[row]` is the domain from 1 on, or 0 if the node lacks the label."""

    key: str
    values: tuple[str, ...]
    codes: NDArray[np.intp]
    labelled: Mask
    complete: bool

    @property
    def bins(self) -> int:
        return len(self.values) + 1

    def sums(self, counts: Counts) -> Counts:
        """Sum counts by domain, int64[bins], without nodes that lack the label."""
        totals = np.bincount(self.codes, weights=counts, minlength=self.bins)
        totals[0] = 0
        return totals.astype(np.int64)


def topology(nodes: NodeTable, key: str) -> Topology:
    """Return the topology key over all rows, cached until a Node object changes."""
    return remember(nodes.memo, (NAME, key), lambda: _topology(nodes, key))


def _topology(nodes: NodeTable, key: str) -> Topology:
    column = nodes.label(key)
    labelled = column.codes >= 0
    return Topology(key, column.values, column.codes.astype(np.intp) + 1, labelled, bool(labelled.all()))


# The incoming pod's terms on existing pods


class Lister(Protocol):
    def list(self, kind: str) -> Sequence[Mapping[str, Any]]: ...


def with_named_namespaces(terms: Iterable[AffinityTerm], handle: Lister) -> tuple[AffinityTerm, ...]:
    """Return the terms with the namespaces that their selectors match now, by name.

    As in kube, the selector itself remains, and is then evaluated without labels: `!team` selects every namespace.
    """
    return tuple(_resolve_namespaces(term, handle) for term in terms)


def _resolve_namespaces(term: AffinityTerm, handle: Lister) -> AffinityTerm:
    selector = term.namespace_selector
    # An empty selector matches every namespace by itself, an absent one matches none: both need no list.
    if selector.nothing or selector.empty:
        return term
    selected = [
        namespace["metadata"]["name"]
        for namespace in handle.list("Namespace")
        if selector.matches(namespace["metadata"].get("labels") or _NO_LABELS)
    ]
    return replace(term, namespaces=tuple(dict.fromkeys((*term.namespaces, *selected))))


def accepts(term: AffinityTerm, pod: Pod | PodClass) -> bool:
    """Return whether a term of the incoming pod, with its namespaces resolved, matches a pod."""
    return term.matches(pod.namespace, pod.labels, _NO_LABELS)


def matches_all(terms: tuple[AffinityTerm, ...], pod: Pod | PodClass) -> bool:
    """Return whether a pod matches all terms; without terms, no pod does."""
    return bool(terms) and all(accepts(term, pod) for term in terms)


def matches_any(terms: tuple[AffinityTerm, ...], pod: Pod | PodClass) -> bool:
    return any(accepts(term, pod) for term in terms)


@dataclass(frozen=True, slots=True)
class MatchesAll:
    """A measure: 1 for pods that match every term. Plain data, so that a checkpoint can store the measure."""

    terms: tuple[AffinityTerm, ...]

    def __call__(self, pods: PodClass) -> int:
        return int(matches_all(self.terms, pods))


@dataclass(frozen=True, slots=True)
class MatchesAny:
    """A measure: the number of terms that a pod matches."""

    terms: tuple[AffinityTerm, ...]

    def __call__(self, pods: PodClass) -> int:
        return sum(accepts(term, pods) for term in self.terms)


def all_terms_measure(key: object, terms: tuple[AffinityTerm, ...]) -> Measure:
    """Return a measure: 1 for pods that match every term."""
    return Measure((NAME, "all", key), MatchesAll(terms))


def any_term_measure(key: object, terms: tuple[AffinityTerm, ...], topology_key: str) -> Measure:
    """Return a measure: the number of terms with this topology key that a pod matches."""
    mine = tuple(term for term in terms if term.topology_key == topology_key)
    return Measure((NAME, "any", topology_key, key), MatchesAny(mine))


def preference_measures(
    key: object, liked: tuple[AffinityTerm, ...], disliked: tuple[AffinityTerm, ...], topology_key: str
) -> tuple[Measure, Measure]:
    """Return measures by pod: the sum of the matching terms' weights (disliked ones negative), and the number of matches."""
    mine = [(term.weight, term) for term in liked if term.topology_key == topology_key]
    mine += [(-term.weight, term) for term in disliked if term.topology_key == topology_key]

    def weight(pods: PodClass) -> int:
        return sum(w for w, term in mine if accepts(term, pods))

    def number(pods: PodClass) -> int:
        return sum(accepts(term, pods) for _, term in mine)

    return (Measure((NAME, "weight", topology_key, key), weight), Measure((NAME, "number", topology_key, key), number))


# Existing pods' terms on the incoming pod


@dataclass(frozen=True, slots=True, eq=False)
class Incoming:
    """The incoming pod from the view of existing pods' terms; `key` is its identity."""

    key: tuple[object, ...]
    namespace: str
    labels: Labels
    namespace_labels: Labels

    @classmethod
    def of(cls, pod: Pod, nodes: NodeTable, handle: Handle) -> Incoming:
        namespace: Mapping[str, Any] = handle.get("Namespace", "", pod.namespace) or {}
        labels: Labels = (namespace.get("metadata") or {}).get("labels") or _NO_LABELS
        return cls((nodes.pod_table.classes.of(pod), *labels.items()), pod.namespace, pod.labels, labels)

    def is_meant(self, term: AffinityTerm) -> bool:
        return term.matches(self.namespace, self.labels, self.namespace_labels)


@dataclass(frozen=True, slots=True)
class ExistingAnti:
    """The number of required anti-affinity terms with this topology key that match the incoming pod."""

    incoming: Incoming
    topology_key: str

    def __call__(self, terms: AffinityTerms) -> int:
        mine = (term for term in terms.required_anti if term.topology_key == self.topology_key)
        return sum(self.incoming.is_meant(term) for term in mine)


def existing_anti_measure(incoming: Incoming, topology_key: str) -> TermsMeasure:
    """Return a measure by pod: the number of required anti-affinity terms with this topology key that match the incoming pod."""
    key = (NAME, "existing anti", topology_key, incoming.key)
    return TermsMeasure(key, ExistingAnti(incoming, topology_key))


def existing_preference_measures(
    incoming: Incoming, topology_key: str, hard_weight: int
) -> tuple[TermsMeasure, TermsMeasure]:
    """Return measures by pod: the weight that terms with this topology key give the incoming pod, and their number."""

    def meant(terms: AffinityTerms) -> list[int]:
        weighted = [(term.weight, term) for term in terms.preferred]
        weighted += [(-term.weight, term) for term in terms.preferred_anti]
        if hard_weight > 0:
            weighted += [(hard_weight, term) for term in terms.required]
        return [w for w, term in weighted if term.topology_key == topology_key and incoming.is_meant(term)]

    key = (topology_key, hard_weight, incoming.key)
    return (
        TermsMeasure((NAME, "existing weight", key), lambda terms: sum(meant(terms))),
        TermsMeasure((NAME, "existing number", key), lambda terms: len(meant(terms))),
    )
