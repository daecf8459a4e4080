"""Fixes of node selection: labels of the node, or changes of an entry, an expression, or the whole affinity of the pod."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scheduler_core.apimachinery.objects.affinity import PREFERRED, REQUIRED, least_missing, wrong_labels
from scheduler_core.apimachinery.objects.labels import (
    DOES_NOT_EXIST,
    EXISTS,
    GT,
    IN,
    LT,
    NOT_IN,
    NodeSelector,
    NodeSelectorTerm,
    Requirement,
)
from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.scheduler.framework.drafts import Change, Draft, Edit, Refusal, cut, edit_at
from scheduler_core.scheduler.plugins.helper.arguments import alike
from scheduler_core.scheduler.plugins.helper.fixes import HOSTNAME, label_node, with_argument

# Labels that a pod selects and no node has, with a node's labels of a similar spelling or another word for true.

YES = ("", "true", "yes", "enabled", "1")  # values that mean only that the label exists

Pair = tuple[str, str]


# Former names of labels of kube and its tools.
RENAMED = {
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "node-role.kubernetes.io/master": "node-role.kubernetes.io/control-plane",
}


def respelt(draft: Draft, refusal: Refusal, wrong: Mapping[str, str]) -> Iterator[Draft]:
    """Propose the node's label for one that no node has; for a hostname, in place of the node's name."""
    for key, value in wrong.items():
        if not _has_match(refusal, key, (value,)):
            for pair in find_meant(refusal.node, key, value):
                yield _asking_for(draft, (key, value), pair, _in_selector(key, pair))


def respelt_term(draft: Draft, refusal: Refusal, term: NodeSelectorTerm, index: int) -> Iterator[Draft]:
    """Propose the node's labels for expressions of a required term that no node matches, and the next number for a Gt or Lt."""
    for at, each in enumerate(term.expressions):
        is_single = (each.op == IN and len(each.values) == 1) or each.op == EXISTS
        value = each.values[0] if each.values else ""
        if each.op in (GT, LT) and value.isdecimal() and refusal.node.labels.get(each.key) == value:  # strict bounds
            near = replace(each, values=(str(int(value) + (1 if each.op == LT else -1)),))
            change = Change("selector-value", {"from": str(each), "to": str(near)})
            yield draft.with_pod(change, _in_term(index, at, (each.key, near.values[0])))
        asked = is_single and not each.matches(refusal.node.labels)
        if asked and not _has_match(refusal, each.key, each.values):
            for pair in find_meant(refusal.node, each.key, value):
                yield _asking_for(draft, (each.key, value), pair, _in_term(index, at, pair))


def _has_match(refusal: Refusal, key: str, values: Sequence[str]) -> bool:
    """Return whether a node has the label with one of the requested values."""
    return any(node.labels.get(key) in values for node in refusal.nodes.nodes)


def find_meant(node: Node, key: str, value: str) -> Iterator[Pair]:
    """Yield the labels of a node that a label no node has may stand for: a similar spelling, or the key's present name."""
    labels = node.labels
    if key in labels:
        names_node = key == HOSTNAME and value == node.name
        if names_node or alike(value, labels[key]) or _says_nothing(key, value, labels[key]):
            yield key, labels[key]
        return
    for other, has in sorted(labels.items()):
        same = has == value or (RENAMED.get(key) == other and has.lower() in YES and value.lower() in YES)
        if same and (RENAMED.get(key) == other or alike(key, other)):
            yield other, has


def _says_nothing(key: str, value: str, has: str) -> bool:
    """Return whether the label's presence is enough: both values mean yes, or the requested value repeats the key."""
    return has.lower() in YES and (value.lower() in YES or key.endswith(f"/{value}"))


def _asking_for(draft: Draft, was: Pair, to: Pair, edit: Edit) -> Draft:
    values = {"from": "=".join(was), "to": "=".join(to)}
    return draft.with_pod(Change("selector-value", values), edit)


def _in_selector(key: str, pair: Pair) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        selector = manifest["spec"]["nodeSelector"]
        del selector[key]
        selector[pair[0]] = pair[1]

    return edit


def _in_term(term: int, at: int, pair: Pair) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        affinity = manifest["spec"]["affinity"]["nodeAffinity"][REQUIRED]
        expression = affinity["nodeSelectorTerms"][term]["matchExpressions"][at]
        expression["key"] = pair[0]
        if expression.get("values"):
            expression["values"] = [pair[1]]

    return edit


