"""DaemonSets: one pod on each node that is to have one, and its rolling updates.

DEVIATION: the annotation deprecated.daemonset.template.generation is not kept; which pods are new is known by the hash of their revision.

kube: pkg/controller/daemon @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.kube_events import WARNING
from scheduler_core.apiserver.status import Refused
from scheduler_core.apiserver.watch import ADDED, WatchEvent
from scheduler_core.base.clock.agenda import MILLISECOND, SECOND
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.workloads import history
from scheduler_core.controllers.workloads.daemonsets.daemons import FAILED, SUCCEEDED, Daemons
from scheduler_core.controllers.workloads.daemonsets.manage import manage
from scheduler_core.controllers.workloads.daemonsets.placement import Placement
from scheduler_core.controllers.workloads.daemonsets.rolling import roll
from scheduler_core.controllers.workloads.owners import Owner, claim_pods
from scheduler_core.controllers.workloads.pods import POD_REASONS, soonest_available
from scheduler_core.controllers.workloads.watching import WorkloadController

_SELECTS_ALL = "SelectingAll"
_PER_POD = MILLISECOND // 10


class DaemonSetController(WorkloadController):
    """Keeps a DaemonSet's pods."""

    name = "daemonset-controller"
    component = "daemonset-controller"
    kind = "DaemonSet"
    watches = ("DaemonSet", "Pod", "Node")
    event_reasons = (*POD_REASONS, FAILED, SUCCEEDED, _SELECTS_ALL)

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == "Node":
            self._hear_of_node(world, event)
        else:
            super().on_watch(world, event)

    def patience(self, world: World, key: str) -> int:
        namespace, _, name = key.partition("/")
        manifest = world.store.get(self.kind, namespace, name) or {}
        counted = int((manifest.get("status") or {}).get("desiredNumberScheduled") or 0)
        return max(world.cluster.reconcile_latency, min(counted * _PER_POD, SECOND))

    def _hear_of_node(self, world: World, event: WatchEvent) -> None:
        """Enqueues the DaemonSets for which the node is another than it was.

        kube: syncNodeUpdate; a deleted node concerns all, as their status counts it
        """
        old, new = event.old_node, event.new_node
        if old is not None and new is not None and old.labels == new.labels and old.taints == new.taints:
            return
        for manifest in world.store.list(self.kind):
            owner = Owner.of(manifest)
            if event.type == ADDED or old is None or new is None:
                self.enqueue(world, owner.key)
                continue
            placement = Placement.of(owner)
            if placement.on(old) != placement.on(new):
                self.enqueue(world, owner.key)

    def sync(self, world: World, key: str) -> str:
        owner = Owner.found(world, self.kind, key)
        if owner is None or owner.selector.errors or owner.deleting:
            return ""
        if owner.selector.empty:
            text = "This daemon set is selecting all pods. A non-empty selector is required."
            self.event(world, WARNING, _SELECTS_ALL, self.kind, key, text)
            return ""
        pods = claim_pods(world, owner, lambda pod: True)
        revisions = history.sync_revisions(world, owner, history.POD_HASH, _present_hash(pods))
        code = history.hash_of(revisions.update)
        daemons = Daemons(self, world, owner, pods, code)
        refused = None
        try:
            self._update(daemons, revisions, pods)
        except Refused as problem:
            refused = problem
        found = claim_pods(world, owner, lambda pod: True)
        self._write(Daemons(self, world, owner, found, code), revisions.collisions)
        if refused is not None:
            raise refused
        return "; ".join(daemons.said)

    def _update(self, daemons: Daemons, revisions: history.Revisions, pods: Sequence[Pod]) -> None:
        """kube: updateDaemonSet; what was just created or deleted is waited for before the rolling update goes on"""
        owner = daemons.owner
        done = manage(daemons)
        if not done and owner.spec["updateStrategy"]["type"] == "RollingUpdate":
            roll(daemons)
        hashes = {pod.labels.get(history.POD_HASH, "") for pod in pods} | {daemons.hash}
        live = {history.name_of(one) for one in revisions.all if history.hash_of(one) in hashes}
        old = [one for one in revisions.all if one is not revisions.update]
        idle = [one for one in old if history.name_of(one) not in live]
        limit = max(0, owner.number("revisionHistoryLimit") - (len(old) - len(idle)))
        history.truncate(daemons.world, old, live, limit)

    def _write(self, daemons: Daemons, collisions: int) -> None:
        """kube: updateDaemonSetStatus"""
        owner, counted = daemons.owner, dict.fromkeys(_COUNTS, 0)
        ready = []
        for node in daemons.nodes:
            should, _ = daemons.wanted_on(node)
            pods = daemons.pods.get(node.name)
            if not should:
                counted["numberMisscheduled"] += bool(pods)
                continue
            counted["desiredNumberScheduled"] += 1
            if not pods:
                continue
            counted["currentNumberScheduled"] += 1
            counted["updatedNumberScheduled"] += daemons.is_new(pods[0])
            if pods[0].ready:
                ready.append(pods[0])
        counted["numberReady"] = len(ready)
        counted["numberAvailable"] = sum(daemons.is_available(pod) for pod in ready)
        counted["numberUnavailable"] = counted["desiredNumberScheduled"] - counted["numberAvailable"]
        fields: dict[str, Any] = {
            name: number if name in _ALWAYS_SHOWN else number or None for name, number in counted.items()
        }
        fields |= {"observedGeneration": owner.generation or None, "collisionCount": collisions or None}
        daemons.world.api.patch_status(owner.target, fields)
        again = soonest_available(daemons.world, ready, owner.number("minReadySeconds"))
        if again is not None:
            self.enqueue_at(daemons.world, owner.key, again)


_ALWAYS_SHOWN = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")
_COUNTS = (*_ALWAYS_SHOWN, "updatedNumberScheduled", "numberAvailable", "numberUnavailable")


def _present_hash(pods: Sequence[Pod]) -> str:
    """The hash that the newest pod carries."""
    newest = max(pods, key=lambda pod: (pod.creation_time or 0, pod.name), default=None)
    return "" if newest is None else newest.labels.get(history.POD_HASH, "")
