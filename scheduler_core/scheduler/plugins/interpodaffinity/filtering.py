"""Required inter-pod affinity over all rows: the incoming pod's own terms and the anti-affinity of existing pods, with what-ifs.

kube: plugins/interpodaffinity/filtering.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.affinity import AffinityTerm
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.pod_classes import AnyMeasure, PodClasses
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.cache.what_if import Change
from scheduler_core.scheduler.framework import Reason, Rows, Verdicts, unresolvable, unschedulable
from scheduler_core.scheduler.plugins.helper.node_selection import Mask
from scheduler_core.scheduler.plugins.interpodaffinity.counts import (
    Counts,
    Incoming,
    Topology,
    all_terms_measure,
    any_term_measure,
    existing_anti_measure,
    matches_all,
    topology,
)

REASONS = (
    Reason("NoMatchingPod", "node(s) didn't match pod affinity rules"),
    Reason("MatchingPod", "node(s) didn't match pod anti-affinity rules"),
    Reason("RefusedByPod", "node(s) didn't satisfy existing pods anti-affinity rules"),
)
STATUSES = (unresolvable(REASONS[0]()), unschedulable(REASONS[1]()), unschedulable(REASONS[2]()))
PASSES, NO_AFFINITY, OWN_ANTI, EXISTING_ANTI = -1, 0, 1, 2  # places in STATUSES

Reasons = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """One measure summed by the domains of one topology key. `delta`: per row, the changes of a what-if on that row alone."""

    topology: Topology
    measure: AnyMeasure
    sums: Counts
    total: int
    delta: Counts | None = None

    @classmethod
    def of(cls, nodes: NodeTable, key: str, measure: AnyMeasure) -> Tally:
        where = topology(nodes, key)
        sums = where.sums(nodes.pod_table.counts(measure))
        return cls(where, measure, sums, int(sums.sum()))

    @property
    def idle(self) -> bool:
        """Whether no domain has a count."""
        return self.total == 0 and self.delta is None

    def pods_exist(self, rows: Rows) -> Mask:
        """Return whether each row's domain has a positive count; a node without the label has none."""
        codes = self.topology.codes[rows]
        if self.delta is None:
            return (self.sums > 0)[codes]
        return (self.sums[codes] + self.delta[rows]) > 0

    def changed(self, weights: Counts, rows: Rows) -> Tally:
        """Return the tally with `weights[k]` added on row `rows[k]`; a node without the label has no domain."""
        weights = np.where(self.topology.labelled[rows], weights, 0)
        if not weights.any():
            return self
        delta = np.zeros(len(self.topology.codes), np.int64) if self.delta is None else self.delta.copy()
        np.add.at(delta, rows, weights)
        return replace(self, delta=delta)


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """The required terms: a Tally per topology key of the pod's affinity, its anti-affinity, and existing pods' anti-affinity."""

    affinity: tuple[Tally, ...]
    anti: tuple[Tally, ...]
    existing: tuple[Tally, ...]
    matches_itself: bool
    incoming: Incoming
    terms: tuple[AffinityTerm, ...]  # required affinity, namespaces named
    anti_terms: tuple[AffinityTerm, ...]

    @classmethod
    def of(
        cls,
        nodes: NodeTable,
        pod: Pod,
        incoming: Incoming,
        terms: tuple[AffinityTerm, ...],
        anti_terms: tuple[AffinityTerm, ...],
        key: object,
    ) -> Rules:
        """Count the pods for the required terms. `key` identifies the incoming terms."""
        existing = _existing(nodes, incoming)
        affinity: tuple[Tally, ...] = ()
        anti: tuple[Tally, ...] = ()
        if terms:
            everything = all_terms_measure(key, terms)
            affinity = tuple(Tally.of(nodes, k, everything) for k in _keys(terms))
        if anti_terms:
            anti = tuple(Tally.of(nodes, k, any_term_measure(key, anti_terms, k)) for k in _keys(anti_terms))
        itself = matches_all(terms, pod)
        return cls(affinity, anti, existing, itself, incoming, terms, anti_terms)

    @property
    def nothing_to_do(self) -> bool:
        return not self.terms and not self.anti_terms and all(tally.idle for tally in self.existing)

    def changed(self, nodes: NodeTable, changes: Sequence[Change]) -> Rules:
        """Return the rules with pods added or removed."""
        classes = nodes.pod_table.classes
        n = len(changes)
        rows = np.fromiter((change.row for change in changes), np.intp, n)
        signs = np.fromiter((change.sign for change in changes), np.int64, n)
        pods = np.fromiter((classes.of(change.pod) for change in changes), np.intp, n)

        def change(tallies: tuple[Tally, ...]) -> tuple[Tally, ...]:
            return tuple(t.changed(classes.weights(t.measure)[pods] * signs, rows) for t in tallies)

        known = {tally.topology.key for tally in self.existing}
        # A pod that is only nominated may be the first with an anti-affinity term for its topology key.
        fresh = [key for key in classes.anti_keys if key not in known]
        existing = (*self.existing, *(_empty_tally(nodes, self.incoming, key, classes) for key in fresh))
        return replace(self, affinity=change(self.affinity), anti=change(self.anti), existing=change(existing))

    def verdicts(self, rows: Rows) -> Verdicts | None:
        """Return the verdicts in kube's order: own affinity, own anti-affinity, existing pods' anti-affinity."""
        reason: Reasons | None = None
        # In reverse: a later refusal overwrites an earlier one, and kube checks the affinity first.
        for tallies, code in ((self.existing, EXISTING_ANTI), (self.anti, OWN_ANTI)):
            for tally in tallies:
                if not tally.idle:
                    reason = _refuse(reason, tally.pods_exist(rows), code)
        if self.affinity:
            reason = _refuse(reason, ~self._near(rows), NO_AFFINITY)
        return None if reason is None else Verdicts(reason, STATUSES)

    def _near(self, rows: Rows) -> Mask:
        """Return the rows whose domains have pods for the affinity; the first pod of a self-affine group may start anywhere."""
        labelled = np.ones(len(rows), np.bool_)
        pods_exist = np.ones(len(rows), np.bool_)
        counted = np.zeros(len(rows), np.int64)
        for tally in self.affinity:
            if not tally.topology.complete:
                labelled &= tally.topology.labelled[rows]
            pods_exist &= tally.pods_exist(rows)
            counted += tally.total
            if tally.delta is not None:
                counted += tally.delta[rows]
        # kube checks whether its map of counts is empty; the map drops zeros and has no
        # negative counts, so a sum of 0 is equivalent.
        if self.matches_itself:
            pods_exist |= counted == 0
        # Also for the first pod of its group: kube requires all topology labels on
        # the node before that exception applies.
        return pods_exist & labelled


def _refuse(reason: Reasons | None, refused: Mask, code: int) -> Reasons | None:
    """Set the reason of the refused rows; a later call overrides an earlier one."""
    if not refused.any():
        return reason
    return np.where(refused, np.int32(code), np.int32(PASSES) if reason is None else reason)


def _keys(terms: tuple[AffinityTerm, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term.topology_key for term in terms))


def _existing(nodes: NodeTable, incoming: Incoming) -> tuple[Tally, ...]:
    """Return the tallies of existing pods' anti-affinity, for topology keys with a count only."""
    keys = nodes.pod_table.classes.anti_keys
    if not keys:
        return ()
    tallies = []
    for key in keys:
        measure = existing_anti_measure(incoming, key)
        if nodes.pod_table.counts(measure).any():
            tallies.append(Tally.of(nodes, key, measure))
    return tuple(tallies)


def _empty_tally(nodes: NodeTable, incoming: Incoming, key: str, classes: PodClasses) -> Tally:
    where = topology(nodes, key)
    return Tally(where, existing_anti_measure(incoming, key), np.zeros(where.bins, np.int64), 0)
