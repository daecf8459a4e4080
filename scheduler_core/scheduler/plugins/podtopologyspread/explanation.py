"""Explanation of PodTopologySpread on a node: each hard constraint with its domains, and the skew with the pod in each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.explanation import (
    Aside,
    Bar,
    Code,
    Explanation,
    Paragraph,
    Part,
    Parts,
    Row,
    Source,
    Table,
    Words,
    WrittenValue,
    gettext_noop,
    phrase,
    remark,
)
from scheduler_core.scheduler.framework.plugin import Evidence, Rows
from scheduler_core.scheduler.plugins.podtopologyspread.constraints import Constraint, compute_included_mask
from scheduler_core.scheduler.plugins.podtopologyspread.filtering import Spread, lowest_count

# What keeps a spread uneven: the domains, which of them count although the pod can go to none of their nodes, and what the constraint's
# policies would change about it.

SHOWN = 20


def collect_spread_evidence(spread: Spread, pod: Pod, nodes: NodeTable, rows: Rows) -> Evidence:
    """Return evidence for the constraints that reject one of the rows."""
    return {
        "constraints": [
            {**_constraint(spread, i, pod, nodes), "refused": [nodes.names[row] for row in refused[:SHOWN]]}
            for i, constraint in enumerate(spread.constraints.items)
            if (refused := _list_refused(spread, i, constraint, rows))
        ]
    }


def _list_refused(spread: Spread, i: int, constraint: Constraint, rows: Rows) -> list[int]:
    labelled = spread.layout.domains[i].labelled[rows]
    return [int(row) for row in rows[~labelled | (spread.skew(i, rows) > constraint.max_skew)]]


def _constraint(spread: Spread, i: int, pod: Pod, nodes: NodeTable) -> dict[str, Any]:
    constraint, domains, sums = spread.constraints.items[i], spread.layout.domains[i], spread.sums[i]
    lowest = lowest_count(constraint, domains, sums)
    eligible = domains.eligible[np.argsort(sums[domains.eligible], kind="stable")].tolist()
    closed = _find_closed_domains(spread, i, pod, nodes)
    out: dict[str, Any] = {
        "topologyKey": constraint.topology_key,
        "maxSkew": constraint.max_skew,
        "minDomains": constraint.min_domains,
        "nodeAffinityPolicy": "Honor" if constraint.honors_affinity else "Ignore",
        "nodeTaintsPolicy": "Honor" if constraint.honors_taints else "Ignore",
        "selector": ", ".join(map(str, constraint.selector.requirements)),
        "unlabelled": int((~domains.labelled).sum()),
        "lowest": lowest,
        "domains": [
            {
                "domain": domains.values[code - 1],
                "pods": int(sums[code]),
                "skew": int(sums[code]) + constraint.self_match - lowest,
                "nodes": int((domains.counted == code).sum()),
                "open": code not in closed,
            }
            for code in eligible[:SHOWN]
        ],
        "domainCount": len(eligible),
        "closedDomains": [domains.values[code - 1] for code in eligible if code in closed][:SHOWN],
    }
    if closed:
        out["withPolicies"] = _with_policies(spread, i, pod, nodes)
    return out


def _honor_policies(constraint: Constraint) -> Constraint:
    return replace(constraint, honors_affinity=True, honors_taints=True)


def _find_closed_domains(spread: Spread, i: int, pod: Pod, nodes: NodeTable) -> dict[int, None]:
    """Return the eligible domains in which the pod's tolerations, selector, and affinity leave no node, or only cordoned ones."""
    domains = spread.layout.domains[i]
    may = compute_included_mask(nodes, _honor_policies(spread.constraints.items[i]), pod.spec)
    opened = np.unique(domains.counted[may & (domains.counted > 0)]).tolist()
    return {code: None for code in domains.eligible.tolist() if code not in opened}


