"""Ranges of sizes and costs. Sums and products saturate at the largest unsigned 64-bit number.

kube: vendor/github.com/google/cel-go/checker/cost.go @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

MOST = (1 << 64) - 1


class Range(NamedTuple):
    """A range from `min` to `max`, both inclusive."""

    min: int
    max: int

    def plus(self, other: Range) -> Range:
        return Range(min(self.min + other.min, MOST), min(self.max + other.max, MOST))

    def times(self, other: Range) -> Range:
        return Range(min(self.min * other.min, MOST), min(self.max * other.max, MOST))

    def scaled(self, factor: float) -> Range:
        """Return the range times a factor, rounded up."""
        return Range(_scale_count(self.min, factor), _scale_count(self.max, factor))

    def union(self, other: Range) -> Range:
        return Range(min(self.min, other.min), max(self.max, other.max))


def _scale_count(count: int, factor: float) -> int:
    number = float(count)
    if number > 0 and factor > 0 and number > MOST / factor:
        return MOST
    return min(math.ceil(number * factor), MOST)


def build_exact_range(count: int) -> Range:
    return Range(count, count)


UNKNOWN = Range(0, MOST)
NONE = build_exact_range(0)
ONE = build_exact_range(1)

# Sizes that are declared for variables, found by path: device.attributes["a"].b is
# ("device", "attributes", "@values", "b").
# kube: dynamic-resource-allocation/cel/compile.go (sizeEstimator) @ v1.34.1


@dataclass(frozen=True, slots=True)
class DeclaredSize:
    """The declared maximum size of a value: `most` characters or elements, the sizes of an object's fields, or of a list's or map's keys
    and elements. `by_name`: elements are also found by the name of a field.
    """

    most: int
    fields: Mapping[str, DeclaredSize] = field(default_factory=dict)
    key: DeclaredSize | None = None
    element: DeclaredSize | None = None
    by_name: bool = False

    def step(self, name: str) -> DeclaredSize | None:
        if name in ("@items", "@values"):
            return self.element
        if name == "@keys":
            return self.key
        found = self.fields.get(name)
        return found if found is not None or not self.by_name else self.element


def find_declared_size(roots: Mapping[str, DeclaredSize], path: Sequence[str]) -> Range | None:
    """Return the size at a path, or None if none is declared."""
    current = roots.get(path[0]) if path else None
    for name in path[1:]:
        if current is None:
            return None
        current = current.step(name)
    return None if current is None else Range(0, current.most)
