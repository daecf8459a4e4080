"""Pods that were just told to go: by whom, why, and how long they may take; and in which ranking a kubelet under pressure chose."""

from __future__ import annotations

from typing import Any

from playground.presenters.amounts import duration
from playground.presenters.draining import grace_ends
from playground.presenters.scene import short
from playground.presenters.stage.controller.changed import changed
from playground.presenters.surroundings.nodes import eviction
from scheduler_core.readings import read_eviction
from scheduler_core.trace.kinds import EventRecorded
from scheduler_core.view import Pod, WorldView

MOST = 8


def evictions(sim: WorldView) -> dict[str, Any]:
    """{"pods": that now end, "rankings": of kubelets at this very time}."""
    ending = [
        pod
        for each in changed(sim).of("Pod")
        if (pod := sim.store.pod_at(each.key)) is not None and (pod.deleting or _evicted(pod))
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


def _evicted(pod: Pod) -> bool:
    return (pod.manifest.get("status") or {}).get("reason") == "Evicted"


def _pod(sim: WorldView, pod: Pod, ends: int | None) -> dict[str, Any]:
    """`reason` and `message` are those of kube: of the condition DisruptionTarget, else of the Event."""
    target = pod.condition("DisruptionTarget") or {}
    event = _event(sim, pod)
    status = pod.manifest.get("status") or {}
    return {
        "key": pod.key,
        "name": short(pod.key),
        "node": pod.node_name,
        "reason": str(target.get("reason") or (event.reason if event else status.get("reason") or "")),
        "message": str(target.get("message") or (event.message if event else status.get("message") or "")),
        "grace": _grace(pod),
        "left": "" if ends is None else duration(max(ends - sim.now, 0)),
    }


def _grace(pod: Pod) -> str:
    seconds = pod.manifest["metadata"].get("deletionGracePeriodSeconds")
    return "" if seconds is None else duration(int(seconds) * 1_000_000_000)


def _event(sim: WorldView, pod: Pod) -> EventRecorded | None:
    for record in sim.last[:64]:
        facts = record.of(EventRecorded)
        if facts is not None and (facts.namespace, facts.name) == (pod.namespace, pod.name):
            return facts
    return None
