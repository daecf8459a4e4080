"""Preferred inter-pod affinity over all rows: the incoming pod's preferences and those of existing pods.

kube: plugins/interpodaffinity/scoring.go @ v1.34.1
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduler_core.apimachinery.objects.affinity import AffinityTerm
from scheduler_core.scheduler.cache.pod_classes import AnyMeasure
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.plugin import MAX_NODE_SCORE, Rows, Scores
from scheduler_core.scheduler.plugins.interpodaffinity.counts import (
    Counts,
    Incoming,
    Topology,
    existing_preference_measures,
    preference_measures,
    topology,
)


@dataclass(frozen=True, slots=True, eq=False)
class Preferences:
    """Per topology key the weights summed up by domain."""

    parts: tuple[tuple[Topology, Counts], ...]

    @classmethod
    def of(
        cls,
        nodes: NodeTable,
        incoming: Incoming,
        liked: tuple[AffinityTerm, ...],
        disliked: tuple[AffinityTerm, ...],
        key: object,
        hard_weight: int,
    ) -> Preferences | None:
        """None where no term of anybody matches. `liked` and `disliked` are the incoming pod's, namespaces named."""
        keys = dict.fromkeys(term.topology_key for term in (*liked, *disliked))
        own_keys = tuple(keys)
        soft = nodes.pod_table.classes.soft_keys
        keys.update(soft)
        parts = []
        for topology_key in keys:
            pairs: list[tuple[AnyMeasure, AnyMeasure]] = []
            if topology_key in soft:
                pairs.append(existing_preference_measures(incoming, topology_key, hard_weight))
            if topology_key in own_keys:
                pairs.append(preference_measures(key, liked, disliked, topology_key))
            part = _part(nodes, topology_key, pairs)
            if part is not None:
                parts.append(part)
        return cls(tuple(parts)) if parts else None

    def scores(self, rows: Rows) -> Scores:
        total = np.zeros(len(rows), np.int64)
        for where, sums in self.parts:
            total += sums[where.codes[rows]]
        return total


def _part(
    nodes: NodeTable, key: str, pairs: list[tuple[AnyMeasure, AnyMeasure]]
) -> tuple[Topology, Counts] | None:
    """None where no term matches on a node with the label. Weights that cancel out are something nevertheless."""
    counts = _add_counts(nodes, [weight for weight, _ in pairs])
    if counts.any():
        where = topology(nodes, key)
        sums = where.sums(counts)
        if where.complete or sums.any():
            return where, sums
    numbers = _add_counts(nodes, [number for _, number in pairs])
    if not numbers.any():
        return None
    where = topology(nodes, key)
    return (where, where.sums(counts)) if where.sums(numbers).any() else None


def _add_counts(nodes: NodeTable, measures: list[AnyMeasure]) -> Counts:
    counts = nodes.pod_table.counts(measures[0])
    for measure in measures[1:]:
        counts = counts + nodes.pod_table.counts(measure)
    return counts


def normalize_scores(scores: Scores) -> Scores:
    """Return scores scaled from 0 (lowest) to 100 (highest), in Go's order of operations; all 0 if equal."""
    if not len(scores):
        return scores.copy()
    lowest, highest = int(scores.min()), int(scores.max())
    if lowest == highest:
        return np.zeros_like(scores)
    share = (scores - lowest).astype(np.float64) / float(highest - lowest)
    return (float(MAX_NODE_SCORE) * share).astype(np.int64)
