"""The pod garbage collector: deletes pods that no kubelet will end, in rounds of 20 s.

ended pods          beyond terminated-pod-gc-threshold, evicted ones first, then the oldest
pods on lost nodes  that are being deleted, if the node is not ready and has the taint out-of-service
orphaned pods       whose node no longer exists, and still does not exist 40 s later
unscheduled pods    that are being deleted and have no node

A pod that has not ended gets the phase Failed first. A round is skipped if nothing relevant can have changed since the last.

kube: pkg/controller/podgc/gc_controller.go @ v1.34.1
"""

from collections.abc import Iterable
from typing import Any

from scheduler_core.apimachinery.objects import Node, Pod
from scheduler_core.apiserver import DELETED, Refused, WatchEvent, with_condition
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.memory.workloads import Pods

ROUND, QUARANTINE = 20 * SECOND, 40 * SECOND
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
_KEY = "pods"
_NODE_GONE = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "DeletionByPodGC",
    "message": "PodGC: node no longer exists",
}


class PodCollector(Controller):
    """Deletes pods that nobody will end."""

    name = "pod-garbage-collector-controller"
    watches = ("Pod", "Node")

    def on_start(self, world: World) -> None:
        memory = world.surroundings.garbage.pods
        memory.ended = sum(pod.terminal for pod in world.store.pods())
        memory.quarantine = {}
        if any(_may_go(world, pod, memory) for pod in world.store.pods()):
            self._next_round(world)

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == "Node":
            if event.type == DELETED or (event.new_node is not None and _out_of_service(event.new_node)):
                self._next_round(world)
            return
        memory = world.surroundings.garbage.pods
        old, new = event.old_pod, event.new_pod
        memory.ended += (new is not None and new.terminal) - (old is not None and old.terminal)
        if new is not None and _may_go(world, new, memory):
            self._next_round(world)

    def _next_round(self, world: World) -> None:
        self.enqueue_at(world, _KEY, -(-world.now // ROUND) * ROUND)

    def sync(self, world: World, key: str) -> str:
        pods = world.store.pods()
        done = [
            *_collect(world, "beyond terminated-pod-gc-threshold", _too_many(world, pods)),
            *_collect(world, "on a node that is out of service", _stuck(world, pods)),
            *self._collect_orphans(world, pods),
            *_collect(world, "deleted without a node", [p for p in pods if p.deleting and not p.node_name]),
        ]
        return "; ".join(done)

    def _collect_orphans(self, world: World, pods: Iterable[Pod]) -> list[str]:
        """Delete pods of missing nodes, after a quarantine in which the node may appear."""
        quarantine = world.surroundings.garbage.pods.quarantine
        orphans = [pod for pod in pods if pod.node_name and world.store.node(pod.node_name) is None]
        due = [name for name, at in quarantine.items() if at <= world.now]
        for name in due:
            del quarantine[name]
        done = _collect(world, "whose node no longer exists", [p for p in orphans if p.node_name in due], _NODE_GONE)
        for orphan in orphans:
            pod = world.store.pod_at(orphan.key)
            if pod is not None and not _is_waiting_for_finalizers(pod):
                quarantine.setdefault(pod.node_name, world.now + QUARANTINE)
        if quarantine:
            self.enqueue_at(world, _KEY, min(quarantine.values()))
        return done


def _may_go(world: World, pod: Pod, memory: Pods) -> bool:
    """Return whether a pod can be a reason for a garbage collection."""
    if pod.terminal and 0 < _threshold(world) < memory.ended:
        return True
    if not pod.node_name:
        return pod.deleting
    node = world.store.node(pod.node_name)
    return node is None or (pod.deleting and _out_of_service(node))


def _threshold(world: World) -> int:
    return world.cluster.controller_manager.terminated_pod_gc_threshold


def _too_many(world: World, pods: Iterable[Pod]) -> list[Pod]:
    threshold = _threshold(world)
    ended = [pod for pod in pods if pod.terminal]
    if threshold <= 0 or len(ended) <= threshold:
        return []
    return sorted(ended, key=_get_deletion_order)[: len(ended) - threshold]


def _stuck(world: World, pods: Iterable[Pod]) -> list[Pod]:
    stuck = [
        pod
        for pod in pods
        if pod.deleting and (node := world.store.node(pod.node_name)) is not None and _out_of_service(node)
    ]
    return sorted(stuck, key=_get_deletion_order)


def _get_deletion_order(pod: Pod) -> tuple[bool, str, str]:
    status = pod.manifest.get("status") or {}
    evicted = status.get("phase") == "Failed" and status.get("reason") == "Evicted"
    return not evicted, str(pod.manifest["metadata"].get("creationTimestamp") or ""), pod.name


def _out_of_service(node: Node) -> bool:
    """Return whether a node is not ready and has an administrator's out-of-service taint."""
    manifest = node.manifest
    taints = (manifest.get("spec") or {}).get("taints") or ()
    conditions = (manifest.get("status") or {}).get("conditions") or ()
    ready = any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions)
    return not ready and any(taint.get("key") == OUT_OF_SERVICE for taint in taints)


def _is_waiting_for_finalizers(pod: Pod) -> bool:
    """Return whether a deleted pod has ended and waits only for its finalizers."""
    meta = pod.manifest["metadata"]
    return pod.terminal and pod.deleting and not meta.get("deletionGracePeriodSeconds")


def _collect(world: World, why: str, pods: list[Pod], condition: dict[str, Any] | None = None) -> list[str]:
    """Force-delete pods. Return a description."""
    deleted = [pod.key for pod in pods if _delete(world, pod, condition)]
    more = f" and {len(deleted) - 5} more" if len(deleted) > 5 else ""
    return [f"deleted {', '.join(deleted[:5])}{more}: {why}"] if deleted else []


def _delete(world: World, pod: Pod, condition: dict[str, Any] | None) -> bool:
    """Set the phase Failed if the pod has not ended, and delete it without grace. A failure is left to a later round. Return success."""
    if _is_waiting_for_finalizers(pod):
        return False
    target = ("Pod", pod.namespace, pod.name)
    try:
        # Without a kubelet, the pod would stay Running as long as it has a finalizer.
        if not pod.terminal:
            status = {**(pod.manifest.get("status") or {}), "phase": "Failed"}
            if condition is not None:
                generation = int(pod.manifest["metadata"].get("generation") or 0)
                said = {**condition, "observedGeneration": generation}
                status = with_condition(status, said, world.store.timestamp(world.now)) or status
            world.api.patch_status(target, status)
        world.api.delete(target, grace=0)
    except Refused:
        return False
    return True
