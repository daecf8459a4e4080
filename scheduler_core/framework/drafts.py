"""Drafts of fixes: edited copies of manifests that might let a pod fit on a node that refused it. Nothing is proven of them here."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from scheduler_core.objects.spec import canonical

if TYPE_CHECKING:
    from scheduler_core.cluster.table import NodeTable
    from scheduler_core.framework.cycle_state import CycleState
    from scheduler_core.framework.status import Status
    from scheduler_core.objects.node import Node
    from scheduler_core.objects.pod import Pod

Manifest = Mapping[str, Any]
Edit = Callable[[dict[str, Any]], None]  # changes a manifest of its own in place

# Kinds of changes, the least invasive first: what stands in a pod's own manifest, then a node's, then what takes something away.
KINDS = (
    "gates",
    "scheduler",
    "uncordon",
    "toleration",
    "label",
    "selector",
    "soften",
    "skew",
    "devices",
    "device-toleration",
    "device-class",
    "device-selector",
    "device-constraint",
    "taint",
    "port",
    "request",
    "free",
    "node",
)


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is changed. `kind` is one of KINDS, `values` its JSON-safe particulars, `amount` how much of it (0..1)."""

    kind: str
    values: Mapping[str, Any]
    amount: float = 0.0

    @property
    def cost(self) -> tuple[int, float]:
        return KINDS.index(self.kind), self.amount

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "values": dict(self.values)}


@dataclass(frozen=True, slots=True)
class Draft:
    """Changes so far. `pod`, `nodes` and `others` hold whole manifests where edited; `target` is the node that it aims at ("" any).

    `others` can't be changed in place, and are made anew.

    `deleted` are pods (namespace, name) to be deleted.
    """

    original: Manifest  # of the pod
    changes: tuple[Change, ...] = ()
    pod: Manifest | None = None
    nodes: tuple[tuple[str, Manifest], ...] = ()
    deleted: tuple[tuple[str, str], ...] = ()
    target: str = ""
    others: tuple[Manifest, ...] = ()

    @property
    def cost(self) -> tuple[int, int, float]:
        """Fewer changes first, then the less invasive ones, then the smaller ones."""
        costs = [change.cost for change in self.changes]
        return len(costs), sum(rank for rank, _ in costs), sum(amount for _, amount in costs)

    @property
    def fingerprint(self) -> str:
        """Equal for drafts that change the same."""
        return canonical([change.to_json() for change in self.changes])

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(change.kind for change in self.changes)

    def aimed_at(self, node: str) -> Draft:
        return replace(self, target=node)

    def with_pod(self, change: Change, edit: Edit) -> Draft:
        """One more change of the pod's manifest."""
        manifest = copy.deepcopy(dict(self.pod or self.original))
        edit(manifest)
        return replace(self, changes=(*self.changes, change), pod=manifest)

    def with_node(self, change: Change, node: Manifest, edit: Edit) -> Draft:
        """One more change of a node's manifest, or a node more."""
        manifest = copy.deepcopy(dict(node))
        name = str(manifest["metadata"]["name"])
        known = dict(self.nodes)
        if name in known:
            manifest = copy.deepcopy(dict(known[name]))
        edit(manifest)
        known[str(manifest["metadata"]["name"])] = manifest
        return replace(self, changes=(*self.changes, change), nodes=tuple(known.items()))

    def with_object(self, change: Change, manifest: Manifest) -> Draft:
        """One more change: another object as it is to be."""
        metadata = manifest["metadata"]
        kept = tuple(
            other
            for other in self.others
            if (other["kind"], other["metadata"].get("namespace"), other["metadata"]["name"])
            != (manifest["kind"], metadata.get("namespace"), metadata["name"])
        )
        return replace(self, changes=(*self.changes, change), others=(*kept, manifest))

    def without_pods(self, change: Change, pods: tuple[tuple[str, str], ...]) -> Draft:
        """Pods deleted; only a draft that changes nothing else can do so."""
        return replace(self, changes=(*self.changes, change), deleted=pods)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A row of the snapshot that refuses the pod, with the state that the filters left."""

    pod: Pod
    nodes: NodeTable
    state: CycleState
    row: int
    status: Status

    @property
    def node(self) -> Node:
        return self.nodes.nodes[self.row]
