"""Topology spread constraints, compiled, and their layout, which depends on Node objects only.

kube: plugins/podtopologyspread/common.go @ v1.34.1
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.errors import FieldError
from scheduler_core.apimachinery.objects.labels import IN, Labels, LabelSelector, Requirement
from scheduler_core.apimachinery.objects.pod import Pod, PodSpec
from scheduler_core.scheduler.cache.pod_classes import Measure, PodClass
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.plugins.helper.memo import remember
from scheduler_core.scheduler.plugins.helper.node_selection import Mask, labels_mask, selector_mask

NAME = "PodTopologySpread"
HONOR = "Honor"
HARD, SOFT = "DoNotSchedule", "ScheduleAnyway"
HOSTNAME = "kubernetes.io/hostname"
HARD_EFFECTS = ("NoSchedule", "NoExecute")

Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class MatchedPods:
    """A measure: 1 for pods of the namespace that match the selector. Plain data, so that a checkpoint can store the measure."""

    namespace: str
    selector: LabelSelector

    def __call__(self, pods: PodClass) -> int:
        return int(pods.namespace == self.namespace and self.selector.matches(pods.labels))


@dataclass(frozen=True, slots=True)
class CountedPods:
    """A measure: MatchedPods without terminating pods; an empty selector counts none."""

    matched: MatchedPods

    def __call__(self, pods: PodClass) -> int:
        return 0 if pods.terminating or self.matched.selector.empty else self.matched(pods)


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint for one pod. `counted` measures the pods that kube counts (no terminating pods, none for an empty selector),
    `matched` the pods that kube adds and removes in what-ifs.
    """

    max_skew: int
    topology_key: str
    selector: LabelSelector
    min_domains: int
    honors_affinity: bool
    honors_taints: bool
    self_match: int
    counted: Measure
    matched: Measure


@dataclass(frozen=True, slots=True, eq=False)
class Constraints:
    """A pod's constraints of one kind (hard or soft). `layout` is the key of their layout over the nodes."""

    items: tuple[Constraint, ...]
    layout: str
    require_all_keys: bool
    errors: tuple[FieldError, ...] = ()


def compile_constraints(
    raw: Iterable[Mapping[str, Any]],
    pod: Pod,
    action: str,
    *,
    selector: LabelSelector | None = None,
    require_all_keys: bool = True,
    label_keys: bool = True,
) -> Constraints:
    """Return the constraints with this whenUnsatisfiable. `selector` replaces their selectors (defaults have none).

    `label_keys`: whether matchLabelKeys count (the gate MatchLabelKeysInPodTopologySpread).
    """
    items: list[Constraint] = []
    errors: list[FieldError] = []
    for each in raw:
        if each.get("whenUnsatisfiable") != action:
            continue
        own = LabelSelector.of(each.get("labelSelector"))
        errors += own.errors if not errors else ()  # kube stops at the first invalid selector
        if label_keys:
            own = _with_label_keys(own, each.get("matchLabelKeys") or (), pod.labels)
        items.append(_constraint(each, pod, own if selector is None else selector))
    return Constraints(tuple(items), _layout(items, pod.spec, require_all_keys), require_all_keys, tuple(errors))


def _with_label_keys(selector: LabelSelector, keys: Iterable[str], labels: Labels) -> LabelSelector:
    added = tuple(Requirement(key, IN, (labels[key],)) for key in dict.fromkeys(keys) if key in labels)
    if selector.nothing or not added:
        return selector
    return LabelSelector((*added, *selector.requirements))


def _constraint(raw: Mapping[str, Any], pod: Pod, selector: LabelSelector) -> Constraint:
    namespace = pod.namespace
    name = f"{namespace}/{'' if selector.nothing else '&'.join(map(_spell_requirement, selector.requirements))}"
    if selector.nothing:
        name += " nothing"

    matched = MatchedPods(namespace, selector)
    return Constraint(
        max_skew=raw.get("maxSkew") or 0,
        topology_key=raw.get("topologyKey") or "",
        selector=selector,
        min_domains=1 if raw.get("minDomains") is None else raw["minDomains"],
        # Unset policies mean Honor for affinity but Ignore for taints, as kube counted before the fields existed.
        honors_affinity=(raw.get("nodeAffinityPolicy") or HONOR) == HONOR,
        honors_taints=raw.get("nodeTaintsPolicy") == HONOR,
        self_match=int(selector.matches(pod.labels)),
        counted=Measure(f"{NAME} counted {name}", CountedPods(matched)),
        matched=Measure(f"{NAME} matched {name}", matched),
    )


