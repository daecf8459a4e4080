"""A minimal kubelet: bound pods run after a latency, deleted pods end when their grace period is over.

It keeps nothing: it answers watch events with timers, and a fired timer looks at the store anew, so that a
pod which has changed or gone in the meantime is left alone. Without its node a pod never starts, but a deleted
one ends all the same. DEVIATION: pods don't end by themselves, and images, probes and volumes take no time.

kube: pkg/kubelet/status/status_manager.go (conditions) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.api.kube_events import NORMAL, KubeEvent
from scheduler_core.api.store import Store
from scheduler_core.api.watch import WatchEvent
from scheduler_core.objects.pod import Pod
from scheduler_core.objects.times import SECOND

RUN, END = "run", "end"
REPORTER = "kubelet"
Action = tuple[str | int, ...]
_TRUE_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")


@dataclass(frozen=True, slots=True)
class Timer:
    """Something to do at a virtual time (ns); `action` is JSON-safe: RUN or END, pod key, uid."""

    at: int
    action: tuple[str, str, str]


def on_watch(event: WatchEvent, now: int, latency: int) -> list[Timer]:
    """Timers that a change asks for; `latency` (ns) lies between a pod's binding and its running."""
    pod, before = event.new_pod, event.old_pod
    if pod is None or not pod.node_name:
        return []
    if pod.deleting:
        if before is not None and _deletion(before) == _deletion(pod):
            return []
        grace = int(pod.manifest["metadata"].get("deletionGracePeriodSeconds") or 0)
        return [Timer(now + grace * SECOND, (END, pod.key, pod.uid))]
    if pod.phase == "Pending" and (before is None or not before.node_name):
        return [Timer(now + latency, (RUN, pod.key, pod.uid))]
    return []


def stands(store: Store, action: Action) -> bool:
    """Whether a timer still has something to do: its pod is there and wants it."""
    return _wanted(store, action) is not None


def fire(store: Store, action: Action, now: int) -> None:
    """Carries out a timer; nothing happens where it no longer stands."""
    pod = _wanted(store, action)
    if pod is None:
        return
    if action[0] == RUN:
        _run(store, pod, now)
    else:
        store.remove("Pod", pod.namespace, pod.name)


def _wanted(store: Store, action: Action) -> Pod | None:
    kind, key, uid = action
    pod = store.pod_at(str(key))
    if pod is None or pod.uid != uid:
        return None
    if kind == END:
        return pod if pod.deleting else None
    if store.node(pod.node_name) is None:
        return None  # no node, no kubelet
    return pod if pod.phase == "Pending" and not pod.deleting else None


def _deletion(pod: Pod) -> str | None:
    """When a deleted pod's grace is over, as its manifest says it."""
    found = pod.manifest["metadata"].get("deletionTimestamp")
    return None if found is None else str(found)


def _run(store: Store, pod: Pod, now: int) -> None:
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
