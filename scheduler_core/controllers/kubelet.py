"""A minimal kubelet: bound pods run after a latency, deleted pods end after their grace period.

It holds no clock: `on_watch` asks for timers, `fire` does what one of them stands for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from scheduler_core.api.store import Store
from scheduler_core.api.watch import WatchEvent
from scheduler_core.objects.pod import Pod

SECOND = 1_000_000_000
RUN, END = "run", "end"

Action = tuple[str | int, ...]


class Timer(NamedTuple):
    """An action asked for at a virtual time (ns): (what, pod key, pod uid)."""

    at: int
    action: Action


def on_watch(event: WatchEvent, now: int, start_latency: int) -> list[Timer]:
    """The timers that a change in the API server asks for; `start_latency` is from bound to Running (ns)."""
    old, new = event.old_pod, event.new_pod
    if new is None or not new.node_name or new.terminal:
        return []
    timers = []
    if new.phase == "Pending" and (old is None or not old.node_name):
        timers.append(Timer(now + start_latency, (RUN, new.key, new.uid)))
    if new.deleting and (old is None or not old.deleting):
        grace = new.manifest["metadata"].get("deletionGracePeriodSeconds") or 0
        timers.append(Timer(now + int(grace) * SECOND, (END, new.key, new.uid)))
    return timers


def stands(store: Store, action: Action) -> bool:
    """Whether an action still has a pod to act on, on a node that is there."""
    what, key, uid = action
    pod = store.pod_at(str(key))
    if pod is None or pod.uid != uid:
        return False
    if what == RUN:
        return pod.phase == "Pending" and not pod.deleting and store.node(pod.node_name) is not None
    return pod.deleting


def fire(store: Store, action: Action, now: int) -> None:
    """Makes a pod Running, or lets a deleted one end."""
    what, key, _ = action
    pod = store.pod_at(str(key))
    assert pod is not None
    if what == END:
        store.remove("Pod", pod.namespace, pod.name)
    else:
        store.patch_pod_status(pod.key, now, fields=_running(store, pod, now))


def _running(store: Store, pod: Pod, now: int) -> dict[str, Any]:
    at = store.timestamp(now)
    fresh = [
        {"type": kind, "status": "True", "lastTransitionTime": at}
        for kind in ("Initialized", "ContainersReady", "Ready")
    ]
    kept = [c for c in pod.conditions if c.get("type") not in {c["type"] for c in fresh}]
    return {"phase": "Running", "startTime": at, "conditions": [*kept, *fresh]}
