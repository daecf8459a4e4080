"""Required inter-pod affinity of one node in figures and names, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from scheduler_core.cluster.pod_classes import AnyMeasure
from scheduler_core.cluster.table import NodeTable
from scheduler_core.objects.affinity import AffinityTerm, affinity_terms
from scheduler_core.objects.pod import Pod
from scheduler_core.plugins.interpodaffinity.counts import all_terms_measure, topology
from scheduler_core.plugins.interpodaffinity.filtering import Rules

TOLD_PODS = 5


def told_rules(rules: Rules, nodes: NodeTable, row: int) -> dict[str, Any]:
    """Every term with the pods that match it around the node; of existing pods the terms that keep the pod away."""
    everything = all_terms_measure(("told", rules.terms), rules.terms)
    return {
        "affinity": [_told(nodes, row, term) for term in rules.terms],
        "matchesItself": rules.matches_itself,
        "matchAll": sum(tally.total for tally in rules.affinity),
        "matchAllNames": _names(_pods(nodes, everything, None)) if rules.terms else [],
        "antiAffinity": [_told(nodes, row, term) for term in rules.anti_terms],
        "existing": list(_existing(rules, nodes, row)),
    }


def _told(nodes: NodeTable, row: int, term: AffinityTerm) -> dict[str, Any]:
    around = _pods(nodes, all_terms_measure(("told", (term,)), (term,)), (term.topology_key, row))
    return {**_written(nodes, row, term), "pods": len(around), "names": _names(around)}


def _existing(rules: Rules, nodes: NodeTable, row: int) -> Iterator[dict[str, Any]]:
    """Of the first few pods around the node that refuse the incoming one: the terms that do."""
    for tally in rules.existing:
        around = _pods(nodes, tally.measure, (tally.topology.key, row))
        for pod in around[:TOLD_PODS]:
            for term in affinity_terms(pod).required_anti:
                if term.topology_key == tally.topology.key and rules.incoming.is_meant(term):
                    yield {**_written(nodes, row, term), "pod": pod.key, "pods": len(around)}


def _written(nodes: NodeTable, row: int, term: AffinityTerm) -> dict[str, Any]:
    return {
        "topologyKey": term.topology_key,
        "domain": nodes.nodes[row].labels.get(term.topology_key),
        "selector": None if term.selector.nothing else [str(r) for r in term.selector.requirements],
        "namespaces": list(term.namespaces),
        "allNamespaces": term.namespace_selector.empty,
    }


def _pods(nodes: NodeTable, measure: AnyMeasure, around: tuple[str, int] | None) -> list[Pod]:
    """The pods that a measure counts, by name: everywhere, or those in the domain of a topology key and a row."""
    table = nodes.pod_table
    counted = table.classes.weights(measure)[table.cls] != 0
    if around is not None:
        codes = topology(nodes, around[0]).codes
        code = codes[around[1]]
        if code == 0:
            return []
        counted &= codes[table.node] == code
    places = np.flatnonzero(counted).tolist()
    found = (table.pods[place] for place in places)
    return sorted((pod for pod in found if pod is not None), key=lambda pod: pod.key)


def _names(pods: list[Pod]) -> list[str]:
    return [pod.key for pod in pods[:TOLD_PODS]]
