"""Spread constraints that give way: the node labelled into a domain, a larger skew allowed, or a constraint made soft."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scheduler_core.framework.drafts import Change, Draft, Edit, Refusal
from scheduler_core.plugins.helper.fixes import add_node, label_node
from scheduler_core.plugins.podtopologyspread.constraints import HARD, HOSTNAME, SOFT
from scheduler_core.plugins.podtopologyspread.explanation import ConstraintFigures


def propose(draft: Draft, refusal: Refusal, constraints: Sequence[ConstraintFigures]) -> Iterator[Draft]:
    raw = refusal.pod.manifest["spec"].get("topologySpreadConstraints") or []
    hard = [i for i, constraint in enumerate(raw) if constraint.get("whenUnsatisfiable") == HARD]
    for index, figures in zip(hard, constraints, strict=False):
        key, most, skew = figures.constraint.topology_key, figures.constraint.max_skew, figures.skew
        if skew is None and figures.domains and key != HOSTNAME:
            yield label_node(draft, refusal.node, [(key, figures.domains[0].name)])
        if skew is not None and skew > most:
            change = Change("skew", {"key": key, "from": most, "to": skew}, skew / 1000)
            yield draft.with_pod(change, _constraint_edit(index, "maxSkew", skew))
        if skew is None or skew > most:
            change = Change("soften", {"what": "spread", "text": key})
            yield draft.with_pod(change, _constraint_edit(index, "whenUnsatisfiable", SOFT))
    yield from add_node(draft, refusal)


def _constraint_edit(index: int, field: str, value: Any) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        constraint = manifest["spec"]["topologySpreadConstraints"][index]
        constraint[field] = value
        if value == SOFT:
            constraint.pop("minDomains", None)  # which only hard constraints may have

    return edit
