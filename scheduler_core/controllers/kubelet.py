"""A minimal kubelet: bound pods run after a latency, deleted pods end when their grace period is over.

It keeps nothing: it answers watch events with timers, and a fired timer looks at the store anew, so that a
pod which has changed or gone in the meantime is left alone. It doesn't matter whether the pod's node is
there. DEVIATION: pods don't end by themselves, and images, probes and volumes take no time.

kube: pkg/kubelet/status/status_manager.go (conditions) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.api.kube_events import NORMAL, KubeEvent
from scheduler_core.api.store import Store
from scheduler_core.api.watch import DELETED, WatchEvent
from scheduler_core.objects.pod import Pod
from scheduler_core.objects.times import SECOND, parse_time

RUN, END = "kubelet.run", "kubelet.end"
DEFAULT_LATENCY = 1 * SECOND
REPORTER = "kubelet"
_TRUE_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")


@dataclass(frozen=True, slots=True)
class Timer:
    """Something to do at a virtual time (ns); `action` is JSON-safe: handler, pod key, uid."""

    at: int
    action: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Kubelet:
    """All nodes' kubelets. `latency` (ns) lies between a pod's binding and its running."""

    latency: int = DEFAULT_LATENCY

    def on_watch(self, event: WatchEvent, now: int, epoch: int) -> list[Timer]:
        """Timers that a change asks for; `epoch` is the store's (deletion times are wall times)."""
        pod = event.new_pod
        if pod is None or event.type == DELETED or not pod.node_name:
            return []
        before = event.old_pod
        if pod.deleting:
            if before is not None and before.deleting and _ends(before) == _ends(pod):
                return []
            return [Timer(max(now, _ends(pod) - epoch), (END, pod.key, pod.uid))]
        bound_now = before is None or not before.node_name
        if bound_now and pod.phase == "Pending":
            return [Timer(now + self.latency, (RUN, pod.key, pod.uid))]
        return []

    def fire(self, store: Store, action: tuple[str, str, str], now: int) -> None:
        """Carries out a timer, where the pod it was set for is still there and still wants it."""
        kind, key, uid = action
        pod = store.pod_at(key)
        if pod is None or pod.uid != uid:
            return
        if kind == RUN:
            _run(store, pod, now)
        elif pod.deleting and _ends(pod) - store.epoch <= now:
            store.remove("Pod", pod.namespace, pod.name)


def _ends(pod: Pod) -> int:
    """When a deleted pod's grace is over (ns since 1970)."""
    return parse_time(pod.manifest["metadata"]["deletionTimestamp"])


def _run(store: Store, pod: Pod, now: int) -> None:
    if pod.deleting or pod.phase != "Pending":
        return
    store.patch_pod_status(pod.key, now, fields=_running(pod, store.timestamp(now)))
    for container in pod.spec.manifest.get("containers") or ():
        message = f"Started container {container.get('name', '')}"
        store.record(KubeEvent(now, NORMAL, "Started", "Pod", pod.namespace, pod.name, message, REPORTER))


def _running(pod: Pod, timestamp: str) -> dict[str, Any]:
    """Status fields of a pod whose containers all run."""
    kept = [c for c in pod.conditions if c.get("type") not in _TRUE_CONDITIONS]
    made: list[Mapping[str, Any]] = [
        {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": timestamp}
        for kind in _TRUE_CONDITIONS
    ]
    return {
        "phase": "Running",
        "startTime": (pod.manifest.get("status") or {}).get("startTime") or timestamp,
        "conditions": [*kept, *made],
    }
