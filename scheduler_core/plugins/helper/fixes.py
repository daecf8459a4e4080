"""Changes that several plugins propose: pods deleted, a node labelled, a node added like one that exists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from scheduler_core.cluster.table import NodeTable
from scheduler_core.framework.drafts import Change, Draft, Edit, Refusal
from scheduler_core.objects.node import Node
from scheduler_core.objects.pod import Pod

HOSTNAME = "kubernetes.io/hostname"
MOST_DELETED = 5

_OF_THE_MACHINE = ("podCIDR", "podCIDRs", "providerID", "unschedulable")
_OF_ITS_STATE = ("capacity", "allocatable", "conditions", "images")


def delete_pods(draft: Draft, node: str, pods: Sequence[Pod], amounts: Iterable[str] = ()) -> Draft:
    """`amounts` say what of a node's resources is freed for the pod; none where they are in the way for another reason."""
    values = {"node": node, "amounts": list(amounts), "pods": [pod.key for pod in pods]}
    named = tuple((pod.namespace, pod.name) for pod in pods)
    return draft.without_pods(Change("free", values, float(len(pods))), named)


def label_node(draft: Draft, node: Node, labels: Iterable[tuple[str, str | None]]) -> Draft:
    """Labels set, or taken away where the value is None."""
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


def add_node(draft: Draft, refusal: Refusal) -> Iterator[Draft]:
    """A new node like the one that refuses, where that would be large enough when empty; only where nothing else is changed."""
    if draft.changes or not _large_enough(refusal):
        return
    like = refusal.node
    name = _free_name(refusal.nodes, like.name)

    def edit(manifest: dict[str, Any]) -> None:
        labels = dict(manifest["metadata"].get("labels") or {})
        if HOSTNAME in labels:
            labels[HOSTNAME] = name
        spec = {k: v for k, v in (manifest.get("spec") or {}).items() if k not in _OF_THE_MACHINE}
        status = {k: v for k, v in (manifest.get("status") or {}).items() if k in _OF_ITS_STATE}
        manifest["metadata"] = {"name": name, "labels": labels}
        manifest["spec"], manifest["status"] = spec, status

    change = Change("node", {"node": name, "like": like.name})
    yield draft.with_node(change, like.manifest, edit).aimed_at(name)


def _large_enough(refusal: Refusal) -> bool:
    nodes, requests = refusal.nodes, refusal.pod.requests
    for resource in ("cpu", "memory", "ephemeral-storage", *(name for name, _ in requests.scalar)):
        column, wanted = nodes.resources.columns.get(resource), requests.get(resource)
        has = column is not None and column < nodes.allocatable.shape[1]
        if wanted and (not has or wanted > int(nodes.allocatable[refusal.row, column or 0])):
            return False
    return True


def _free_name(nodes: NodeTable, like: str) -> str:
    number = 2
    while nodes.row(f"{like[:240]}-copy{number}") is not None:
        number += 1
    return f"{like[:240]}-copy{number}"
