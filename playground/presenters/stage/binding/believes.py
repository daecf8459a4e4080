"""What the cache believes of a node, and what the API server knows: running pods, assumed ones, what is free."""

from __future__ import annotations

from typing import TypedDict

from playground.presenters.amounts import amount
from playground.presenters.scene import PodRef, pod_ref, short, table_of
from playground.presenters.stage.preemption.room import Segment, segments
from scheduler_core.world.readonly import SchedulerView, WorldView

NAMED = 6


class AssumedPod(PodRef):
    amount: str


class CacheBelief(TypedDict):
    node: str
    resource: str
    has: str
    running: str
    assumed: str
    free: str
    known: str
    count: int
    pods: list[AssumedPod]
    more: int
    bar: list[Segment]


def believes(sim: WorldView, scheduler: SchedulerView, node: str) -> CacheBelief | None:
    """The node's cpu, or its memory where no pod asks for cpu; None where the cache does not know the node."""
    cache = scheduler.cache
    slot = cache.slots.get(node)
    manifest = sim.store.get("Node", "", node)
    if slot is None or manifest is None:
        return None
    pods = cache.pods[slot]
    resource = "cpu" if any(pod.requests.milli_cpu for pod in pods) or not pods else "memory"
    column = cache.resources.columns[resource]
    table = table_of(scheduler)
    row = table.row(node)
    has = int(table.allocatable[row, column]) if row is not None else 0
    assumed = [pod for pod in pods if pod.key in cache.assumed]
    running = [pod for pod in pods if pod.key not in cache.assumed]
    known = [p for p in pods if (live := sim.store.pod_at(p.key)) is not None and live.node_name == node]
    of_running = sum(pod.requests.get(resource) for pod in running)
    of_assumed = sum(pod.requests.get(resource) for pod in assumed)
    parts = [("kept", of_running, "")]
    parts += [("assumed", pod.requests.get(resource), short(pod.key)) for pod in assumed]
    return {
        "node": node,
        "resource": resource,
        "has": amount(resource, has),
        "running": amount(resource, of_running),
        "assumed": amount(resource, of_assumed),
        "free": amount(resource, max(has - of_running - of_assumed, 0)),
        "known": amount(resource, sum(pod.requests.get(resource) for pod in known)),
        "count": len(running),
        "pods": [{**pod_ref(p.key), "amount": amount(resource, p.requests.get(resource))} for p in assumed[:NAMED]],
        "more": max(len(assumed) - NAMED, 0),
        "bar": segments(parts, has, resource) if has else [],
    }
