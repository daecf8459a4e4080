"""What takes pods away from a node: a drain, with the pods it still waits for and why, evictions that taints have planned, and grace
periods that run.
"""

from collections.abc import Iterable
from typing import TypedDict

from playground.presenters.amounts import clock
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import Pod, WorldView, parse_time

MOST_PODS = 30


class DrainedPod(TypedDict):
    key: str
    ends: bool
    tries: int
    refusal: str


class Draining(TypedDict):
    state: str
    said: Message
    since: str
    outcome: str
    warnings: list[str]
    pods: list[DrainedPod]
    more: int


def draining(sim: WorldView, node: str) -> Draining | None:
    """The last drain of a node; None where there was none. `state`: going, done or failed."""
    drain = sim.surroundings.nodes.drains.get(node)
    if drain is None:
        return None
    left = [pod for pod in drain.pods if not pod.done]
    if drain.ended is None:
        state, said = "going", _going(len(left), len(drain.pods))
    elif drain.outcome:
        state, said = "failed", message(gettext_noop("The drain failed: some pods could not be evicted."))
    else:
        state, said = "done", message(gettext_noop("The node is drained."))
    return {
        "state": state,
        "said": said,
        "since": clock(drain.since),
        "outcome": drain.outcome,
        "warnings": list(drain.warnings),
        "pods": [
            {"key": pod.key, "ends": pod.evicted, "tries": pod.tries, "refusal": pod.refusal}
            for pod in left[:MOST_PODS]
        ],
        "more": max(len(left) - MOST_PODS, 0),
    }


class PlannedEviction(TypedDict):
    key: str
    at: str
    why: str


def list_planned_evictions(sim: WorldView, pods: Iterable[str]) -> list[PlannedEviction]:
    """Return the times at which NoExecute taints evict some pods (namespace/name), soonest first."""
    evictions = sim.surroundings.nodes.evictions
    rows = sorted((evictions[key].at, key) for key in pods if key in evictions)
    return [{"key": key, "at": clock(at), "why": evictions[key].why} for at, key in rows[:MOST_PODS]]


def grace_ends(sim: WorldView, pods: Iterable[str]) -> dict[str, int]:
    """Map the pods (namespace/name) that are ending to when nothing of them will run any more (ns); leave the others out."""
    found = ((key, sim.store.pod_at(key)) for key in pods)
    ends = {key: _end(sim, pod) for key, pod in found if pod is not None}
    return {key: max(end, sim.now) for key, end in ends.items() if end is not None}


def _end(sim: WorldView, pod: Pod) -> int | None:
    """Return when a pod ends: by its containers once the kubelet has begun to end it, until then by its deletionTimestamp."""
    run = sim.surroundings.kubelet.pods.get(pod.key)
    if run is not None and run.uid == pod.uid and run.kill is not None:
        running = [each for each in run.all if each.running]
        # A sidecar gets its signal only when the containers before it have ended; the grace period bounds it.
        signalled = all(each.signalled for each in running)
        return max((each.ends or 0 for each in running), default=0) if signalled else run.kill.until
    deletion = pod.manifest["metadata"].get("deletionTimestamp")
    return None if deletion is None else parse_time(str(deletion)) - sim.store.epoch


def _going(left: int, all_: int) -> Message:
    return message(gettext_noop("Draining: %(left)s of %(all)s pods left."), left=left, all=all_)