NAME = "NodeAffinity"
_TERMS = "spec", "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms"
FACTS = (
    *("kubernetes.io/arch", "kubernetes.io/os", "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone"),
    *("topology.kubernetes.io/region",),
)


def propose(draft: Draft, refusal: Refusal, added: NodeSelector | None) -> Iterator[Draft]:
    """Propose fixes of node selection. `added`: the profile's own affinity."""
    pod, node = refusal.pod, refusal.node
    wrong, terms = wrong_labels(pod, node), pod.spec.node_affinity_required
    failing: list[Requirement] = [Requirement(key, IN, (value,)) for key, value in wrong.items()]
    for selector in (terms, added):
        if selector is not None and selector.terms:
            index, missing = least_missing(selector, node)
            if missing:
                failing += [r for r in selector.terms[index].expressions if not r.matches(node.labels)]
    labels = [None if _is_fact(node, each) or each.key in RENAMED else _label_for(each) for each in failing]
    if labels and all(label is not None for label in labels):
        yield label_node(draft, node, [label for label in labels if label is not None])
    if wrong:
        yield from respelt(draft, refusal, wrong)
        yield _remove_selectors(draft, wrong)
    if added is not None and least_missing(added, node)[1]:
        change = Change("configuration", {"plugin": NAME, "argument": "addedAffinity"})
        yield with_argument(draft, refusal, change, NAME, lambda args: args.pop("addedAffinity", None))
    if terms is not None and least_missing(terms, node)[1]:
        index = least_missing(terms, node)[0]
        if index >= 0:
            yield from respelt_term(draft, refusal, terms.terms[index], index)
        yield from _gave_way(draft, terms, node)


def _is_fact(node: Node, requirement: Requirement) -> bool:
    """Return whether the node's label is a fact about the machine or its location, which a new label would not change."""
    return requirement.key in FACTS and requirement.key in node.labels


def _label_for(requirement: Requirement) -> tuple[str, str | None] | None:
    """Return the label that would meet a requirement (value None: remove the label), or None if no label can."""
    if requirement.key == HOSTNAME:
        return None
    if requirement.op == IN and requirement.values:
        return requirement.key, requirement.values[0]
    if requirement.op == EXISTS:
        return requirement.key, "true"
    if requirement.op in (GT, LT) and requirement.values and requirement.values[0].isdecimal():
        return requirement.key, str(int(requirement.values[0]) + (1 if requirement.op == GT else -1))
    if requirement.op in (NOT_IN, DOES_NOT_EXIST):
        return requirement.key, None
    return None


def _remove_selectors(draft: Draft, wrong: dict[str, str]) -> Draft:
    """Propose to remove the non-matching entries of the pod's nodeSelector."""
    for key, value in wrong.items():
        draft = draft.with_pod(
            Change("selector", {"text": f"{key}={value}"}), edit_at("spec", "nodeSelector", **{key: None})
        )
    return draft


def _gave_way(draft: Draft, terms: NodeSelector, node: Node) -> Iterator[Draft]:
    """Propose to drop one requirement of the nearest term, or to turn the whole affinity into a preference."""
    index, missing = least_missing(terms, node)
    term = terms.terms[index]
    if missing == 1 and len(term.expressions) + len(term.fields) > 1:
        wrong = [r for r in term.expressions if not r.matches(node.labels)]
        for requirement in wrong:
            at = term.expressions.index(requirement)
            edit = cut(*_TERMS, index, "matchExpressions", at)
            yield draft.with_pod(Change("selector", {"text": str(requirement)}), edit)
    yield draft.with_pod(Change("soften", {"what": "nodeAffinity", "text": ""}), _prefer_nodes)


def _prefer_nodes(manifest: dict[str, Any]) -> None:
    affinity = manifest["spec"]["affinity"]["nodeAffinity"]
    for term in affinity.pop(REQUIRED)["nodeSelectorTerms"]:
        # A preference can't select a node by name.
        expressions = term.get("matchExpressions")
        if expressions:
            preference = {"weight": 100, "preference": {"matchExpressions": expressions}}
            affinity.setdefault(PREFERRED, []).append(preference)
