"""Fix: whether the pod needs one. The page requests the search itself, because it is slow; features/fixes/presenter.py has its texts."""

from typing import Literal, TypedDict

from playground.presenters.look import Look
from playground.presenters.scene import NoSubject, find_pod, last_attempt, short
from scheduler_core.world.readonly import WorldView

_UNFINISHED = ("", "Pending", "Failed")  # phases in which something may be the matter with a pod that has a node


class BoundPod(TypedDict):
    kind: Literal["bound"]
    pod: str
    node: str


class PendingPod(TypedDict):
    kind: Literal["pending"]
    key: str
    message: str
    position: int


FixBody = NoSubject | BoundPod | PendingPod


def present(sim: WorldView, look: Look, key: str) -> FixBody:
    """Return the pod to search for, with the result of its last attempt."""
    pod = find_pod(sim, key) if key else None
    there = sim.store.pod_at(key) if key else None
    if pod is None or there is None:
        return {"kind": "gone" if key else "none"}
    node = sim.store.get("Node", "", pod.node_name) if pod.node_name else None
    leaving = node is not None and bool((node.get("spec") or {}).get("unschedulable"))
    if node is not None and not (leaving or there.deleting or there.phase in _UNFINISHED):
        return {"kind": "bound", "pod": short(key), "node": pod.node_name}
    attempt = last_attempt(sim, key)
    return {
        "kind": "pending",
        "key": key,
        "message": attempt.message if attempt is not None else "",
        "position": sim.position,
    }
