"""A sweeper: pods that have run to their end are removed a while later.

DEVIATION: kube's pod garbage collector removes the oldest of them where they are too many.

kube: pkg/controller/podgc/gc_controller.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.api.kube_events import NORMAL, KubeEvent
from scheduler_core.api.store import Store
from scheduler_core.api.watch import WatchEvent
from scheduler_core.config.settings import WorldSettings
from scheduler_core.controllers.minimal.contract import ControllerAction, Timer

NAME = "sweeper"
SWEPT = "Swept"


class SweepPod(ControllerAction, frozen=True):
    """Removes a pod that has run to its end."""

    pod: str

    def stands(self, store: Store) -> bool:
        """the pod is Succeeded or Failed"""
        pod = store.pod_at(self.pod)
        return pod is not None and pod.terminal

    def run(self, store: Store, now: int) -> None:
        if self.stands(store):
            namespace, name = self.pod.split("/", 1)
            store.record(KubeEvent(now, NORMAL, SWEPT, "Pod", namespace, name, "Swept", NAME))
            store.remove("Pod", namespace, name)


class Sweeper:
    """One for all pods."""

    name = NAME
    settings = ("sweep_after",)
    actions = (SweepPod,)
    event_reasons = (SWEPT,)

    def on_watch(self, store: Store, event: WatchEvent, now: int, settings: WorldSettings) -> list[Timer]:
        pod = event.new_pod
        if pod is None or not pod.terminal:
            return []
        return [Timer(now + settings.sweep_after, SweepPod(pod.key))]
