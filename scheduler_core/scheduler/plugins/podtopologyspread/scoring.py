"""Soft topology spread constraints: fewer matching pods in a node's domains score higher.

kube: plugins/podtopologyspread/scoring.go @ v1.34.1
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.spec import PodSpec
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import formula
from scheduler_core.scheduler.framework.explanation import Aside, Code, Part, gettext_noop, phrase
from scheduler_core.scheduler.framework.plugin import MAX_NODE_SCORE, Rows, Scores
from scheduler_core.scheduler.plugins.helper.node_selection import Mask
from scheduler_core.scheduler.plugins.helper.normalize import (
    NORMALIZED,
    divide,
    highest_value,
    log,
    lowest_value,
    raw_value,
    round_half_up,
)
from scheduler_core.scheduler.plugins.podtopologyspread.constraints import (
    HOSTNAME,
    Constraints,
    Domains,
    Layout,
    layout_of,
)

Counts = NDArray[np.int64]

_HIGHEST = 2**63 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Evenness:
    """The state of the score. `counts`, by constraint: pods by domain, or by row for the hostname (each node is a domain)."""

    constraints: Constraints
    layout: Layout
    counts: tuple[Counts, ...]
    sizes: tuple[int, ...]  # number of domains among the nodes that are scored
    weights: tuple[float, ...]

    @classmethod
    def of(cls, nodes: NodeTable, constraints: Constraints, spec: PodSpec, rows: Rows) -> Evenness:
        """Count the pods. `rows` are the feasible nodes."""
        layout = layout_of(nodes, constraints, spec)
        scored = rows if layout.all_qualified else rows[layout.qualified[rows]]
        counts, sizes = [], []
        for constraint, domains in zip(constraints.items, layout.domains, strict=True):
            by_row = nodes.pod_table.counts(constraint.counted)
            if constraint.topology_key == HOSTNAME:
                counts.append(by_row)
                # Not the number of distinct labels: for the hostname kube counts
                # the feasible nodes less the ignored ones.
                sizes.append(len(scored))
            else:
                counts.append(domains.sums(by_row))
                seen = np.zeros(domains.bins, np.bool_)
                seen[domains.codes[scored]] = True
                sizes.append(int(np.count_nonzero(seen[1:])))
        weights = tuple(log(float(size + 2)) for size in sizes)
        return cls(constraints, layout, tuple(counts), tuple(sizes), weights)

    def ignored(self, rows: Rows) -> Mask | None:
        """Return the rows that lack a topology key and so are not scored, or None."""
        return None if self.layout.all_qualified else ~self.layout.qualified[rows]

    def scores(self, rows: Rows) -> Scores:
        total = np.zeros(len(rows), np.float64)
        for i, domains in enumerate(self.layout.domains):
            total += self._part(i, domains, rows)
        scores = round_half_up(total)
        ignored = self.ignored(rows)
        if ignored is not None:
            scores[ignored] = 0
        return scores

    def _part(self, i: int, domains: Domains, rows: Rows) -> NDArray[np.float64]:
        constraint, counts = self.constraints.items[i], self.counts[i]
        hostname = constraint.topology_key == HOSTNAME
        by_domain = counts.astype(np.float64) * self.weights[i] + float(constraint.max_skew - 1)
        part = by_domain[rows if hostname else domains.codes[rows]]
        return part if domains.complete else np.where(domains.labelled[rows], part, 0.0)


def normalize_scores(scores: Scores, ignored: Mask | None) -> Scores:
    """Normalize so that the fewest pods score highest; ignored rows score 0. If no pods match, all score 100."""
    counted = scores if ignored is None else scores[~ignored]
    highest = int(counted.max(initial=0))
    lowest = int(counted.min(initial=_HIGHEST))
    if highest == 0:
        scaled = np.full_like(scores, MAX_NODE_SCORE)
    elif not len(counted):
        scaled = np.zeros_like(scores)
    else:
        scaled = divide(MAX_NODE_SCORE * (highest + lowest - scores), highest)
    if ignored is not None:
        scaled[ignored] = 0
    return scaled


# The formula of PodTopologySpread's score: the pods in the node's domains, weighted by the number of domains.
#
# kube: plugins/podtopologyspread/scoring.go @ v1.34.1

_PODS = gettext_noop("matching pods in the domain of the node")
_DOMAINS = gettext_noop("domains among the scored nodes")
_SKEW = gettext_noop("maxSkew of the constraint")
_NO_DOMAIN = gettext_noop("the node has no such label")
_WEIGHED = Aside(phrase("weight"))

_FEWER = phrase(
    "The fewer matching pods in the domain, the higher the score. A constraint with few domains weighs less."
)
_EVEN = phrase("Lower is better here. If no pod matches anywhere, every node gets 100.")
_IGNORED = phrase("The node lacks a topology key of the constraints, so it gets 0.")

_LN = formula.Operator("ln", lambda number: log(float(number)), infix=False)


def score_formula(evenness: Evenness, nodes: NodeTable, row: int) -> formula.Formula:
    if not evenness.layout.all_qualified and not evenness.layout.qualified[row]:
        return formula.Formula((formula.Line(formula.NODE, formula.constant(0)),), (_IGNORED,))
    weights, parts = [], []
    for i, constraint in enumerate(evenness.constraints.items):
        size = formula.Value(evenness.sizes[i], _DOMAINS)
        ln = _LN(formula.total(size, formula.constant(2)))
        weight = formula.Line((Code(constraint.topology_key), " ", _WEIGHED), ln)
        weights.append(weight)
        key = constraint.topology_key
        domain = nodes.nodes[row].labels.get(key)
        where: Part = key if domain is None else f"{key} = {domain}"
        parts.append(formula.Line((where,), _part(evenness, i, row, weight)))
    lines = [line for pair in zip(weights, parts, strict=True) for line in pair]
    return formula.Formula(
        (*lines, formula.Line(formula.NODE, formula.round_expression(formula.total(*parts)))), (_FEWER,)
    )


def _part(evenness: Evenness, i: int, row: int, weight: formula.Line) -> formula.Expression:
    """Return the expression of one constraint's part."""
    constraint, domains, counts = (evenness.constraints.items[i], evenness.layout.domains[i], evenness.counts[i])
    if not domains.labelled[row]:
        return formula.Value(0.0, _NO_DOMAIN)
    pods = int(counts[row if constraint.topology_key == HOSTNAME else domains.codes[row]])
    skew = formula.minus(formula.Value(constraint.max_skew, _SKEW), formula.constant(1))
    return formula.total(formula.times(formula.Value(pods, _PODS), weight), skew)


def normalization(evenness: Evenness, nodes: NodeTable, rows: Rows, scores: Scores, i: int) -> formula.Formula:
    """Return the formula by which normalized_scores computes the `i`th row's score."""
    ignored = evenness.ignored(rows)
    if ignored is not None and ignored[i]:
        return formula.Formula((formula.Line(NORMALIZED, formula.constant(0)),), (_IGNORED,))
    counted, values = (rows, scores) if ignored is None else (rows[~ignored], scores[~ignored])
    highest, lowest = highest_value(nodes, counted, values), lowest_value(nodes, counted, values)
    if highest.number == 0:
        return formula.Formula((formula.Line(NORMALIZED, formula.constant(MAX_NODE_SCORE)),), (_EVEN,))
    fewer = formula.minus(formula.total(highest, lowest), raw_value(scores, i))
    return formula.Formula(
        (formula.Line(NORMALIZED, formula.by(formula.times(formula.constant(MAX_NODE_SCORE), fewer), highest)),),
        (_EVEN,),
    )
