"""Draft: edited copies of manifests that together are one command. Nothing is proven of it yet."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from scheduler_core.api.requests.updates import fits_in_place
from scheduler_core.commands import ApplyObjects, Command, DeleteObjects, Ref
from scheduler_core.fixes.fix import Change
from scheduler_core.objects.spec import canonical

Manifest = Mapping[str, Any]
Edit = Callable[[dict[str, Any]], None]  # changes a manifest of its own in place


@dataclass(frozen=True, slots=True)
class Draft:
    """Changes so far. `pod` and `nodes` hold whole manifests where edited; `target` is the node that it aims at ("" any)."""

    original: Manifest  # of the pod
    changes: tuple[Change, ...] = ()
    pod: Manifest | None = None
    nodes: tuple[tuple[str, Manifest], ...] = ()
    deleted: tuple[Ref, ...] = ()
    target: str = ""

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

    @property
    def recreated(self) -> bool:
        """Whether the pod can't be changed in place and is made anew."""
        return self.pod is not None and not fits_in_place(self.original, self.pod)

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

    def without_pods(self, change: Change, refs: tuple[Ref, ...]) -> Draft:
        """Pods deleted; only a draft that changes nothing else can do so."""
        return replace(self, changes=(*self.changes, change), deleted=refs)

    def command(self) -> Command:
        """The one command that does it all."""
        if self.deleted:
            return DeleteObjects(self.deleted)
        edited = [manifest for _, manifest in self.nodes]
        return ApplyObjects(tuple([_bare(self.pod)] if self.pod is not None else []) + tuple(edited))


def _bare(pod: Manifest) -> Manifest:
    """A pod without its status, which is the cluster's to write."""
    return {name: value for name, value in pod.items() if name != "status"}