def _spell_requirement(requirement: Requirement) -> str:
    """Return a text that, unlike the displayed one, is unique for each requirement."""
    return f"{requirement.key} {requirement.op} {requirement.values!r}"


def _layout(items: Iterable[Constraint], spec: PodSpec, require_all_keys: bool) -> str:
    parts = [f"{c.topology_key!r} {c.honors_affinity:d}{c.honors_taints:d}" for c in items]
    depends = any(
        c.honors_taints or (c.honors_affinity and (spec.node_selector or spec.node_affinity_required is not None))
        for c in items
    )
    # Without the spec if no policy reads the spec, so that all pods with the same keys share one layout.
    return f"{require_all_keys:d} {spec.fingerprint if depends else ''} {' '.join(parts)}"


@dataclass(frozen=True, slots=True, eq=False)
class Domains:
    """One constraint over all rows, as far as it depends on Node objects.

    `codes[row]` is the row's domain from 1 on, or 0 without one; `counted[row]` is the same, but 0 if the node's pods don't count.
    `eligible` are the domains with a node that counts. `values[code - 1]` is the name of a domain.
    """

    values: tuple[str, ...]
    codes: Codes
    counted: Codes
    eligible: Codes
    labelled: Mask
    complete: bool  # every row has the label

    @property
    def bins(self) -> int:
        return len(self.values) + 1

    def sums(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sum pods by domain, int64[bins]; domain 0 has none."""
        # Codes start at 1, because bincount rejects negative ones; sums in float64 are exact up to 2**53 pods.
        totals = np.bincount(self.counted, weights=counts, minlength=self.bins)
        totals[0] = 0
        return totals.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """All constraints over all rows. `qualified`: rows that have every topology key (all rows if not required)."""

    domains: tuple[Domains, ...]
    qualified: Mask
    all_qualified: bool


def layout_of(nodes: NodeTable, constraints: Constraints, spec: PodSpec) -> Layout:
    """Return the layout, cached until a Node object changes."""
    return remember(nodes.memo, (NAME, constraints.layout), lambda: _lay_out(nodes, constraints, spec))


def _lay_out(nodes: NodeTable, constraints: Constraints, spec: PodSpec) -> Layout:
    n = len(nodes)
    qualified = np.ones(n, np.bool_)
    if constraints.require_all_keys:
        for constraint in constraints.items:
            qualified &= nodes.label(constraint.topology_key).codes >= 0
    domains = tuple(
        _domains(
            nodes, c, qualified & compute_included_mask(nodes, c, spec), merge_missing=not constraints.require_all_keys
        )
        for c in constraints.items
    )
    return Layout(domains, qualified, bool(qualified.all()))


def _domains(nodes: NodeTable, constraint: Constraint, included: Mask, *, merge_missing: bool) -> Domains:
    """Build the domains. `merge_missing`: nodes without the label are in the domain of the empty value."""
    column = nodes.label(constraint.topology_key)
    labelled = column.codes >= 0
    values, codes = column.values, column.codes.astype(np.intp) + 1
    if merge_missing and not labelled.all():
        if "" not in values:
            values = (*values, "")
        codes[~labelled] = values.index("") + 1
    counted = np.where(included, codes, 0)
    eligible = np.flatnonzero(np.bincount(counted, minlength=len(values) + 1)[1:]) + 1
    return Domains(values, codes, counted, eligible, labelled, bool(labelled.all()))


def compute_included_mask(nodes: NodeTable, constraint: Constraint, spec: PodSpec) -> Mask:
    """Return the rows that count under the constraint's node inclusion policies."""
    mask = np.ones(len(nodes), np.bool_)
    if constraint.honors_affinity:
        mask &= labels_mask(nodes, spec.node_selector)
        if spec.node_affinity_required is not None:
            mask &= selector_mask(nodes, spec.node_affinity_required)
    if constraint.honors_taints:
        # Once per distinct set of taints, not per node: nodes with the same taints have the same result.
        tolerated = [
            all(spec.tolerates(taint) for taint in taints if taint.effect in HARD_EFFECTS)
            for taints in nodes.taint_sets
        ]
        mask &= np.array(tolerated, np.bool_)[nodes.taint_set]
    return mask
