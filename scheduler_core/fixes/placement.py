"""Constraints among pods that give way: a spread made soft or looser, an affinity term made a preference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_core.fixes.diagnosis import Diagnosis
from scheduler_core.fixes.draft import Draft, Edit
from scheduler_core.fixes.fix import Change
from scheduler_core.fixes.room import MOST_DELETED, delete_pods
from scheduler_core.fixes.selectors import PREFERRED, REQUIRED, set_label
from scheduler_core.framework.status import Status
from scheduler_core.objects.labels import LabelSelector
from scheduler_core.plugins.interpodaffinity.explanation import repelling
from scheduler_core.plugins.podtopologyspread.explanation import figures

OWN_AFFINITY = "node(s) didn't match pod affinity rules"
OWN_ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"


def spread(draft: Draft, found: Diagnosis, row: int) -> Iterator[Draft]:
    """Label the node into a domain, allow the skew that it would make, or make one constraint soft."""
    state = found.state.get("PreFilterPodTopologySpread")
    told = [] if state is None else figures(state, row)
    constraints = found.pod.manifest["spec"].get("topologySpreadConstraints") or []
    hard = [i for i, raw in enumerate(constraints) if raw.get("whenUnsatisfiable") == "DoNotSchedule"]
    for index, each in zip(hard, told, strict=False):
        key, most, skew = each.constraint.topology_key, each.constraint.max_skew, each.skew
        if skew is None and each.domains and key != "kubernetes.io/hostname":
            yield set_label(draft, found.nodes.nodes[row], key, each.domains[0].name)
        if skew is not None and skew > most:
            change = Change("skew", {"key": key, "from": most, "to": skew}, skew / 1000)
            yield draft.with_pod(change, _constraint_edit(index, "maxSkew", skew))
        if skew is None or skew > most:
            change = Change("soften", {"what": "spread", "text": key})
            yield draft.with_pod(change, _constraint_edit(index, "whenUnsatisfiable", "ScheduleAnyway"))


def _constraint_edit(index: int, field: str, value: Any) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        constraint = manifest["spec"]["topologySpreadConstraints"][index]
        constraint[field] = value
        if value == "ScheduleAnyway":
            constraint.pop("minDomains", None)  # which only hard constraints may have

    return edit


def affinity(draft: Draft, found: Diagnosis, row: int, status: Status) -> Iterator[Draft]:
    """Make one of the pod's terms a preference; where existing pods refuse it, delete them."""
    if OWN_AFFINITY in status.reasons:
        yield from _softened(draft, "podAffinity", OWN_AFFINITY)
    elif OWN_ANTI_AFFINITY in status.reasons:
        yield from _softened(draft, "podAntiAffinity", OWN_ANTI_AFFINITY)
    elif not draft.changes:
        rules = found.state.get("PreFilterInterPodAffinity")
        terms = () if rules is None else repelling(rules, found.nodes, row)
        pods = list({pod.key: pod for term in terms for pod in term.pods}.values())
        if pods and len(pods) <= MOST_DELETED:
            yield delete_pods(draft, found.nodes.names[row], pods)


def _softened(draft: Draft, what: str, reason: str) -> Iterator[Draft]:
    manifest = draft.pod or draft.original
    terms = (manifest["spec"].get("affinity") or {}).get(what, {}).get(REQUIRED) or []
    for index, term in enumerate(terms):
        selector = LabelSelector.of(term.get("labelSelector"))
        text = ", ".join(str(requirement) for requirement in selector.requirements)
        values = {"what": what, "text": f"{text} @ {term.get('topologyKey', '')}", "reason": reason}
        yield draft.with_pod(Change("soften", values), _preference(what, index))


def _preference(what: str, index: int) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        rules = manifest["spec"]["affinity"][what]
        term = rules[REQUIRED].pop(index)
        if not rules[REQUIRED]:
            del rules[REQUIRED]
        rules.setdefault(PREFERRED, []).append({"weight": 100, "podAffinityTerm": term})

    return edit