def _with_policies(spread: Spread, i: int, pod: Pod, nodes: NodeTable) -> dict[str, Any]:
    """Return the effect of Honor for both policies: the lowest count of an eligible domain, and the number of passing nodes."""
    constraints = spread.constraints
    items = tuple(_honor_policies(each) if at == i else each for at, each in enumerate(constraints.items))
    layout = f"{constraints.layout} honoring {i} {pod.spec.fingerprint}"
    other = Spread.of(nodes, replace(constraints, items=items, layout=layout), pod.spec)
    may = compute_included_mask(nodes, items[i], pod.spec)
    verdicts = other.verdicts(np.arange(len(nodes), dtype=np.intp))
    passing = may if verdicts is None else may & ~verdicts.refused
    changed = [] if constraints.items[i].honors_taints else ["nodeTaintsPolicy"]
    changed += [] if constraints.items[i].honors_affinity else ["nodeAffinityPolicy"]
    lowest = lowest_count(items[i], other.layout.domains[i], other.sums[i])
    return {"set": dict.fromkeys(changed, "Honor"), "lowest": lowest, "passing": int(passing.sum())}


MOST_DOMAINS = 50  # domains in an explanation
SHOWN_DOMAINS = 8

_COLUMNS = gettext_noop("domain"), gettext_noop("pods"), gettext_noop("skew with this pod")
_MINIMUM, _HERE = Words("global minimum"), Words("this node")
_NO_LABEL = Words("The node has no such label, so it belongs to no domain.")


@dataclass(frozen=True, slots=True)
class DomainFigures:
    """A domain with its pods. `skew`: the skew with the pod in the domain."""

    name: str
    pods: int
    skew: int


@dataclass(frozen=True, slots=True)
class ConstraintFigures:
    """One constraint on one node. `domain` is the node's (None: no label), `skew` the skew with the pod there.

    `domains` are the node's own, then those with the fewest pods; `count` is the number of domains.
    """

    constraint: Constraint
    minimum: int
    domain: str | None
    skew: int | None
    domains: tuple[DomainFigures, ...]
    count: int

    @property
    def uneven(self) -> bool:
        return self.skew is not None and self.skew > self.constraint.max_skew


def figures(spread: Spread, row: int) -> list[ConstraintFigures]:
    return [_figures(spread, i, row) for i in range(len(spread.sums))]


def _figures(spread: Spread, i: int, row: int) -> ConstraintFigures:
    constraint, domains, sums = spread.constraints.items[i], spread.layout.domains[i], spread.sums[i]
    code = int(domains.codes[row])
    order = domains.eligible[np.argsort(sums[domains.eligible], kind="stable")].tolist()
    minimum = lowest_count(constraint, domains, sums)
    first = [code, *(c for c in order if c != code)] if code else order
    return ConstraintFigures(
        constraint,
        minimum,
        domains.values[code - 1] if code else None,
        int(spread.skew(i, np.array([row], np.intp))[0]) if code else None,
        tuple(
            DomainFigures(domains.values[c - 1], int(sums[c]), int(sums[c]) + constraint.self_match - minimum)
            for c in first[:MOST_DOMAINS]
        ),
        len(order),
    )


def explain_constraints(pod: Pod, node: str, constraints: Iterable[ConstraintFigures]) -> Explanation:
    """Return an explanation that links values to their place in the pod and node; default constraints have no place."""
    return tuple(block for constraint in constraints for block in _blocks(pod, node, constraint))


def _blocks(pod: Pod, node: str, constraint: ConstraintFigures) -> Explanation:
    most = max((domain.pods for domain in constraint.domains), default=0)
    rows = tuple(_row(domain, constraint, most, node) for domain in constraint.domains[:SHOWN_DOMAINS])
    table = Table(_COLUMNS, rows, more=max(constraint.count - SHOWN_DOMAINS, 0))
    if constraint.domain is None:
        return _heading(pod, constraint), Paragraph((_NO_LABEL,), "bad"), table
    return _heading(pod, constraint), table


_BY_DOMAIN = gettext_noop("domain"), gettext_noop("pods"), gettext_noop("room")
_FULL, _OPEN = phrase("full"), phrase("open: the pod itself does not count")


