"""A minimal kubelet: bound pods run after a latency, deleted pods end when their grace period is over.

Without its node a pod never starts, but a deleted one ends all the same.

DEVIATION: pods don't end by themselves, and images, probes and volumes take no time.

kube: pkg/kubelet/status/status_manager.go (conditions) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.api.kube_events import NORMAL, KubeEvent
from scheduler_core.api.store import Store
from scheduler_core.api.watch import WatchEvent
from scheduler_core.config.settings import WorldSettings
from scheduler_core.controllers.minimal.contract import ControllerAction, Timer
from scheduler_core.objects.pod import Pod
from scheduler_core.objects.times import SECOND

NAME = "kubelet"
STARTED = "Started"
_TRUE_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")


class RunPod(ControllerAction, frozen=True):
    """Runs a bound pod's containers."""

    pod: str
    uid: str

    def stands(self, store: Store) -> bool:
        """the pod is Pending, and its node is there"""
        pod = _same_pod(store, self.pod, self.uid)
        if pod is None or store.node(pod.node_name) is None:
            return False
        return pod.phase == "Pending" and not pod.deleting

    def run(self, store: Store, now: int) -> None:
        pod = store.pod_at(self.pod)
        if pod is not None and self.stands(store):
            _run(store, pod, now)


class EndPod(ControllerAction, frozen=True):
    """Removes a deleted pod whose grace period is over."""

    pod: str
    uid: str

    def stands(self, store: Store) -> bool:
        """the pod is being deleted"""
        pod = _same_pod(store, self.pod, self.uid)
        return pod is not None and pod.deleting

    def run(self, store: Store, now: int) -> None:
        if self.stands(store):
            store.remove("Pod", *self.pod.split("/", 1))


class Kubelet:
    """The kubelets of all nodes."""

    name = NAME
    settings = ("pod_start_latency",)
    actions = (RunPod, EndPod)
    event_reasons = (STARTED,)

    def on_watch(self, store: Store, event: WatchEvent, now: int, settings: WorldSettings) -> list[Timer]:
        pod, before = event.new_pod, event.old_pod
        if pod is None or not pod.node_name:
            return []
        if pod.deleting:
            if before is not None and _deletion(before) == _deletion(pod):
                return []
            grace = int(pod.manifest["metadata"].get("deletionGracePeriodSeconds") or 0)
            return [Timer(now + grace * SECOND, EndPod(pod.key, pod.uid))]
        if pod.phase == "Pending" and (before is None or not before.node_name):
            return [Timer(now + settings.pod_start_latency, RunPod(pod.key, pod.uid))]
        return []


def _same_pod(store: Store, key: str, uid: str) -> Pod | None:
    pod = store.pod_at(key)
    return pod if pod is not None and pod.uid == uid else None


def _deletion(pod: Pod) -> str | None:
    """When a deleted pod's grace is over, as its manifest says it."""
    timestamp = pod.manifest["metadata"].get("deletionTimestamp")
    return None if timestamp is None else str(timestamp)


def _run(store: Store, pod: Pod, now: int) -> None:
    store.patch_pod_status(pod.key, now, fields=_running(pod, store.timestamp(now)))
    for container in pod.spec.manifest.get("containers") or ():
        message = f"Started container {container.get('name', '')}"
        store.record(KubeEvent(now, NORMAL, STARTED, "Pod", pod.namespace, pod.name, message, NAME))


def _running(pod: Pod, timestamp: str) -> dict[str, Any]:
    """Status fields of a pod whose containers all run."""
    kept = [c for c in pod.conditions if c.get("type") not in _TRUE_CONDITIONS]
    true: list[Mapping[str, Any]] = [
        {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": timestamp}
        for kind in _TRUE_CONDITIONS
    ]
    return {
        "phase": "Running",
        "startTime": (pod.manifest.get("status") or {}).get("startTime") or timestamp,
        "conditions": [*kept, *true],
    }
