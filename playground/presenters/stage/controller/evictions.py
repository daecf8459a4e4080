"""Pods that were just told to go: by whom, why, and how long they may take; and in which ranking a kubelet under pressure chose."""

from collections.abc import Mapping
from itertools import islice, takewhile
from typing import Any, TypedDict

from playground.presenters.amounts import SECOND, clock, duration, memory, thousands
from playground.presenters.draining import grace_ends
from playground.presenters.scene import short
from playground.presenters.stage.controller.changed import collect_changes
from scheduler_core.analysis.status import read_eviction
from scheduler_core.world.readonly import Kill, KubeEvent, Pod, WorldView

MOST, MOST_EVENTS = 8, 64


class Evictions(TypedDict):
    pods: "list[EndingPod]"
    more: int
    rankings: "list[EvictionRow]"


def evictions(sim: WorldView) -> Evictions:
    """{"pods": that now end, "rankings": of kubelets at this very time}."""
    ending = [
        pod
        for key in _list_concerned_pods(sim)
        if (pod := sim.store.pod_at(key)) is not None
        and (pod.deleting or _is_evicted(pod) or _kill(sim, pod) is not None)
    ]
    ends = grace_ends(sim, [pod.key for pod in ending])
    return {
        "pods": [_pod(sim, pod, ends.get(pod.key)) for pod in ending[:MOST]],
        "more": max(len(ending) - MOST, 0),
        "rankings": [
            eviction(read_eviction(found))
            for kept in sim.surroundings.kubelet.evictions.values()
            for found in kept[-1:]
            if found.t == sim.now and found.chosen in {pod.key for pod in ending}
        ],
    }


def _list_concerned_pods(sim: WorldView) -> list[str]:
    """Return the pods that the last transition changed, and those with an Event of this time.

    A kubelet that begins to end a pod writes no status yet: the Event alone says so.
    """
    keys = [each.key for each in collect_changes(sim).of("Pod")]
    return list(dict.fromkeys([*keys, *(f"{event.namespace}/{event.name}" for event in _events(sim))]))


def _events(sim: WorldView) -> list[KubeEvent]:
    """Return the Events about pods of this very time, the newest first."""
    recent = takewhile(lambda event: event.t == sim.now, reversed(sim.store.events))
    return [event for event in islice(recent, MOST_EVENTS) if event.kind == "Pod"]


def _is_evicted(pod: Pod) -> bool:
    return (pod.manifest.get("status") or {}).get("reason") == "Evicted"


def _kill(sim: WorldView, pod: Pod) -> Kill | None:
    """Return what the pod's kubelet knows of its end; None while it does not end the pod."""
    run = sim.surroundings.kubelet.pods.get(pod.key)
    return run.kill if run is not None and run.uid == pod.uid else None


class EndingPod(TypedDict):
    key: str
    name: str
    node: str
    reason: str
    message: str
    grace: str
    left: str


def _pod(sim: WorldView, pod: Pod, ends: int | None) -> EndingPod:
    """`reason` and `message` are those of kube: of the condition DisruptionTarget, else the kubelet's own, else of the Event."""
    target = pod.condition("DisruptionTarget") or {}
    event = next((each for each in _events(sim) if (each.namespace, each.name) == (pod.namespace, pod.name)), None)
    status = pod.manifest.get("status") or {}
    kill = _kill(sim, pod)
    reasons = [target.get("reason"), kill and kill.reason, event and event.reason, status.get("reason")]
    messages = [target.get("message"), kill and kill.message, event and event.message, status.get("message")]
    return {
        "key": pod.key,
        "name": short(pod.key),
        "node": pod.node_name,
        "reason": next((str(each) for each in reasons if each), ""),
        "message": next((str(each) for each in messages if each), ""),
        "grace": _grace(pod, kill),
        "left": "" if ends is None else duration(ends - sim.now),
    }


def _grace(pod: Pod, kill: Kill | None) -> str:
    seconds = pod.manifest["metadata"].get("deletionGracePeriodSeconds", kill and kill.grace)
    return "" if seconds is None else duration(int(seconds) * SECOND)


class RankedPod(TypedDict):
    pod: str
    priority: int
    usage: str
    request: str
    exceeds: bool


class EvictionRow(TypedDict):
    """The reason for an eviction, and the ranking in which the pod was chosen."""

    t: str
    signal: str
    threshold: str
    available: str
    chosen: str
    message: str
    ranking: list[RankedPod]


def eviction(row: Mapping[str, Any]) -> EvictionRow:
    bytes_ = row["resource"] in ("memory", "ephemeral-storage")
    show = memory if bytes_ else thousands
    return {
        "signal": row["signal"],
        "threshold": row["threshold"],
        "available": row["available"],
        "chosen": row["chosen"],
        "message": row["message"],
        "t": clock(row["t"]),
        "ranking": [
            {
                "pod": ranked["pod"],
                "priority": ranked["priority"],
                "usage": show(ranked["usage"]),
                "request": show(ranked["request"]),
                "exceeds": ranked["exceeds"],
            }
            for ranked in row["ranking"]
        ],
    }
