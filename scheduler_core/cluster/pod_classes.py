"""Pod classes: what selectors and terms can tell apart about pods, interned, so that each is asked once and not once per pod.

A class is a namespace, labels, whether the pod is terminating, and its affinity terms. Classes only ever grow; their numbers decide
nothing, so forks of a world share them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scheduler_core.objects.affinity import NO_TERMS, AffinityTerms, affinity_terms
from scheduler_core.objects.pod import Pod

NO_POD = 0  # the class of an unused place in a column; every measure gives it 0

_REMEMBERED_PODS = 1 << 17
_REMEMBERED_MEASURES = 2048

Weights = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PodClass:
    """`terms` is an index into PodClasses.terms (0: no terms)."""

    namespace: str
    labels: Mapping[str, str]
    terminating: bool
    terms: int


@dataclass(frozen=True, slots=True)
class Measure:
    """A whole number for every pod, which depends on its class alone; equal keys mean equal numbers."""

    key: tuple[object, ...] | str
    of: Callable[[PodClass], int]


@dataclass(frozen=True, slots=True)
class TermsMeasure:
    """A whole number for every pod, which depends on its affinity terms alone."""

    key: tuple[object, ...] | str
    of: Callable[[AffinityTerms], int]


AnyMeasure = Measure | TermsMeasure


class _Known:
    """A measure's numbers for the first `count` entries; the array has room for more."""

    __slots__ = ("count", "weights")

    def __init__(self) -> None:
        self.count = 0
        self.weights: Weights = np.zeros(16, np.int64)


class PodClasses:
    """The classes met so far, and what measures say about them."""

    def __init__(self) -> None:
        self.classes: list[PodClass] = [PodClass("", {}, False, 0)]
        self.terms: list[AffinityTerms] = [NO_TERMS]
        self.anti_keys: dict[str, None] = {}  # topology keys of required anti-affinity terms
        self.soft_keys: dict[str, None] = {}  # topology keys of the terms that count in scoring
        self._index: dict[tuple[object, ...], int] = {}
        self._terms_index: dict[str, int] = {"": 0}
        self._pods: dict[Pod, int] = {}
        self._known: dict[object, _Known] = {}

    def __len__(self) -> int:
        return len(self.classes)

    def of(self, pod: Pod) -> int:
        """The number of the pod's class."""
        found = self._pods.get(pod)
        if found is None:
            if len(self._pods) >= _REMEMBERED_PODS:
                self._pods.clear()
            found = self._pods[pod] = self._intern(pod)
        return found

    def _intern(self, pod: Pod) -> int:
        terms = affinity_terms(pod)
        key = (pod.namespace, tuple(sorted(pod.labels.items())), pod.deleting, terms.key)
        found = self._index.get(key)
        if found is None:
            found = self._index[key] = len(self.classes)
            self.classes.append(PodClass(pod.namespace, pod.labels, pod.deleting, self._intern_terms(terms)))
        return found

    def _intern_terms(self, terms: AffinityTerms) -> int:
        found = self._terms_index.get(terms.key)
        if found is None:
            found = self._terms_index[terms.key] = len(self.terms)
            self.terms.append(terms)
            self.anti_keys.update(dict.fromkeys(term.topology_key for term in terms.required_anti))
            soft = (*terms.required, *terms.preferred, *terms.preferred_anti)
            self.soft_keys.update(dict.fromkeys(term.topology_key for term in soft))
        return found

    def weights(self, measure: AnyMeasure) -> Weights:
        """The measure by class number, int64[at least len(self)]; only classes that are new to it are asked."""
        known = self._known.get(measure.key)
        if known is None:
            if len(self._known) >= _REMEMBERED_MEASURES:
                self._known.clear()
            known = self._known[measure.key] = _Known()
        if known.count < len(self.classes):
            self._extend(known, measure)
        return known.weights

    def _extend(self, known: _Known, measure: AnyMeasure) -> None:
        start, stop = known.count, len(self.classes)
        if stop > len(known.weights):
            room = np.zeros(2 * stop, np.int64)
            room[:start] = known.weights[:start]
            known.weights = room
        fresh = self.classes[start:stop]
        if isinstance(measure, TermsMeasure):
            by_terms: dict[int, int] = {0: 0}
            for i, each in enumerate(fresh, start):
                number = by_terms.get(each.terms)
                if number is None:
                    number = by_terms[each.terms] = measure.of(self.terms[each.terms])
                known.weights[i] = number
        else:
            known.weights[start:stop] = [measure.of(each) for each in fresh]
        if start == 0:
            known.weights[NO_POD] = 0
        known.count = stop
