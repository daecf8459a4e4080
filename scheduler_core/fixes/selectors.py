"""What a pod's node selector and required node affinity miss on a node, and how labels or the pod could give way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_core.fixes.draft import Draft, Edit
from scheduler_core.fixes.fix import Change
from scheduler_core.objects.labels import (
    DOES_NOT_EXIST,
    EXISTS,
    IN,
    NOT_IN,
    NodeSelector,
    NodeSelectorTerm,
    Requirement,
    accepts_field,
)
from scheduler_core.objects.node import Node
from scheduler_core.objects.pod import Pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def misses(pod: Pod, node: Node) -> int:
    """How many requirements keep the pod off the node; of several terms the one that misses least counts."""
    terms = pod.spec.node_affinity_required
    return len(_wrong_labels(pod, node)) + (0 if terms is None else _least(terms, node)[1])


def node_affinity(draft: Draft, pod: Pod, node: Node, added: NodeSelector | None) -> Iterator[Draft]:
    """Label the node, or let the pod's selector, expression or whole affinity give way."""
    wrong = _wrong_labels(pod, node)
    failing: list[Requirement] = [Requirement(key, IN, (value,)) for key, value in wrong.items()]
    terms = pod.spec.node_affinity_required
    for selector in (terms, added):
        if selector is not None and selector.terms:
            index, missing = _least(selector, node)
            if missing:
                failing += [r for r in selector.terms[index].expressions if not r.matches(node.labels)]
    labels = [_label_for(requirement, node) for requirement in failing]
    if labels and all(label is not None for label in labels):
        yield _labelled(draft, node, [label for label in labels if label is not None])
    if wrong:
        yield _reselected(draft, wrong)
    if terms is not None and _least(terms, node)[1]:
        yield from _gave_way(draft, terms, node)


def _wrong_labels(pod: Pod, node: Node) -> dict[str, str]:
    return {k: v for k, v in sorted(pod.spec.node_selector.items()) if node.labels.get(k) != v}


def _least(selector: NodeSelector, node: Node) -> tuple[int, int]:
    """The term that misses least, and how many of its requirements do."""
    counts = [_missing(term, node) for term in selector.terms]
    best = min(range(len(counts)), key=lambda i: (counts[i], i), default=-1)
    return (best, counts[best]) if best >= 0 else (-1, 1)


def _missing(term: NodeSelectorTerm, node: Node) -> int:
    if term.empty or term.errors:
        return 99
    expressions = sum(not requirement.matches(node.labels) for requirement in term.expressions)
    return expressions + sum(not accepts_field(field, node.name) for field in term.fields)


def _label_for(requirement: Requirement, node: Node) -> tuple[str, str | None] | None:
    """The label that would meet a requirement (value None: without it); None where that is not for a label to do."""
    if requirement.key == "kubernetes.io/hostname":
        return None
    if requirement.op == IN and requirement.values:
        return requirement.key, requirement.values[0]
    if requirement.op == EXISTS:
        return requirement.key, "true"
    if requirement.op in (NOT_IN, DOES_NOT_EXIST):
        return requirement.key, None
    return None


def _labelled(draft: Draft, node: Node, labels: list[tuple[str, str | None]]) -> Draft:
    for key, value in labels:
        change = Change("label", {"node": node.name, "key": key, "value": value, "was": node.labels.get(key)})
        draft = draft.with_node(change, node.manifest, _label_edit(key, value))
    return draft


def _label_edit(key: str, value: str | None) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        labels = manifest["metadata"].setdefault("labels", {})
        if value is None:
            labels.pop(key, None)
        else:
            labels[key] = value

    return edit


def set_label(draft: Draft, node: Node, key: str, value: str) -> Draft:
    """One label of a node, as a change."""
    return _labelled(draft, node, [(key, value)])


def _reselected(draft: Draft, wrong: dict[str, str]) -> Draft:
    """The wrong entries of the pod's nodeSelector left out."""
    for key, value in wrong.items():

        def edit(manifest: dict[str, Any], key: str = key) -> None:
            manifest["spec"]["nodeSelector"].pop(key, None)

        draft = draft.with_pod(Change("selector", {"text": f"{key}={value}"}), edit)
    return draft


def _gave_way(draft: Draft, terms: NodeSelector, node: Node) -> Iterator[Draft]:
    """One requirement left out of the nearest term, or the whole affinity made a preference."""
    index, missing = _least(terms, node)
    term = terms.terms[index]
    if missing == 1 and len(term.expressions) + len(term.fields) > 1:
        wrong = [r for r in term.expressions if not r.matches(node.labels)]
        for requirement in wrong:
            at = term.expressions.index(requirement)
            yield draft.with_pod(
                Change("selector", {"text": str(requirement)}), _without_expression(index, at)
            )
    yield draft.with_pod(Change("soften", {"what": "nodeAffinity", "text": ""}), _preferred_nodes)


def _without_expression(term: int, at: int) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        affinity = manifest["spec"]["affinity"]["nodeAffinity"][REQUIRED]
        del affinity["nodeSelectorTerms"][term]["matchExpressions"][at]

    return edit


def _preferred_nodes(manifest: dict[str, Any]) -> None:
    affinity = manifest["spec"]["affinity"]["nodeAffinity"]
    for term in affinity.pop(REQUIRED)["nodeSelectorTerms"]:
        # A preference may not ask for a node by its name.
        expressions = term.get("matchExpressions")
        if expressions:
            preference = {"weight": 100, "preference": {"matchExpressions": expressions}}
            affinity.setdefault(PREFERRED, []).append(preference)
