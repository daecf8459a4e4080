"""Pod classes: the properties by which selectors and terms distinguish pods, interned. Each selector is evaluated per class, not per pod.

A class is a namespace, labels, whether the pod is terminating, and its affinity terms. Classes are only added; their numbers have no
effect, so forks of a world share them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.affinity import NO_TERMS, AffinityTerms, affinity_terms
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.state import Derived, SharedState

NO_POD = 0  # the class of an unused place in a column; 0 in every measure

_REMEMBERED_PODS = 1 << 17
_REMEMBERED_MEASURES = 2048

Weights = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PodClass:
    """A class of pods. `terms` is an index into PodClasses.terms (0: no terms)."""

    namespace: str
    labels: Mapping[str, str]
    terminating: bool
    terms: int


@dataclass(frozen=True, slots=True)
class Measure:
    """A function from pods to integers that depends only on the pod's class; equal keys mean equal numbers."""

    key: tuple[object, ...] | str
    of: Callable[[PodClass], int]


@dataclass(frozen=True, slots=True)
class TermsMeasure:
    """A function from pods to integers that depends only on the affinity terms; equal keys mean equal numbers."""

    key: tuple[object, ...] | str
    of: Callable[[AffinityTerms], int]


AnyMeasure = Measure | TermsMeasure


@dataclass(slots=True, eq=False)
class ClassNumbers(SharedState):
    """Numbers for the first `count` entries; the rest of the array is filled with 0."""

    count: int = 0
    trimmed: bytes | None = None  # the numbers as bytes, without the zeros at the end
    weights: Weights = field(default_factory=lambda: np.zeros(16, np.int64))

    def reserve(self, count: int) -> None:
        if count > len(self.weights):
            room = np.zeros(2 * count, np.int64)
            room[: self.count] = self.weights[: self.count]
            self.weights = room


@dataclass(eq=False, repr=False)
class PodClasses(SharedState):
    """The classes so far, and the cached values of measures."""

    classes: list[PodClass] = field(default_factory=lambda: [PodClass("", {}, False, 0)])
    terms: list[AffinityTerms] = field(default_factory=lambda: [NO_TERMS])
    anti_keys: dict[str, None] = field(default_factory=dict)  # topology keys of required anti-affinity terms
    soft_keys: dict[str, None] = field(default_factory=dict)  # topology keys of the terms that count in scoring
    _index: dict[tuple[object, ...], int] = field(default_factory=dict)
    _terms_index: dict[str, int] = field(default_factory=lambda: {"": 0})
    _pods: Derived[dict[Pod, int]] = field(default_factory=dict)
    _terms_of: ClassNumbers = field(default_factory=lambda: ClassNumbers(1))  # class -> its terms
    _known: Derived[dict[object, ClassNumbers]] = field(
        default_factory=dict
    )  # measure -> its numbers, by class or by terms

    def __len__(self) -> int:
        return len(self.classes)

    def of(self, pod: Pod) -> int:
        """Return the number of the pod's class."""
        number = self._pods.get(pod)
        if number is None:
            if len(self._pods) >= _REMEMBERED_PODS:
                self._pods.clear()
            number = self._pods[pod] = self._intern(pod)
        return number

    def _intern(self, pod: Pod) -> int:
        terms = affinity_terms(pod)
        key = (pod.namespace, tuple(sorted(pod.labels.items())), pod.deleting, terms.key)
        index = self._index.get(key)
        if index is None:
            index = self._index[key] = len(self.classes)
            number = self._terms_index.get(terms.key)
            if number is None:
                number = self._terms_index[terms.key] = len(self.terms)
                self.terms.append(terms)
                self.anti_keys.update(dict.fromkeys(term.topology_key for term in terms.required_anti))
                soft = (*terms.required, *terms.preferred, *terms.preferred_anti)
                self.soft_keys.update(dict.fromkeys(term.topology_key for term in soft))
            self.classes.append(PodClass(pod.namespace, pod.labels, pod.deleting, number))
            self._terms_of.reserve(index + 1)
            self._terms_of.weights[index] = number
            self._terms_of.count = index + 1
        return index

    def weights(self, measure: AnyMeasure) -> Weights:
        """Return the measure by class number, int64[at least len(self)]; only new classes are evaluated."""
        weights = self.resolve(measure)[1]
        return np.zeros(len(self.classes), np.int64) if weights is None else weights

    def resolve(self, measure: AnyMeasure) -> tuple[object, Weights | None]:
        """Return a key for the measure's numbers, and the numbers by class (None if all are 0).

        Measures of different incoming pods have one key if they agree on the existing terms.
        """
        if isinstance(measure, Measure):
            known = self._find(measure.key)
            start, stop = known.count, len(self.classes)
            if start < stop:
                known.reserve(stop)
                known.weights[start:stop] = [measure.of(each) for each in self.classes[start:stop]]
                # A selector that selects everything would also count the empty class of unused places.
                known.weights[NO_POD] = 0
                known.count = stop
            return measure.key, known.weights
        by_terms = self._by_terms(measure)
        if not by_terms:
            return measure.key, None
        known = self._find(by_terms)
        start, stop = known.count, len(self.classes)
        if start < stop:
            known.reserve(stop)
            numbers = np.zeros(len(self.terms), np.int64)
            weights = np.frombuffer(by_terms, np.int64)
            numbers[: len(weights)] = weights
            known.weights[start:stop] = numbers[self._terms_of.weights[start:stop]]
            known.count = stop
        return by_terms, known.weights

    def _by_terms(self, measure: TermsMeasure) -> bytes:
        """Return the measure's numbers by terms number as bytes, without trailing zeros."""
        known = self._find(measure.key)
        start, stop = known.count, len(self.terms)
        if start < stop:
            known.reserve(stop)
            known.weights[start:stop] = [measure.of(terms) for terms in self.terms[start:stop]]
            known.weights[0] = 0
            known.count = stop
            known.trimmed = None
        if known.trimmed is None:
            # Without the zeros, new terms that weigh nothing change neither the key nor what is cached under it.
            known.trimmed = np.trim_zeros(known.weights, "b").tobytes()
        return known.trimmed

    def _find(self, key: object) -> ClassNumbers:
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _REMEMBERED_MEASURES:
                self._known.clear()
            known = self._known[key] = ClassNumbers()
        return known
