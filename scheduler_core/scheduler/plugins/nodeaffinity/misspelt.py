"""Labels that a pod asks for and no node has, beside those of a node that are spelt almost alike or only say yes in another way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.labels import IN, NodeSelectorTerm
from scheduler_core.scheduler.framework.drafts import Change, Draft, Edit, Refusal
from scheduler_core.scheduler.plugins.helper.fixes import HOSTNAME
from scheduler_core.scheduler.plugins.helper.spelling import alike
from scheduler_core.scheduler.plugins.nodeaffinity.arguments import REQUIRED

YES = ("", "true", "yes", "enabled", "1")  # values that say of a label no more than that it is there

Pair = tuple[str, str]


def respelt(draft: Draft, refusal: Refusal, wrong: Mapping[str, str]) -> Iterator[Draft]:
    """The pod asks for the node's label in place of one that no node has; of a hostname, in place of the node's name."""
    for key, value in wrong.items():
        if not _has_match(refusal, key, (value,)):
            for pair in _find_meant(refusal, key, value):
                yield _asking_for(draft, (key, value), pair, _in_selector(key, pair))


def respelt_term(draft: Draft, refusal: Refusal, term: NodeSelectorTerm, index: int) -> Iterator[Draft]:
    """The same for the expressions of a term of the required node affinity."""
    for at, each in enumerate(term.expressions):
        asked = each.op == IN and len(each.values) == 1 and not each.matches(refusal.node.labels)
        if asked and not _has_match(refusal, each.key, each.values):
            for pair in _find_meant(refusal, each.key, each.values[0]):
                yield _asking_for(draft, (each.key, each.values[0]), pair, _in_term(index, at, pair))


def _has_match(refusal: Refusal, key: str, values: Sequence[str]) -> bool:
    """Return whether a node has the label with one of the requested values."""
    return any(node.labels.get(key) in values for node in refusal.nodes.nodes)


def _find_meant(refusal: Refusal, key: str, value: str) -> Iterator[Pair]:
    """The labels of the node that were meant."""
    labels = refusal.node.labels
    if key in labels:
        names_node = key == HOSTNAME and value == refusal.node.name
        if names_node or alike(value, labels[key]) or _says_nothing(key, value, labels[key]):
            yield key, labels[key]
        return
    for other, has in sorted(labels.items()):
        if has == value and alike(key, other):
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
        expression["key"], expression["values"] = pair[0], [pair[1]]

    return edit
