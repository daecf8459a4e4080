"""Spread constraints that give way: the node labelled into a domain, a larger skew allowed, or a constraint made soft."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.framework.drafts import Change, Draft, Edit, Refusal
from scheduler_core.plugins.helper.fixes import add_node, label_node, with_argument
from scheduler_core.plugins.podtopologyspread.constraints import HARD, HONOR, HOSTNAME, NAME, SOFT
from scheduler_core.plugins.podtopologyspread.explanation import ConstraintFigures


def propose(draft: Draft, refusal: Refusal, constraints: Sequence[ConstraintFigures]) -> Iterator[Draft]:
    raw = refusal.pod.manifest["spec"].get("topologySpreadConstraints") or []
    hard = [i for i, constraint in enumerate(raw) if constraint.get("whenUnsatisfiable") == HARD]
    for index, figures in zip(hard, constraints, strict=False):
        key, most, skew = figures.constraint.topology_key, figures.constraint.max_skew, figures.skew
        if skew is None and figures.domains and key != HOSTNAME:
            yield label_node(draft, refusal.node, [(key, figures.domains[0].name)])
        if skew is None or skew > most:
            yield from _counting_otherwise(draft, index, raw[index], key)
        if figures.constraint.min_domains > figures.count > 0:
            values = {"key": key, "from": figures.constraint.min_domains, "to": figures.count}
            yield draft.with_pod(
                Change("min-domains", values), _constraint_edit(index, "minDomains", figures.count)
            )
        if skew is not None and skew > most:
            change = Change("skew", {"key": key, "from": most, "to": skew}, skew / 1000)
            yield draft.with_pod(change, _constraint_edit(index, "maxSkew", skew))
        if skew is None or skew > most:
            change = Change("soften", {"what": "spread", "text": key})
            yield draft.with_pod(change, _constraint_edit(index, "whenUnsatisfiable", SOFT))
    if not hard and constraints:
        change = Change("configuration", {"plugin": NAME, "argument": "defaultConstraints"})
        yield with_argument(draft, refusal, change, NAME, _no_defaults)
    yield from add_node(draft, refusal)


def _no_defaults(args: dict[str, Any]) -> None:
    args.pop("defaultConstraints", None)
    args["defaultingType"] = "System"


def _counting_otherwise(draft: Draft, index: int, raw: Mapping[str, Any], key: str) -> Iterator[Draft]:
    """Only the nodes counted that the pod could be on; else a domain without any keeps the minimum at 0."""
    for field, default in (("nodeTaintsPolicy", "Ignore"), ("nodeAffinityPolicy", HONOR)):
        if (raw.get(field) or default) != HONOR:
            change = Change("policy", {"key": key, "field": field, "to": HONOR})
            yield draft.with_pod(change, _constraint_edit(index, field, HONOR))


def _constraint_edit(index: int, field: str, value: Any) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        constraint = manifest["spec"]["topologySpreadConstraints"][index]
        constraint[field] = value
        if value == SOFT:
            constraint.pop("minDomains", None)  # which only hard constraints may have

    return edit
