"""Base class of workload controllers: it finds the workload that a pod's change concerns.

kube: the event handlers of pkg/controller/{replicaset,statefulset,daemon,job} @ v1.34.1
"""

from typing import ClassVar

from scheduler_core.apimachinery.objects import Pod, controller_of
from scheduler_core.apiserver.watch import WatchEvent
from scheduler_core.base.clock.agenda import MILLISECOND, SECOND
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.workloads.owners import Owner, note_selectors, resolve, selecting
from scheduler_core.controllers.workloads.pods import available_at

_PER_POD = MILLISECOND // 10


class WorkloadController(Controller):
    """Keeps the pods of the workloads of one kind."""

    kind: ClassVar[str]
    counts: ClassVar = ""  # the field of the status with the number of pods

    def on_start(self, world: World) -> None:
        for manifest in world.store.list(self.kind):
            self.enqueue(world, Owner.of(manifest).key)

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == self.kind:
            note_selectors(world, event)
            if event.new is not None and says_more(event):
                self.enqueue(world, f"{event.namespace or 'default'}/{event.name}")
        elif event.kind == "Pod" and world.store.count(self.kind):
            self.hear_of_pod(world, event)

    def hear_of_pod(self, world: World, event: WatchEvent) -> None:
        """Enqueue the workload that controls a pod, or those that would adopt the pod."""
        old, new = event.old_pod, event.new_pod
        if old is not None and new is not None and self.alike(old, new):
            return
        before = resolve(world, self.kind, event.old)
        after = resolve(world, self.kind, event.new)
        for key in {before: None, after: None}:
            if key:
                self.enqueue(world, key, self.patience(world, key))
        if new is not None and not new.deleting and controller_of(new.manifest) is None:
            for key in selecting(world, self.kind, new.namespace, new.labels):
                self.enqueue(world, key)

    def alike(self, old: Pod, new: Pod) -> bool:
        """Return whether two versions of a pod are equal for the workload."""
        return (
            old.deleting == new.deleting
            and old.terminal == new.terminal
            and old.labels == new.labels
            and controller_of(old.manifest) == controller_of(new.manifest)
            and old.ready == new.ready
        )

    def look_when_available(self, world: World, owner: Owner, pods: list[Pod]) -> None:
        """Enqueue the workload for the time at which one more of its pods becomes available by waiting alone."""
        least = owner.number("minReadySeconds")
        times = [available_at(world, pod, least) for pod in pods] if least > 0 else []
        next_time = min((at for at in times if at is not None and at > world.now), default=None)
        if next_time is not None:
            self.enqueue_at(world, owner.key, next_time)

    def patience(self, world: World, key: str) -> int | None:
        """Return the delay for handling a pod's change (ns); None: the usual latency.

        DEVIATION: the delay grows with the number of pods (0.1 ms for each, at most 1 s), so that ten thousand pods are not counted again
        at each change; kube is as slow because counting takes time.
        """
        if not self.counts:
            return None
        namespace, _, name = key.partition("/")
        manifest = world.store.get(self.kind, namespace, name) or {}
        counted = int((manifest.get("status") or {}).get(self.counts) or 0)
        return max(world.cluster.reconcile_latency, min(counted * _PER_POD, SECOND))


def says_more(event: WatchEvent) -> bool:
    """Return whether more changed than the status, which the controller owns."""
    old, new = event.old, event.new
    if old is None or new is None:
        return True
    mine, now = old["metadata"], new["metadata"]
    fields = ("uid", "deletionTimestamp", "finalizers", "annotations", "labels")
    return old.get("spec") != new.get("spec") or any(mine.get(name) != now.get(name) for name in fields)
