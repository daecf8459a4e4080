"""What keeps a spread uneven: the domains, which of them count although the pod can go to none of their nodes, and what the constraint's
policies would change about it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.plugin import Evidence, Rows
from scheduler_core.scheduler.plugins.podtopologyspread.constraints import Constraint, compute_included_mask
from scheduler_core.scheduler.plugins.podtopologyspread.filtering import Spread, lowest_count

SHOWN = 20


def collect_spread_evidence(spread: Spread, pod: Pod, nodes: NodeTable, rows: Rows) -> Evidence:
    """Return evidence for the constraints that refuse one of the rows."""
    return {
        "constraints": [
            _constraint(spread, i, pod, nodes)
            for i, constraint in enumerate(spread.constraints.items)
            if _refuses(spread, i, constraint, rows)
        ]
    }


def _refuses(spread: Spread, i: int, constraint: Constraint, rows: Rows) -> bool:
    labelled = spread.layout.domains[i].labelled[rows]
    return bool((~labelled | (spread.skew(i, rows) > constraint.max_skew)).any())


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
    """The domains that count and have no node that the pod's tolerations, selector and affinity leave it, or that is not cordoned."""
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
