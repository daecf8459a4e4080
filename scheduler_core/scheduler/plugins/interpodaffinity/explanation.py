"""Explanation of InterPodAffinity on a node: each required term with the pods that match, and existing pods whose terms reject."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scheduler_core.apimachinery.objects import LabelSelector, Pod
from scheduler_core.apimachinery.objects.affinity import REQUIRED, AffinityTerm, affinity_terms
from scheduler_core.scheduler.cache.pod_classes import AnyMeasure
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.explanation import (
    Below,
    Code,
    Explanation,
    Paragraph,
    Part,
    Parts,
    PodName,
    Row,
    Source,
    Table,
    Words,
    WrittenValue,
    gettext_noop,
)
from scheduler_core.scheduler.framework.plugin import Evidence
from scheduler_core.scheduler.plugins.interpodaffinity.counts import all_terms_measure, topology
from scheduler_core.scheduler.plugins.interpodaffinity.filtering import Rules

# Requirements of pod affinity that nothing meets: topology keys that no node has, pods that run in other namespaces.


def affinity_evidence(pod: Pod, nodes: NodeTable) -> Evidence:
    """Return `missingKeys`, and `elsewhere`: namespaces outside a term's scope with pods that match the term."""
    terms = (pod.manifest["spec"].get("affinity") or {}).get("podAffinity", {}).get(REQUIRED) or []
    keys = dict.fromkeys(str(term.get("topologyKey") or "") for term in terms)
    missing = [key for key in keys if not any(key in node.labels for node in nodes.nodes)]
    elsewhere: set[str] = set()
    for term in terms:
        if term.get("namespaceSelector") is not None:
            continue
        selector, searched = (LabelSelector.of(term.get("labelSelector")), term.get("namespaces") or [pod.namespace])
        table = nodes.pod_table
        found = table.list_classes(lambda each, selector=selector: selector.matches(each.labels))  # type: ignore[misc]
        homes = {table.classes.classes[number].namespace for number in found}
        elsewhere |= set() if homes & set(searched) else homes
    return {"missingKeys": missing, "elsewhere": sorted(elsewhere)}


SHOWN_PODS = 5

_COLUMNS = gettext_noop("term"), gettext_noop("matching pods in the topology domain")
_AFFINITY, _ANTI = Words("affinity"), Words("anti-affinity")
_EXISTING = Words("anti-affinity of an existing pod")
_NO_POD, _NO_LABEL = Words("no pod"), Words("the node has no such label")
_FIRST_OF_ITS_GROUP = Words(
    "No pod matches yet, but the pod matches its own terms. The first pod of a group can run on any node."
)


@dataclass(frozen=True, slots=True)
class TermFigures:
    """A term, the domain of the node (None: the node lacks the label), and the matching pods there, by name."""

    term: AffinityTerm
    domain: str | None
    pods: tuple[Pod, ...]


def term_figures(nodes: NodeTable, row: int, term: AffinityTerm) -> TermFigures:
    """Return the figures of a term of the incoming pod."""
    measure = all_terms_measure(("explained", (term,)), (term,))
    return TermFigures(
        term, _domain(nodes, row, term), tuple(list_counted_pods(nodes, measure, term.topology_key, row))
    )


def repelling(rules: Rules, nodes: NodeTable, row: int) -> Iterator[TermFigures]:
    """Yield terms of existing pods that reject the incoming pod, each with its pod, for the first pods around the node."""
    for tally in rules.existing:
        for pod in list_counted_pods(nodes, tally.measure, tally.topology.key, row)[:SHOWN_PODS]:
            for term in affinity_terms(pod).required_anti:
                if term.topology_key == tally.topology.key and rules.incoming.is_meant(term):
                    yield TermFigures(term, _domain(nodes, row, term), (pod,))


def _domain(nodes: NodeTable, row: int, term: AffinityTerm) -> str | None:
    return nodes.nodes[row].labels.get(term.topology_key)


def list_counted_pods(nodes: NodeTable, measure: AnyMeasure, topology_key: str, row: int) -> list[Pod]:
    """Return the pods that a measure counts in the domain of a row, by name."""
    table, codes = nodes.pod_table, topology(nodes, topology_key).codes
    if codes[row] == 0:
        return []
    counted = (table.classes.weights(measure)[table.cls] != 0) & (codes[table.node] == codes[row])
    pods = (table.pods[place] for place in np.flatnonzero(counted).tolist())
    return sorted((pod for pod in pods if pod is not None), key=lambda pod: pod.key)


def explain_terms(pod: Pod, rules: Rules, nodes: NodeTable, row: int) -> Explanation:
    """Explain the terms, with links to the terms and to the node's label."""
    affinity = [term_figures(nodes, row, term) for term in rules.terms]
    anti = [term_figures(nodes, row, term) for term in rules.anti_terms]
    node = nodes.names[row]
    rows = [
        _row(_AFFINITY, figures, node, _of_term(pod, "podAffinity", i), bad=not figures.pods)
        for i, figures in enumerate(affinity)
    ]
    rows += [
        _row(_ANTI, figures, node, _of_term(pod, "podAntiAffinity", i), bad=bool(figures.pods))
        for i, figures in enumerate(anti)
    ]
    rows += [_existing_row(figures, node) for figures in repelling(rules, nodes, row)]
    if not rows:
        return ()
    table = Table(_COLUMNS, tuple(rows))
    if rules.matches_itself and not any(tally.total for tally in rules.affinity):
        return Paragraph((_FIRST_OF_ITS_GROUP,), "plain"), table
    return (table,)


def _of_term(pod: Pod, side: str, i: int) -> Source:
    return Source("Pod", pod.key, f"spec.affinity.{side}.requiredDuringSchedulingIgnoredDuringExecution[{i}]")


def _row(side: Words, figures: TermFigures, node: str, source: Source, bad: bool) -> Row:
    shown, more = figures.pods[:SHOWN_PODS], len(figures.pods) - SHOWN_PODS
    pods: list[Part] = [f"{len(figures.pods)} "]
    for pod in shown:
        pods += [PodName(pod.key), " "]
    if more > 0:
        pods.append(f"+{more}")
    return Row((_term(side, figures, node, source), tuple(pods)), bad)


def _existing_row(figures: TermFigures, node: str) -> Row:
    pods = tuple(PodName(pod.key) for pod in figures.pods)
    return Row((_term(_EXISTING, figures, node), pods), bad=True)


def _term(side: Words, figures: TermFigures, node: str, source: Source | None = None) -> Parts:
    term = figures.term
    selector = ", ".join(str(requirement) for requirement in term.selector.requirements)
    where: Parts = (f"{term.topology_key}: ", _NO_LABEL)
    if figures.domain is not None:
        label = Source("Node", node, f"metadata.labels[{term.topology_key}]")
        where = (WrittenValue(f"{term.topology_key} = {figures.domain}", label),)
    if source is not None and not term.selector.nothing:
        return side, " ", WrittenValue(selector or "*", source), Below(where)
    return side, " ", Code(_NO_POD if term.selector.nothing else selector or "*"), Below(where)
