"""Pods that are promised a node, and those that have to leave it for them."""

from __future__ import annotations

from itertools import islice

from playground.presenters.amounts import duration
from playground.presenters.draining import grace_ends
from playground.presenters.queues.chips import PodChip, of_pod
from playground.presenters.scene import last_attempt
from scheduler_core.world.readonly import Pod, SchedulerView, WorldView


def build_nominated_rows(scheduler: SchedulerView, chosen: str, most: int) -> tuple[list[PodChip], int]:
    """Each with the node that it is nominated to, and how many there are."""
    pods = _list_nominations(scheduler)
    rows: list[PodChip] = [{**of_pod(pod, chosen), "nominated": node} for node, pod in pods[:most]]
    return rows, len(pods)


def _list_nominations(scheduler: SchedulerView) -> list[tuple[str, Pod]]:
    nominator = scheduler.queue.nominator
    return [(node, pod) for node in nominator.nodes() for pod in nominator.on(node)]


def victims(sim: WorldView, scheduler: SchedulerView, chosen: str, most: int) -> tuple[list[PodChip], int]:
    """The victims of nominated pods whose grace period runs, with what is left of it."""
    attempts = (last_attempt(sim, pod.key) for _, pod in _list_nominations(scheduler)[:most])
    keys = dict.fromkeys(key for attempt in attempts if attempt is not None for key in attempt.victims)
    ends = grace_ends(sim, keys)
    pods = [pod for key in keys if key in ends and (pod := sim.store.pod_at(key)) is not None]
    return [_victim(pod, chosen, ends[pod.key] - sim.now) for pod in islice(pods, most)], len(pods)


def _victim(pod: Pod, chosen: str, left: int) -> PodChip:
    grace = int(pod.manifest["metadata"].get("deletionGracePeriodSeconds") or 0)
    whole = max(grace * 1_000_000_000, left, 1)
    return {
        **of_pod(pod, chosen),
        "left": duration(max(left, 0)),
        "ring": round(100 * max(left, 0) / whole),
        "node": pod.node_name,
        "victim": True,
    }
