"""Ranges of sizes and costs, which end at the largest unsigned number of 64 bits.

kube: vendor/github.com/google/cel-go/checker/cost.go @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

import math
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
        """Times a factor, rounded up."""
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
