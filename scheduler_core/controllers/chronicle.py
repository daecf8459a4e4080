"""The chronicle: a few figures of some objects, kept as they change, so that they can be shown over virtual time.

It is no component of kube: what `kubectl get --watch` would print, kept. It writes nothing to the API server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.watch import WatchEvent
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.surroundings import Figures


class Chronicle(Controller):
    """Keeps levels of replica sets, budgets, nodes and leases."""

    name = "chronicle"
    component = "chronicle"
    watches = ("ReplicaSet", "PodDisruptionBudget", "Node", "Lease")
    always_on = True

    def on_watch(self, world: World, event: WatchEvent) -> None:
        key = f"{event.kind}/{event.namespace}/{event.name}"
        figures = () if event.new is None else _FIGURES[event.kind](event.new)
        if key not in world.surroundings.levels and (event.kind == "Node" or not figures):
            if event.old is None or _FIGURES[event.kind](event.old) == figures:
                return
            world.surroundings.note_level(key, 0, _FIGURES[event.kind](event.old))
        world.surroundings.note_level(key, world.now, figures)


def _replica_set(manifest: Manifest) -> Figures:
    status = manifest.get("status") or {}
    return (
        ("desired", int((manifest.get("spec") or {}).get("replicas") or 0)),
        ("pods", int(status.get("replicas") or 0)),
        ("ready", int(status.get("readyReplicas") or 0)),
    )


def _budget(manifest: Manifest) -> Figures:
    status = manifest.get("status") or {}
    return (
        ("healthy", int(status.get("currentHealthy") or 0)),
        ("needed", int(status.get("desiredHealthy") or 0)),
        ("allowed", int(status.get("disruptionsAllowed") or 0)),
    )


def _node(manifest: Manifest) -> Figures:
    conditions = (manifest.get("status") or {}).get("conditions") or ()
    return tuple((str(c.get("type")), str(c.get("status"))) for c in conditions)


def _lease(manifest: Manifest) -> Figures:
    return (("holder", str((manifest.get("spec") or {}).get("holderIdentity") or "")),)


_FIGURES: Mapping[str, Callable[[Manifest], Figures]] = {
    "ReplicaSet": _replica_set,
    "PodDisruptionBudget": _budget,
    "Node": _node,
    "Lease": _lease,
}
