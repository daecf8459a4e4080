"""Hard topology spread constraints over all rows: pods by domain, the skew with the pod on each node, and what-ifs.

kube: plugins/podtopologyspread/filtering.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.spec import PodSpec
from scheduler_core.scheduler.cache.pod_classes import PodClasses
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.cache.what_if import Change
from scheduler_core.scheduler.framework import Reason, Rows, Verdicts, unresolvable, unschedulable
from scheduler_core.scheduler.plugins.podtopologyspread.constraints import (
    Constraint,
    Constraints,
    Domains,
    Layout,
    layout_of,
)

TOO_UNEVEN = "node(s) didn't match pod topology spread constraints"
REASONS = (Reason("MissingLabel", f"{TOO_UNEVEN} (missing required label)"), Reason("SkewTooLarge", TOO_UNEVEN))
STATUSES = (unresolvable(REASONS[0]()), unschedulable(REASONS[1]()))
PASSES, NO_LABEL, UNEVEN = -1, 0, 1  # the latter two are places in STATUSES

NO_OTHER_DOMAIN = 2**31 - 1  # kube's count of a missing domain

Counts = NDArray[np.int64]
Reasons = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """The state of the filter. `sums`, by constraint: pods by domain; `reasons`: the reason of each domain's nodes without what-ifs.

    `deltas`, by constraint: per row, pods added or removed on that row alone; None without what-ifs.
    """

    constraints: Constraints
    layout: Layout
    sums: tuple[Counts, ...]
    reasons: tuple[Reasons | None, ...]  # None: every node passes
    deltas: tuple[Counts, ...] | None = None

    @classmethod
    def of(cls, nodes: NodeTable, constraints: Constraints, spec: PodSpec) -> Spread:
        layout = layout_of(nodes, constraints, spec)
        pairs = list(zip(constraints.items, layout.domains, strict=True))
        sums = tuple(domains.sums(nodes.pod_table.counts(c.counted)) for c, domains in pairs)
        reasons = tuple(_reasons(c, domains, s) for (c, domains), s in zip(pairs, sums, strict=True))
        return cls(constraints, layout, sums, reasons)

    def changed(self, classes: PodClasses, changes: Sequence[Change]) -> Spread:
        """Return the spread with pods added or removed. Like kube, check only the selector, not the initial count."""
        n = len(changes)
        rows = np.fromiter((change.row for change in changes), np.intp, n)
        signs = np.fromiter((change.sign for change in changes), np.int64, n)
        pods = np.fromiter((classes.of(change.pod) for change in changes), np.intp, n)
        # Per row, not per domain: preemption tries all nodes in one view, and what it takes off one node must not make
        # room on another one of the same domain. kube gives each node a clone of the state instead.
        deltas = self.deltas
        if deltas is None:
            deltas = tuple(np.zeros(len(self.layout.qualified), np.int64) for _ in self.sums)
        fresh = []
        for constraint, domains, delta in zip(self.constraints.items, self.layout.domains, deltas, strict=True):
            weights = classes.weights(constraint.matched)[pods] * signs * (domains.counted[rows] > 0)
            if weights.any():
                delta = delta.copy()
                # Not `delta[rows] += weights`: with several pods on one row that would count only the last.
                np.add.at(delta, rows, weights)
            fresh.append(delta)
        return replace(self, deltas=tuple(fresh))

    def verdicts(self, rows: Rows) -> Verdicts | None:
        reason: Reasons | None = None
        for i, domains in enumerate(self.layout.domains):
            reasons = self._reason_of(i, domains, rows)
            if reasons is not None:
                # The first constraint that fails gives the reason: kube's loop returns there.
                reason = reasons if reason is None else np.where(reason == PASSES, reasons, reason)
        return None if reason is None else Verdicts(reason, STATUSES)

    def _reason_of(self, i: int, domains: Domains, rows: Rows) -> Reasons | None:
        """Return one constraint's reasons per row; None if all rows pass."""
        if self.deltas is None:
            by_domain = self.reasons[i]
            return None if by_domain is None else by_domain[domains.codes[rows]]
        skew = self.skew(i, rows)
        uneven = skew > self.constraints.items[i].max_skew
        reason = np.where(uneven, np.int32(UNEVEN), np.int32(PASSES))
        return reason if domains.complete else np.where(domains.labelled[rows], reason, np.int32(NO_LABEL))

    def skew(self, i: int, rows: Rows) -> Counts:
        """Return each row's skew for constraint i, including the row's own changes."""
        constraint, domains, sums = self.constraints.items[i], self.layout.domains[i], self.sums[i]
        delta = self.deltas[i][rows] if self.deltas is not None else np.zeros(len(rows), np.int64)
        codes = domains.codes[rows]
        own = sums[codes] + delta
        if len(domains.eligible) < constraint.min_domains or not len(domains.eligible):
            return own + constraint.self_match
        eligible = sums[domains.eligible]
        at = int(eligible.argmin())
        lowest, others = int(eligible[at]), np.delete(eligible, at)
        second = int(others.min()) if len(others) else NO_OTHER_DOMAIN
        least = np.where(codes == domains.eligible[at], second, lowest)
        # Only a row that counts can have changes, so its domain is eligible.
        least = np.where(delta != 0, np.minimum(least, own), lowest)
        return own + constraint.self_match - least


def lowest_count(constraint: Constraint, domains: Domains, sums: Counts) -> int:
    """Return kube's global minimum: 0 if there are fewer domains than minDomains."""
    if len(domains.eligible) < constraint.min_domains or not len(domains.eligible):
        return 0
    return int(sums[domains.eligible].min())


def _reasons(constraint: Constraint, domains: Domains, sums: Counts) -> Reasons | None:
    """Return reasons by domain, int32[bins]; None if every node passes."""
    most = constraint.max_skew - constraint.self_match + lowest_count(constraint, domains, sums)
    uneven = sums > most
    if domains.complete and not uneven[1:].any():
        return None
    reasons = np.where(uneven, np.int32(UNEVEN), np.int32(PASSES))
    reasons[0] = NO_LABEL
    return reasons