def explain_domains(pod: Pod, spread: Spread) -> Explanation:
    """Return for each hard constraint the number of pods in each domain, and the room for more."""
    blocks: list[Paragraph | Table] = []
    for i, constraint in enumerate(spread.constraints.items):
        domains, sums = spread.layout.domains[i], spread.sums[i]
        least = lowest_count(constraint, domains, sums)
        most, codes = least + constraint.max_skew, domains.eligible[:SHOWN_DOMAINS].tolist()
        scale = max([most, *(int(sums[code]) for code in codes)])
        rows = tuple(
            _domain_row(domains.values[code - 1], int(sums[code]), most, scale, constraint.self_match) for code in codes
        )
        figures_ = ConstraintFigures(constraint, least, None, None, (), len(domains.eligible))
        more = max(len(domains.eligible) - SHOWN_DOMAINS, 0)
        blocks += [_heading(pod, figures_), Table(_BY_DOMAIN, rows, more)]
        blocks.append(remark("Most pods that a domain may have:", str(most)))
    return tuple(blocks)


def _domain_row(name: str, pods: int, most: int, scale: int, self_match: int) -> Row:
    full = pods + self_match > most
    room: Parts = _FULL if full else (str(most - pods),) if self_match else _OPEN
    return Row(((name, Bar(round(100 * pods / scale))), (str(pods),), room), bad=full)


def count_domains(
    pod: Pod, constraints: Sequence[Constraint], sizes: Sequence[int], weights: Sequence[float]
) -> Explanation:
    """Return per soft constraint how many domains are scored, and the weight of one."""
    rows = (
        Row(((Code(each.topology_key),), (str(size),), (f"{weight:.2f}",)))
        for each, size, weight in zip(constraints, sizes, weights, strict=True)
    )
    return (Table((gettext_noop("topology key"), gettext_noop("domains"), gettext_noop("weight")), tuple(rows)),)


def _heading(pod: Pod, constraint: ConstraintFigures) -> Paragraph:
    declared = constraint.constraint
    at = _place(pod, declared)
    parts: list[Part] = [Code(declared.topology_key), " ", _number(pod, at, "maxSkew", declared.max_skew)]
    if declared.min_domains > 1:
        parts += [" · ", _number(pod, at, "minDomains", declared.min_domains)]
    parts += [" · ", _MINIMUM, f" {constraint.minimum}"]
    selector = ", ".join(str(requirement) for requirement in declared.selector.requirements)
    if selector:
        parts += [" · ", Code(selector)]
    return Paragraph(tuple(parts))


def _place(pod: Pod, constraint: Constraint) -> str:
    """Return the path of a constraint in the pod's YAML; "" for a default constraint."""
    declared = (pod.manifest.get("spec") or {}).get("topologySpreadConstraints") or ()
    for i, each in enumerate(declared):
        said = each.get("topologyKey"), each.get("maxSkew"), each.get("whenUnsatisfiable", "DoNotSchedule")
        if said == (constraint.topology_key, constraint.max_skew, "DoNotSchedule"):
            return f"spec.topologySpreadConstraints[{i}]"
    return ""


def _number(pod: Pod, place: str, name: str, value: int) -> Part:
    text = f"{name} {value}"
    return WrittenValue(text, Source("Pod", pod.key, f"{place}.{name}")) if place else text


def _row(domain: DomainFigures, constraint: ConstraintFigures, most: int, node: str) -> Row:
    here, most_skew = domain.name == constraint.domain, constraint.constraint.max_skew
    uneven = domain.skew > most_skew
    name: list[Part] = [domain.name]
    if here:
        label = Source("Node", node, f"metadata.labels[{constraint.constraint.topology_key}]")
        name = [WrittenValue(domain.name, label), " ", Aside((_HERE,))]
    name.append(Bar(round(100 * domain.pods / most) if most else 0))
    skew = f"{domain.skew} > {most_skew}" if uneven else str(domain.skew)
    return Row((tuple(name), (str(domain.pods),), (skew,)), bad=uneven, here=here)
