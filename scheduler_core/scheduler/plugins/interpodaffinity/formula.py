"""The formula of InterPodAffinity's score: the incoming pod's preferred terms, and terms of existing pods that match the pod.

kube: plugins/interpodaffinity/scoring.go @ v1.34.1
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from scheduler_core.apimachinery.objects.affinity import PREFERRED, AffinityTerm, AffinityTerms
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.explanation import Aside, Code, Part, Parts, Source, Words, gettext_noop, phrase
from scheduler_core.scheduler.framework.formula import (
    NODE,
    Formula,
    Line,
    Value,
    constant,
    minus,
    share,
    times,
    total,
    whole,
)
from scheduler_core.scheduler.framework.plugin import MAX_NODE_SCORE, Rows, Scores
from scheduler_core.scheduler.plugins.helper import normalize
from scheduler_core.scheduler.plugins.interpodaffinity.counts import Incoming, all_terms_measure, topology

_WEIGHT = gettext_noop("weight of the term")
_HARD = gettext_noop("hardPodAffinityWeight of the plugin")
_PODS = gettext_noop("pods in the topology domain that match the term")
_EXISTING = gettext_noop("terms of pods in the topology domain that match the pod")
_NOTHING = gettext_noop("no term counts here")
_OF_EXISTING = Words("of existing pods")
_SPAN = phrase("difference between the highest and the lowest score")

_COUNTED = phrase("Each pod in the topology domain adds the weight of every preferred term that it matches.")
_SYMMETRIC = phrase(
    "Terms of existing pods count as well: preferred terms with their weight, required terms with "
    "hardPodAffinityWeight."
)


def score_formula(
    pod: Pod,
    nodes: NodeTable,
    row: int,
    incoming: Incoming,
    terms: tuple[tuple[AffinityTerm, ...], tuple[AffinityTerm, ...]],
    hard_weight: int,
) -> Formula:
    """Return the formula of a node's score. `terms`: the pod's preferred affinity and anti-affinity, with resolved namespaces."""
    liked, disliked = terms
    lines = [
        *_own(pod, nodes, row, liked, "podAffinity", 1),
        *_own(pod, nodes, row, disliked, "podAntiAffinity", -1),
        *_of_existing(nodes, row, incoming, hard_weight),
    ]
    score = total(*lines) if lines else Value(0, _NOTHING)
    return Formula((*lines, Line(NODE, score)), (_COUNTED, _SYMMETRIC))


def _own(pod: Pod, nodes: NodeTable, row: int, terms: Iterable[AffinityTerm], kind: str, sign: int) -> Iterator[Line]:
    for i, term in enumerate(terms):
        source = Source("Pod", pod.key, f"spec.affinity.{kind}.{PREFERRED}[{i}].weight")
        where = topology(nodes, term.topology_key)
        counts = nodes.pod_table.counts(all_terms_measure(("explained", (term,)), (term,)))
        count = Value(int(where.sums(counts)[where.codes[row]]), _PODS)
        yield Line(_describe_term(nodes, row, term), times(Value(sign * term.weight, _WEIGHT, source=source), count))


def _of_existing(nodes: NodeTable, row: int, incoming: Incoming, hard_weight: int) -> Iterator[Line]:
    """Yield a line per distinct term and weight of existing pods."""
    table = nodes.pod_table
    counted: Counter[tuple[AffinityTerm, int, bool]] = Counter()
    for key in table.classes.soft_keys:
        codes = topology(nodes, key).codes
        if codes[row] == 0:
            continue
        near = np.bincount(table.cls[codes[table.node] == codes[row]])
        for number in np.flatnonzero(near).tolist():
            terms = table.classes.terms[table.classes.classes[number].terms]
            for term, weight, hard in _soft(terms, hard_weight):
                if term.topology_key == key and incoming.is_meant(term):
                    counted[term, weight, hard] += int(near[number])
    for (term, weight, hard), pods in counted.items():
        name = (*_describe_term(nodes, row, term), " ", Aside((_OF_EXISTING,)))
        yield Line(name, times(Value(weight, _HARD if hard else _WEIGHT), Value(pods, _EXISTING)))


def _soft(terms: AffinityTerms, hard_weight: int) -> Iterator[tuple[AffinityTerm, int, bool]]:
    for term in terms.preferred:
        yield term, term.weight, False
    for term in terms.preferred_anti:
        yield term, -term.weight, False
    for term in terms.required if hard_weight > 0 else ():
        yield term, hard_weight, True


def _describe_term(nodes: NodeTable, row: int, term: AffinityTerm) -> Parts:
    selector = ", ".join(str(requirement) for requirement in term.selector.requirements)
    domain = nodes.nodes[row].labels.get(term.topology_key)
    where: Part = term.topology_key if domain is None else f"{term.topology_key} = {domain}"
    return Code(selector or "*"), " ", Aside((where,))


def normalization(nodes: NodeTable, rows: Rows, scores: Scores, i: int) -> Formula:
    """Return the formula by which normalized_scores computes the `i`th row's score."""
    highest, lowest = normalize.highest_value(nodes, rows, scores), normalize.lowest_value(nodes, rows, scores)
    if highest.number == lowest.number:
        return Formula((Line(normalize.NORMALIZED, constant(0)),), (normalize.ALIKE,))
    span = Line(_SPAN, minus(highest, lowest))
    part = share(minus(normalize.raw_value(scores, i), lowest), span)
    return Formula(
        (span, Line(normalize.NORMALIZED, whole(times(constant(float(MAX_NODE_SCORE)), part)))), (normalize.BETWEEN,)
    )
