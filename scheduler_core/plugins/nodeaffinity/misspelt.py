"""Entries of a nodeSelector that no node has, beside labels that are spelt almost alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any

from scheduler_core.framework.drafts import Change, Draft, Edit, Refusal
from scheduler_core.plugins.helper.fixes import HOSTNAME

ALIKE = 0.85


def respelt(draft: Draft, refusal: Refusal, wrong: Mapping[str, str]) -> Iterator[Draft]:
    """The pod asks for the node's label in place of one that no node has; of a hostname, in place of the node's name."""
    labels = refusal.node.labels
    for key, value in wrong.items():
        if any(node.labels.get(key) == value for node in refusal.nodes.nodes):
            continue
        names_node = key == HOSTNAME and value == refusal.node.name
        if key in labels and (names_node or _alike(value, labels[key])):
            yield _asking_for(draft, key, value, key, labels[key])
        elif key not in labels:
            for other, has in sorted(labels.items()):
                if has == value and _alike(key, other):
                    yield _asking_for(draft, key, value, other, has)


def _alike(one: str, other: str) -> bool:
    """Misspelt, not numbered: digits tell names apart."""
    if [each for each in one if each.isdigit()] != [each for each in other if each.isdigit()]:
        return False
    return SequenceMatcher(None, one.lower(), other.lower()).ratio() >= ALIKE


def _asking_for(draft: Draft, key: str, value: str, other: str, has: str) -> Draft:
    values = {"from": f"{key}={value}", "to": f"{other}={has}"}
    return draft.with_pod(Change("selector-value", values), _edit(key, other, has))


def _edit(key: str, other: str, has: str) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        selector = manifest["spec"]["nodeSelector"]
        del selector[key]
        selector[other] = has

    return edit
