"""A sweeper: pods that have run to their end are removed a while later.

DEVIATION: kube's pod garbage collector removes the oldest of them where they are too many.

kube: pkg/controller/podgc/gc_controller.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apiserver.kube_events import NORMAL
from scheduler_core.apiserver.watch import WatchEvent
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.controllers.contract import Controller, World

SWEEP_AFTER = 60 * SECOND


class Sweeper(Controller):
    """One for all pods."""

    name = "sweeper"
    component = "sweeper"
    watches = ("Pod",)

    def on_watch(self, world: World, event: WatchEvent) -> None:
        pod = event.new_pod
        if pod is not None and pod.terminal:
            self.enqueue(world, pod.key, SWEEP_AFTER)

    def sync(self, world: World, key: str) -> str:
        pod = world.store.pod_at(key)
        if pod is None or not pod.terminal:
            return ""
        self.event(world, NORMAL, "Swept", "Pod", key, "Swept")
        world.api.delete(("Pod", pod.namespace, pod.name), grace=0)
        return f"removed {pod.name}: it ended a minute ago"
